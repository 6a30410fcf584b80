//! Collectives on real MPI.
//!
//! Every communicator of the `mpi` crate is a [`Transport`]. Its messages travel on a duplicate of the communicator,
//! so that they never meet the user's. The duplicate and all working memory are made by the first call and cached on
//! the user's communicator; they go when it goes, and later calls allocate nothing.
//!
//! One call reads from top to bottom through these files:
//!
//! - `attribute`: from a communicator to what is cached on it, and the end of both
//! - `state`: what is cached, and who may use it
//! - `nodes`: which ranks share a node
//! - `limit`: refuses messages that MPI's 32-bit counts cannot express, before any message is sent
//! - `memory`, `arena`: the buffers, as MPI sees them; the only places that copy data
//! - `rounds`: the sink that turns rounds into messages
//! - `flight`: the messages of a round, and their exchange
//! - `code`: MPI's return codes as [`Error`]s
//!
//! Invariant: no buffer is touched by Rust, moved or freed while a request uses it.
//!
//! Ranks that disagree about a call get [`Error::Mismatch`], as far as the library allows. Open MPI 4.1 writes a message of
//! more than a few kilobytes past the end of a shorter receive buffer before it reports the truncation
//! (`btl_vader_single_copy_mechanism=none` helps within a node). MPICH 4.0 ends the job if the round has several
//! messages each way, unless `MPI_COMM_WORLD` returns errors.

mod arena;
mod attribute;
mod code;
mod flight;
mod limit;
mod memory;
mod nodes;
mod rounds;
mod state;

use self::arena::Arena;
use self::flight::{Flight, Route};
use self::memory::Memory;
use self::rounds::Rounds;
use self::state::{Group, State, Work};
use crate::error::Error;
use crate::geometry::{Geometry, Moved, Rotated};
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
        let Gather { send, recv, geometry, rotation, policy } = call;
        let datatype = T::equivalent_datatype();
        let route = Route { comm: group.comm.raw(), datatype: datatype.as_raw(), place: group.place, policy };
        let call = Call { collective, route, send: Memory::to_read(send), recv: Memory::of(recv), geometry };
        call.gather(state, group, rotation)
    }
}

/// One call, from which on the type of the elements does not matter.
struct Call<'a, K, G> {
    collective: &'a K,
    route: Route,
    send: Memory,
    recv: Memory,
    geometry: G,
}

impl<K: Collective, G: Geometry> Call<'_, K, G> {
    /// Decides where blocks lie while the collective runs.
    fn gather(self, state: &State, group: &Group, rotation: Option<usize>) -> Result<(), Error> {
        let mut work = state.lease()?;
        let Work { flight, layout, offsets } = &mut *work;
        limit::check(self.collective, &group.placement, &self.geometry, self.recv.len())?;
        match (rotation.filter(|&by| by != 0), self.geometry.uniform()) {
            (None, _) => self.run(self.recv, &self.geometry, flight),
            (Some(by), Some(count)) if self.geometry.first() == 0 => self.rotated(by, count, flight, layout),
            (Some(by), _) => self.moved(by, flight, layout, offsets),
        }
    }

    /// Runs the rounds with blocks in `memory`, of which the own one is copied there first.
    #[inline]
    fn run<L: Geometry>(&self, memory: Memory, geometry: L, flight: &mut Flight) -> Result<(), Error> {
        let place = &self.route.place;
        memory.copy(geometry.offset(place.rank as usize), &self.send, 0, self.send.len());
        let mut rounds = Rounds::new(&self.route, memory, geometry, flight);
        match self.collective.rounds(place, &mut rounds) {
            Ok(()) => rounds.finish(),
            Err(never) => match never {},
        }
    }

    /// Blocks of equal length in the rotated layout, then in place: two copies.
    fn rotated(&self, by: usize, count: usize, flight: &mut Flight, layout: &mut Arena) -> Result<(), Error> {
        let p = self.route.place.p as usize;
        let scratch = Memory::scratch(layout, p * count, self.recv.size());
        self.run(scratch, Rotated { count, by, p }, flight)?;
        let front = (p - by) * count;
        self.recv.copy(by * count, &scratch, 0, front);
        self.recv.copy(0, &scratch, front, by * count);
        Ok(())
    }

    /// Blocks of any length in the rotated layout without gaps, then in place.
    fn moved(
        &self,
        by: usize,
        flight: &mut Flight,
        layout: &mut Arena,
        offsets: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let total = rotated_offsets(offsets, &self.geometry, by, self.route.place.p as usize);
        let scratch = Memory::scratch(layout, total, self.recv.size());
        self.run(scratch, Moved { lengths: &self.geometry, offsets }, flight)?;
        for (b, &offset) in offsets.iter().enumerate() {
            self.recv.copy(self.geometry.offset(b), &scratch, offset, self.geometry.len(b));
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
