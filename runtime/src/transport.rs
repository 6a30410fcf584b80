//! What runs a collective's rounds on real data.

use crate::error::Error;
use crate::geometry::Geometry;
use crate::policy::Policy;
use roundel_spec::{Collective, Place};

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

/// A validated allgather(v): what a [`Transport`] gets. Built only by [`Allgather`](crate::Allgather), after
/// every check that one rank can make.
#[derive(Debug)]
pub struct Gather<'a, T, G> {
    /// This rank's block.
    pub send: &'a [T],
    /// All blocks.
    pub recv: &'a mut [T],
    /// Where the blocks lie in `recv`.
    pub geometry: G,
    /// `Some(by)` to run in the rotated layout.
    pub rotation: Option<usize>,
    /// How messages travel.
    pub policy: Policy,
}

/// A communicator: a group of ranks that can run collectives on elements of type `T`.
pub trait Transport<T> {
    /// This rank's place among the ranks.
    fn place(&self) -> Result<Place, Error>;

    /// Runs the rounds of `collective`.
    fn gather<C: Collective, G: Geometry>(&self, collective: &C, call: Gather<'_, T, G>) -> Result<(), Error>;
}
