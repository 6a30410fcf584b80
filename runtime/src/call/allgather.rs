//! Allgathers.

use crate::call::geometry::Described;
use crate::call::layout::Options;
use crate::call::rank_placement::RankPlacement;
use crate::error::Error;
use roundel_spec::Collective;

/// An allgather(v), as the user called it. Built by [`Allgather`](crate::Allgather).
#[derive(Debug)]
pub struct AllgatherCall<'a, T, G> {
    /// This rank's block; `None` if it already lies in `recv`.
    pub send: Option<&'a [T]>,
    /// All blocks.
    pub recv: &'a mut [T],
    /// Where the blocks lie in `recv`.
    pub geometry: G,
    /// The options of the call.
    pub options: Options,
}

impl<T, G: Described> AllgatherCall<'_, T, G> {
    /// Makes every check that one rank can make. Returns by how much blocks are rotated while the collective runs.
    pub fn validate<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<Option<usize>, Error> {
        self.geometry.validate(&here.flat(), self.send.map(<[T]>::len), self.recv.len())?;
        let at = here.serves(collective)?;
        self.options.layout.rotation(collective, &at)
    }
}
