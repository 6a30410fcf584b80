//! The values of a schedule's parameters.

/// Values of a collective's parameters, in the order of its declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arguments {
    /// The numbers.
    pub numbers: Vec<i64>,
    /// The lists.
    pub lists: Vec<Vec<i64>>,
    /// The arguments of inner collectives.
    pub inner: Vec<Arguments>,
}
