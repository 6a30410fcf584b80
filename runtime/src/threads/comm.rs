//! The communicator that each rank holds.

use super::alltoall::{BlockLengths, BlockSink};
use super::hub::Hub;
use super::member::PostedRound;
use super::parcel::Parcel;
use super::rotation::Rotation;
use super::sink::RoundSink;
use crate::call::alltoall::{AlltoallCall, AlltoallvCall};
use crate::call::geometry::{Described, Geometry, Uniform, Varying};
use crate::call::reduction::{Division, ReductionCall};
use crate::call::rooted::{BlockStorage, RootedCall, RootedLayout};
use crate::error::Error;
use crate::operation::Operation;
use crate::rank_rounds::RankRounds;
use crate::transport::{AllgatherCall, RankPlacement, Transport};
use roundel_spec::{Collective, Placement};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// One rank of a group of threads; [`run`](super::run) creates one for each rank.
///
/// A rank is one thread, so a communicator cannot be shared between threads:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>() {}
/// shared::<roundel::threads::ThreadComm>();
/// ```
pub struct ThreadComm {
    hub: Arc<Hub>,
    placement: Arc<Placement>,
    rank: usize,
    /// This rank, or its request, as the hub knows it.
    member: usize,
    /// The number of requests that were made.
    requests: Cell<usize>,
    /// Whether calls end when their arguments are known to be right.
    rehearses: bool,
}

impl ThreadComm {
    pub(super) fn new(hub: Arc<Hub>, placement: Arc<Placement>, rank: usize) -> Self {
        ThreadComm { hub, placement, rank, member: rank, requests: Cell::new(0), rehearses: false }
    }

    /// The same rank, for the calls of a request.
    pub(super) fn for_request(&self, request: usize) -> Self {
        let (hub, placement) = (Arc::clone(&self.hub), Arc::clone(&self.placement));
        ThreadComm { member: request, ..ThreadComm::new(hub, placement, self.rank) }
    }

    /// The same rank, on which calls only examine their arguments.
    pub(super) fn for_rehearsal(&self) -> Self {
        ThreadComm { rehearses: true, ..self.for_request(self.member) }
    }

    /// The channel of the next request. All ranks make them in the same order.
    pub(super) fn next_channel(&self) -> usize {
        self.requests.set(self.requests.get() + 1);
        self.requests.get()
    }

    /// This rank, in `0..size`.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.placement.p()
    }

    fn here(&self) -> RankPlacement<'_> {
        RankPlacement { placement: &self.placement, rank: self.rank }
    }

    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Posts a round, and waits until it is complete.
    pub(super) fn exchange(&self, round: PostedRound) -> Result<Vec<Parcel>, Error> {
        self.hub.exchange(self.member, round)
    }

    /// Whether a call whose arguments are right goes on.
    fn goes_on(&self) -> Result<bool, Error> {
        self.hub.check(self.rank).map(|()| !self.rehearses)
    }

    /// The rounds of this rank: what executes them is compiled once for all collectives.
    fn rounds<C: Collective>(&self, collective: &C) -> RankRounds {
        RankRounds::of(collective, self.here())
    }

    /// Copies this rank's block into `buffer`, unless it is already there, and runs the rounds there.
    fn run<T: Clone + Send + 'static>(
        &self,
        rounds: &RankRounds,
        send: Option<&[T]>,
        buffer: &mut [T],
        geometry: &impl Geometry,
    ) -> Result<(), Error> {
        // An empty block may lie anywhere, even outside the buffer.
        if let Some(send) = send.filter(|send| !send.is_empty()) {
            buffer[geometry.offset(self.rank())..][..send.len()].clone_from_slice(send);
        }
        self.run_blocks(rounds, buffer, geometry)
    }

    /// Runs rounds without a reduction on blocks in `buffer`.
    fn run_blocks<T: Clone + Send + 'static>(
        &self,
        rounds: &RankRounds,
        buffer: &mut [T],
        geometry: &impl Geometry,
    ) -> Result<(), Error> {
        let gathers = |_: &T, _: &T| unreachable!("a gather combines nothing");
        rounds.replay(&mut RoundSink::new(self, rounds, vec![buffer], geometry, gathers))
    }

    /// Takes this rank's blocks out of `send` or `recv`, exchanges them, and puts those of the other ranks into
    /// `recv`.
    fn run_shuffle<T: Clone + Send + 'static>(
        &self,
        rounds: &RankRounds,
        (send, leaving): (Option<&[T]>, &impl Geometry),
        (recv, arriving): (&mut [T], &impl Geometry),
        lengths: BlockLengths,
    ) -> Result<(), Error> {
        let mut sink = BlockSink::new(self, rounds.name, send.unwrap_or(recv), leaving, lengths);
        rounds.replay(&mut sink)?;
        sink.put_in_place(recv, arriving)
    }

    /// Reduces `data` in place.
    fn run_reduction<T: Clone + Send + 'static, O: Operation<T>>(
        &self,
        rounds: &RankRounds,
        data: &mut [T],
        geometry: &Varying<'_>,
        op: &O,
    ) -> Result<(), Error> {
        // Further lines are written before they are read; any elements will do.
        let mut others: Vec<Vec<T>> = (1..rounds.lines).map(|_| data.to_vec()).collect();
        let lines = std::iter::once(data).chain(others.iter_mut().map(Vec::as_mut_slice)).collect();
        let combine = |left: &T, right: &T| op.combine(left, right);
        rounds.replay(&mut RoundSink::new(self, rounds, lines, geometry, combine))
    }

    /// Gathers blocks, rotated by so many positions if the layout is.
    fn gather_blocks<T: Clone + Send + 'static, G: Described>(
        &self,
        rounds: &RankRounds,
        call: AllgatherCall<'_, T, G>,
        rotation: Option<usize>,
    ) -> Result<(), Error> {
        let AllgatherCall { send, recv, geometry, options: _ } = call;
        let Some(by) = rotation else {
            return self.run(rounds, send, recv, &geometry);
        };
        let rotation = Rotation::new(&geometry, by, self.size());
        let mut scratch = rotation.copy_out(recv, &geometry);
        self.run(rounds, send, &mut scratch, &rotation.geometry())?;
        rotation.put_in_place(scratch, recv, &geometry);
        Ok(())
    }

    /// Reduces a vector that the call divides into blocks.
    fn reduce_blocks<T: Clone + Send + 'static, O: Operation<T>>(
        &self,
        rounds: &RankRounds,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error> {
        let (mut counts, mut displs) = (Vec::new(), Vec::new());
        call.divide(rounds.blocks, &mut counts, &mut displs);
        let geometry = Varying::new(&counts, &displs);
        let ReductionCall { input, output, division, op } = call;
        match (division, input) {
            (Division::Even, input) => {
                input.iter().for_each(|input| output.clone_from_slice(input));
                self.run_reduction(rounds, output, &geometry, op)
            }
            (Division::Elsewhere, input) => {
                let mut data = input.map_or_else(Vec::new, <[T]>::to_vec);
                self.run_reduction(rounds, &mut data, &geometry, op)
            }
            (_, input) => {
                let mut data = input.map_or_else(|| output.to_vec(), <[T]>::to_vec);
                self.run_reduction(rounds, &mut data, &geometry, op)?;
                let (own, len) = (geometry.offset(self.rank()), geometry.len(self.rank()));
                output[..len].clone_from_slice(&data[own..own + len]);
                Ok(())
            }
        }
    }

    /// Moves blocks from or to the root.
    fn spread_blocks<T: Clone + Send + 'static>(
        &self,
        rounds: &RankRounds,
        call: RootedCall<'_, T>,
    ) -> Result<(), Error> {
        let (mut counts, mut displs) = (Vec::new(), Vec::new());
        call.divide(rounds.blocks, &mut counts, &mut displs);
        let geometry = Varying::new(&counts, &displs);
        let RootedCall { input, output, layout: RootedLayout { total, input_at, storage } } = call;
        let bring = |all: &mut [T]| {
            input.iter().for_each(|input| all[input_at..input_at + input.len()].clone_from_slice(input));
        };
        match storage {
            BlockStorage::Output => {
                bring(output);
                self.run_blocks(rounds, output, &geometry)
            }
            BlockStorage::Scratch { result_at } => {
                let mut all = scratch(total, input, output);
                bring(&mut all);
                self.run_blocks(rounds, &mut all, &geometry)?;
                output.clone_from_slice(&all[result_at..result_at + output.len()]);
                Ok(())
            }
        }
    }
}

impl<T: Clone + Send + 'static> Transport<T> for ThreadComm {
    fn here(&self) -> Result<RankPlacement<'_>, Error> {
        Ok(ThreadComm::here(self))
    }

    fn gather<C: Collective, G: Described>(
        &self,
        collective: &C,
        call: AllgatherCall<'_, T, G>,
    ) -> Result<(), Error> {
        let rotation = call.validate(collective, self.here())?;
        if !self.goes_on()? {
            return Ok(());
        }
        self.gather_blocks(&self.rounds(collective), call, rotation)
    }

    fn reduce<C: Collective, O: Operation<T>>(
        &self,
        collective: &C,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error> {
        call.validate(collective, self.here())?;
        if !self.goes_on()? {
            return Ok(());
        }
        self.reduce_blocks(&self.rounds(collective), call)
    }

    fn spread<C: Collective>(&self, collective: &C, call: RootedCall<'_, T>) -> Result<(), Error> {
        call.validate(collective, self.here())?;
        if !self.goes_on()? {
            return Ok(());
        }
        self.spread_blocks(&self.rounds(collective), call)
    }

    fn shuffle<C: Collective>(&self, collective: &C, call: AlltoallCall<'_, T>) -> Result<(), Error> {
        call.validate(collective, self.here())?;
        if !self.goes_on()? {
            return Ok(());
        }
        let blocks = Uniform { count: call.recv.len() / self.size() };
        let lengths = BlockLengths::All(blocks.count);
        self.run_shuffle(&self.rounds(collective), (call.send, &blocks), (call.recv, &blocks), lengths)
    }

    fn shuffle_varying<C: Collective>(&self, collective: &C, call: AlltoallvCall<'_, T>) -> Result<(), Error> {
        call.validate(self.here())?;
        call.serve(collective, self.here())?;
        if !self.goes_on()? {
            return Ok(());
        }
        let AlltoallvCall { send, leaving, recv, arriving, options: _ } = call;
        self.run_shuffle(&self.rounds(collective), (send, &leaving), (recv, &arriving), BlockLengths::Any)
    }
}

/// Initial elements for scratch, which nothing reads: any element will do.
fn scratch<T: Clone>(total: usize, input: Option<&[T]>, output: &[T]) -> Vec<T> {
    let any = input.and_then(<[T]>::first).or(output.first());
    any.map_or_else(Vec::new, |any| vec![any.clone(); total])
}

impl fmt::Debug for ThreadComm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadComm(rank {} of {})", self.rank(), self.size())
    }
}
