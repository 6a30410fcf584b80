//! The largest message that MPI can express.
//!
//! MPI counts elements in a C `int`. A longer message must be rejected on *all* ranks or on none, otherwise one rank
//! would wait for another that has stopped; so every rank checks the messages of all ranks. The check is needed only
//! if the receive buffer is longer than the longest possible message.

use crate::call::geometry::Geometry;
use crate::error::Error;
use crate::rank_rounds::RankRounds;
use crate::runs::MessageShape;
use crate::transport::RankPlacement;
use roundel_spec::sink::infallible;
use roundel_spec::{Blocks, Collective, Placement, Sink, Site};
use std::convert::Infallible;
use std::ffi::c_int;

/// The largest number of elements in a message.
pub(crate) const LIMIT: usize = c_int::MAX as usize;

/// Returns an error if any rank has a message of more elements than a C `int` can count.
#[inline]
pub(crate) fn check<K: Collective, G: Geometry>(
    collective: &K,
    placement: &Placement,
    geometry: &G,
    recv: usize,
) -> Result<(), Error> {
    if recv <= LIMIT { Ok(()) } else { check_all(collective, placement, geometry) }
}

#[cold]
fn check_all<K: Collective, G: Geometry>(collective: &K, placement: &Placement, geometry: &G) -> Result<(), Error> {
    let p = placement.p();
    let mut largest = Largest { geometry, p, elements: 0 };
    for rank in 0..p {
        infallible(RankRounds::of(collective, RankPlacement { placement, rank }).replay(&mut largest));
    }
    match largest.elements {
        elements if elements > LIMIT => Err(Error::TooLarge { what: "a message", elements, limit: LIMIT }),
        _ => Ok(()),
    }
}

/// [`check`] for an alltoall with blocks of `count` elements, any number of which may share a message.
pub(crate) fn check_blocks<K: Collective>(collective: &K, placement: &Placement, count: usize) -> Result<(), Error> {
    let p = placement.p();
    if p.checked_mul(p).and_then(|blocks| blocks.checked_mul(count)).is_some_and(|all| all <= LIMIT) {
        return Ok(());
    }
    let mut most = MostBlocks(0);
    for rank in 0..p {
        infallible(RankRounds::of(collective, RankPlacement { placement, rank }).replay(&mut most));
    }
    match most.0.saturating_mul(count) {
        elements if elements > LIMIT => Err(Error::TooLarge { what: "a message", elements, limit: LIMIT }),
        _ => Ok(()),
    }
}

/// Finds the largest number of blocks in a message.
struct MostBlocks(usize);

impl Sink for MostBlocks {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, _: usize, blocks: B) -> Result<(), Infallible> {
        self.0 = self.0.max(blocks.count());
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.send(site, from, blocks)
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Finds the longest message.
struct Largest<'a, G> {
    geometry: &'a G,
    p: usize,
    elements: usize,
}

impl<G: Geometry> Sink for Largest<'_, G> {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, _: usize, blocks: B) -> Result<(), Infallible> {
        self.elements = self.elements.max(MessageShape::of(&blocks, self.geometry, self.p).elements);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.send(site, from, blocks)
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
