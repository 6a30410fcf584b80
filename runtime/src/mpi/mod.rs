//! Collectives on real MPI.
//!
//! Every communicator of the `mpi` crate is a [`Transport`]. Its messages travel on a duplicate of the communicator,
//! so that they never meet the user's. The duplicate and all working memory are made by the first call and cached on
//! the user's communicator; they go when it goes, and later calls allocate nothing.
//!
//! One call reads from top to bottom through these files:
//!
//! - `attribute`: from a communicator to its [`State`](state::State), and the end of both
//! - `state`: what is cached, and who may use it
//! - `nodes`: which ranks share a node
//! - `limit`: refuses messages that MPI's 32-bit counts cannot express, before any message is sent
//! - `memory`, `arena`: the buffers, as MPI sees them; the only places that copy data
//! - `rounds`: the sink that posts and completes messages
//! - `code`: MPI's return codes as [`Error`]s
//!
//! Invariant: no buffer is touched by Rust, moved or freed while a request uses it.

mod arena;
mod attribute;
mod code;
mod limit;
mod memory;
mod nodes;
mod rounds;
mod state;

use self::arena::Arena;
use self::memory::Memory;
use self::rounds::{Flight, Rounds, Route};
use self::state::{Group, Work};
use crate::error::Error;
use crate::geometry::{Geometry, Moved, Rotated};
use crate::policy::Policy;
use crate::transport::{Gather, Transport};
use ::mpi::datatype::Equivalence;
use ::mpi::raw::AsRaw;
use ::mpi::topology::Communicator;
use roundel_spec::{Collective, Place};

impl<T: Equivalence, C: Communicator> Transport<T> for C {
    #[inline]
    fn place(&self) -> Result<Place, Error> {
        Ok(attribute::state(self)?.group(self.as_raw())?.place)
    }

    fn gather<K: Collective, G: Geometry>(&self, collective: &K, call: Gather<'_, T, G>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self.as_raw())?;
        let mut work = state.lease()?;
        limit::check(collective, &group.placement, &call.geometry, call.recv.len())?;

        let Gather { send, recv, geometry, rotation, policy } = call;
        let recv = Memory::of(recv);
        let Work { flight, layout, offsets } = &mut *work;
        let plan = Plan { collective, group, flight, policy };
        match (rotation.filter(|&by| by != 0), geometry.uniform()) {
            (None, _) => plan.run(send, recv, geometry),
            (Some(by), Some(count)) if geometry.first() == 0 => plan.rotated(by, count, send, recv, layout),
            (Some(by), _) => {
                let total = rotated_offsets(offsets, &geometry, by, group.place.p as usize);
                plan.moved(send, recv, geometry, offsets, Memory::scratch(layout, total))
            }
        }
    }
}

/// One call, before its layout is decided.
struct Plan<'a, K> {
    collective: &'a K,
    group: &'a Group,
    flight: &'a mut Flight,
    policy: Policy,
}

impl<K: Collective> Plan<'_, K> {
    /// Runs the rounds with blocks in `memory`, of which the own one is copied there first.
    #[inline]
    fn run<T: Equivalence, G: Geometry>(self, send: &[T], memory: Memory<T>, geometry: G) -> Result<(), Error> {
        let Group { comm, place, .. } = self.group;
        memory.put(geometry.offset(place.rank as usize), send);
        let datatype = T::equivalent_datatype();
        let route = Route { comm: comm.raw(), datatype: datatype.as_raw(), place: *place, policy: self.policy };
        let mut rounds = Rounds::new(route, memory, geometry, self.flight);
        match self.collective.rounds(place, &mut rounds) {
            Ok(()) => rounds.finish(),
            Err(never) => match never {},
        }
    }

    /// Blocks of equal length in the rotated layout, then in place: two copies.
    fn rotated<T: Equivalence>(
        self,
        by: usize,
        count: usize,
        send: &[T],
        recv: Memory<T>,
        layout: &mut Arena,
    ) -> Result<(), Error> {
        let p = self.group.place.p as usize;
        let scratch = Memory::scratch(layout, p * count);
        let front = (p - by) * count;
        self.run(send, scratch, Rotated { count, by, p })?;
        recv.copy(by * count, &scratch, 0, front);
        recv.copy(0, &scratch, front, by * count);
        Ok(())
    }

    /// Blocks of any length at `offsets` of `scratch`, then in place.
    fn moved<T: Equivalence, G: Geometry>(
        self,
        send: &[T],
        recv: Memory<T>,
        geometry: G,
        offsets: &[usize],
        scratch: Memory<T>,
    ) -> Result<(), Error> {
        self.run(send, scratch, Moved { lengths: &geometry, offsets })?;
        for (b, &offset) in offsets.iter().enumerate() {
            recv.copy(geometry.offset(b), &scratch, offset, geometry.len(b));
        }
        Ok(())
    }
}

/// Where blocks begin when they lie without gaps and block `by` comes first; returns where the last one ends.
fn rotated_offsets<G: Geometry>(offsets: &mut Vec<usize>, geometry: &G, by: usize, p: usize) -> usize {
    offsets.clear();
    offsets.resize(p, 0);
    let mut end = 0;
    for b in (by..p).chain(0..by) {
        offsets[b] = end;
        end += geometry.len(b);
    }
    end
}
