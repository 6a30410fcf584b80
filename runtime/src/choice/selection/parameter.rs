//! Values of parameters.

/// The value of a parameter, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A number.
    Number(i64),
    /// A list.
    List(Vec<i64>),
}
