//! What runs a collective's rounds on real data.

use crate::error::Error;
use crate::geometry::Described;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::reduce::Reduce;
use crate::rooted::Spread;
use roundel_spec::{Collective, Place, arith};

/// Which of the declared layouts a call uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The one that the declaration names first.
    #[default]
    Declared,
    /// Every block where it belongs.
    InPlace,
    /// Blocks rotated while the collective runs, and put in place at the end.
    Rotated,
}

/// Choices of a call that do not change its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where blocks lie meanwhile.
    pub layout: Layout,
    /// How messages of several pieces travel.
    pub policy: Policy,
}

/// An allgather(v), as the user called it. Built by [`Allgather`](crate::Allgather).
#[derive(Debug)]
pub struct Gather<'a, T, G> {
    /// This rank's block.
    pub send: &'a [T],
    /// All blocks.
    pub recv: &'a mut [T],
    /// Where the blocks lie in `recv`.
    pub geometry: G,
    /// How the call is to run.
    pub options: Options,
}

impl<T, G: Described> Gather<'_, T, G> {
    /// Every check that one rank can make; then, by how much blocks are rotated while the collective runs.
    pub fn validate<C: Collective>(&self, collective: &C, at: &Place) -> Result<Option<usize>, Error> {
        self.geometry.validate(at, self.send.len(), self.recv.len())?;
        let served = collective.admits(at).and_then(|()| collective.proved(at));
        served.map_err(|refusal| Error::OutsideDomain { name: C::NAME.into(), refusal })?;
        match self.options.layout {
            Layout::InPlace => Ok(None),
            Layout::Declared if !C::PREFERS_ROTATION => Ok(None),
            Layout::Declared | Layout::Rotated => match collective.rotation(at) {
                Some(by) => Ok(Some(arith::wrap(by, at.p) as usize)),
                None => Err(Error::NoSuchLayout { name: C::NAME.into() }),
            },
        }
    }
}

/// A communicator: a group of ranks that can run collectives on elements of type `T`.
pub trait Transport<T> {
    /// Where this rank sits.
    fn place(&self) -> Result<Place, Error>;

    /// Validates the call and runs the rounds of `collective`.
    fn gather<C: Collective, G: Described>(&self, collective: &C, call: Gather<'_, T, G>) -> Result<(), Error>;

    /// Validates the call and runs the rounds of `collective`.
    fn reduce<C: Collective, O: Operation<T>>(&self, collective: &C, call: Reduce<'_, T, O>) -> Result<(), Error>;

    /// Validates the call and runs the rounds of `collective`.
    fn spread<C: Collective>(&self, collective: &C, call: Spread<'_, T>) -> Result<(), Error>;
}
