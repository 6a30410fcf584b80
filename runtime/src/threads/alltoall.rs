//! One rank's rounds of an alltoall: blocks move from rank to rank, each in its own vector.
//!
//! Layouts have no effect here.

use super::comm::ThreadComm;
use super::member::{Half, MemberMessage, PostedRound};
use super::parcel::{Expected, Parcel};
use crate::call::geometry::Geometry;
use crate::error::Error;
use roundel_spec::contract::pair;
use roundel_spec::{Blocks, Sink, Site};
use std::collections::HashMap;

/// The lengths of blocks.
#[derive(Clone, Copy)]
pub(super) enum BlockLengths {
    /// All blocks have this many elements.
    All(usize),
    /// The lengths differ. A wrong length only affects the source and the destination of a block, and the call
    /// continues.
    Any,
}

/// Collects a round's messages and exchanges them when the round ends.
pub(super) struct BlockSink<'a, T> {
    comm: &'a ThreadComm,
    collective: &'static str,
    lengths: BlockLengths,
    /// The blocks that this rank holds, by number.
    held: HashMap<usize, Vec<T>>,
    number: usize,
    operations: Vec<MemberMessage>,
    /// The blocks of the round's receives, in the order of declaration.
    landings: Vec<Vec<usize>>,
}

impl<'a, T: Clone> BlockSink<'a, T> {
    /// Starts with this rank's blocks, which lie in `send` as `leaving` describes.
    pub(super) fn new(
        comm: &'a ThreadComm,
        collective: &'static str,
        send: &[T],
        leaving: &impl Geometry,
        lengths: BlockLengths,
    ) -> Self {
        let (rank, p) = (comm.rank(), comm.size());
        let block = |to: usize| match leaving.len(to) {
            // An empty block may lie anywhere, even outside the buffer.
            0 => Vec::new(),
            len => send[leaving.offset(to)..][..len].to_vec(),
        };
        let held = (0..p).map(|to| (pair(rank, to, p), block(to))).collect();
        BlockSink { comm, collective, lengths, held, number: 0, operations: Vec::new(), landings: Vec::new() }
    }

    /// Moves the blocks for this rank into `recv`, except those of an unexpected length.
    pub(super) fn put_in_place(mut self, recv: &mut [T], arriving: &impl Geometry) -> Result<(), Error> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let mut outcome = Ok(());
        for from in 0..p {
            // With an unchecked schedule, blocks may be missing.
            let Some(block) = self.held.remove(&pair(from, rank, p)) else { continue };
            let (expected, found) = (arriving.len(from), block.len());
            if expected != found {
                outcome = outcome.and(Err(Error::BlockMismatch { rank, from, expected, found }));
            } else if found > 0 {
                let place = &mut recv[arriving.offset(from)..][..found];
                place.iter_mut().zip(block).for_each(|(old, new)| *old = new);
            }
        }
        outcome
    }
}

impl<T: Clone + Send + 'static> Sink for BlockSink<'_, T> {
    type Error = Error;

    fn begin_round(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Error> {
        // An unchecked schedule may name a block that is not held: send an empty one.
        let parcel: Vec<Vec<T>> = blocks.each().map(|block| self.held.remove(&block).unwrap_or_default()).collect();
        self.operations.push(MemberMessage {
            peer: to,
            blocks: parcel.len(),
            half: Half::Send(Parcel::of_blocks(parcel)),
        });
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Error> {
        let landing: Vec<usize> = blocks.each().collect();
        let len = match self.lengths {
            BlockLengths::All(count) => Some(landing.len() * count),
            BlockLengths::Any => None,
        };
        let half = Half::Recv(Expected::blocks::<T>(len));
        self.operations.push(MemberMessage { peer: from, blocks: landing.len(), half });
        self.landings.push(landing);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Error> {
        let operations = std::mem::take(&mut self.operations);
        let round = PostedRound { collective: self.collective, number: self.number, operations };
        let parcels = self.comm.exchange(round)?;
        for (landing, parcel) in std::mem::take(&mut self.landings).into_iter().zip(parcels) {
            self.held.extend(landing.into_iter().zip(parcel.open::<Vec<T>>()));
        }
        self.number += 1;
        Ok(())
    }
}
