//! The communicator that each rank holds.

use super::alltoall::{BlockLengths, BlockSink};
use super::hub::Hub;
use super::rotation::Rotation;
use super::sink::RoundSink;
use crate::call::alltoall::{AlltoallCall, AlltoallvCall};
use crate::call::geometry::{Described, Geometry, Uniform, Varying};
use crate::call::reduction::{Division, ReductionCall};
use crate::call::rooted::{BlockStorage, RootedCall, RootedLayout};
use crate::error::Error;
use crate::operation::Operation;
use crate::transport::{AllgatherCall, RankPlacement, Transport};
use roundel_spec::{Collective, Placement, rounds_of};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
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
    not_sync: PhantomData<Cell<()>>,
}

impl ThreadComm {
    pub(super) fn new(hub: Arc<Hub>, placement: Arc<Placement>, rank: usize) -> Self {
        ThreadComm { hub, placement, rank, not_sync: PhantomData }
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

    /// Copies this rank's block into `buffer`, unless it is already there, and runs the rounds there.
    fn run<C: Collective, T: Clone + Send + 'static>(
        &self,
        collective: &C,
        send: Option<&[T]>,
        buffer: &mut [T],
        geometry: &impl Geometry,
    ) -> Result<(), Error> {
        // An empty block may lie anywhere, even outside the buffer.
        if let Some(send) = send.filter(|send| !send.is_empty()) {
            buffer[geometry.offset(self.rank())..][..send.len()].clone_from_slice(send);
        }
        self.run_blocks(collective, buffer, geometry, self.size())
    }

    /// Runs the rounds of a collective without a reduction on blocks in `buffer`.
    fn run_blocks<C: Collective, T: Clone + Send + 'static>(
        &self,
        collective: &C,
        buffer: &mut [T],
        geometry: &impl Geometry,
        blocks: usize,
    ) -> Result<(), Error> {
        let gathers = |_: &T, _: &T| unreachable!("a gather combines nothing");
        let lines = vec![buffer];
        let mut sink = RoundSink::new(self, C::NAME, lines, geometry, blocks, gathers);
        rounds_of(collective, &self.placement, self.rank, &mut sink)
    }

    /// Takes this rank's blocks out of `send` or `recv`, exchanges them, and puts those of the other ranks into
    /// `recv`.
    fn run_shuffle<C: Collective, T: Clone + Send + 'static>(
        &self,
        collective: &C,
        (send, leaving): (Option<&[T]>, &impl Geometry),
        (recv, arriving): (&mut [T], &impl Geometry),
        lengths: BlockLengths,
    ) -> Result<(), Error> {
        let mut sink = BlockSink::new(self, C::NAME, send.unwrap_or(recv), leaving, lengths);
        rounds_of(collective, &self.placement, self.rank, &mut sink)?;
        sink.put_in_place(recv, arriving)
    }

    /// Reduces `data` in place.
    fn run_reduction<C: Collective, T: Clone + Send + 'static, O: Operation<T>>(
        &self,
        collective: &C,
        data: &mut [T],
        geometry: &Varying<'_>,
        op: &O,
    ) -> Result<(), Error> {
        let blocks = collective.blocks(&self.here().seen::<C>()) as usize;
        // Further lines are written before they are read; any elements will do.
        let mut others: Vec<Vec<T>> = (1..C::LINES).map(|_| data.to_vec()).collect();
        let lines = std::iter::once(data).chain(others.iter_mut().map(Vec::as_mut_slice)).collect();
        let combine = |left: &T, right: &T| op.combine(left, right);
        let mut sink = RoundSink::new(self, C::NAME, lines, geometry, blocks, combine);
        rounds_of(collective, &self.placement, self.rank, &mut sink)
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
        self.hub.check(self.rank())?;
        let AllgatherCall { send, recv, geometry, options: _ } = call;
        let Some(by) = rotation else {
            return self.run(collective, send, recv, &geometry);
        };
        let rotation = Rotation::new(&geometry, by, self.size());
        let mut scratch = rotation.copy_out(recv, &geometry);
        self.run(collective, send, &mut scratch, &rotation.geometry())?;
        rotation.put_in_place(scratch, recv, &geometry);
        Ok(())
    }

    fn reduce<C: Collective, O: Operation<T>>(
        &self,
        collective: &C,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error> {
        call.validate(collective, self.here())?;
        self.hub.check(self.rank())?;
        let (mut counts, mut displs) = (Vec::new(), Vec::new());
        call.divide(collective.blocks(&self.here().seen::<C>()) as usize, &mut counts, &mut displs);
        let geometry = Varying::new(&counts, &displs);
        let ReductionCall { input, output, division, op } = call;
        match (division, input) {
            (Division::Even, input) => {
                input.iter().for_each(|input| output.clone_from_slice(input));
                self.run_reduction(collective, output, &geometry, op)
            }
            (Division::Elsewhere, input) => {
                let mut data = input.map_or_else(Vec::new, <[T]>::to_vec);
                self.run_reduction(collective, &mut data, &geometry, op)
            }
            (_, input) => {
                let mut data = input.map_or_else(|| output.to_vec(), <[T]>::to_vec);
                self.run_reduction(collective, &mut data, &geometry, op)?;
                let (own, len) = (geometry.offset(self.rank()), geometry.len(self.rank()));
                output[..len].clone_from_slice(&data[own..own + len]);
                Ok(())
            }
        }
    }

    fn spread<C: Collective>(&self, collective: &C, call: RootedCall<'_, T>) -> Result<(), Error> {
        call.validate(collective, self.here())?;
        self.hub.check(self.rank())?;
        let (mut counts, mut displs) = (Vec::new(), Vec::new());
        let blocks = collective.blocks(&self.here().seen::<C>()) as usize;
        call.divide(blocks, &mut counts, &mut displs);
        let geometry = Varying::new(&counts, &displs);
        let RootedCall { input, output, layout: RootedLayout { total, input_at, storage } } = call;
        let bring = |all: &mut [T]| {
            input.iter().for_each(|input| all[input_at..input_at + input.len()].clone_from_slice(input));
        };
        match storage {
            BlockStorage::Output => {
                bring(output);
                self.run_blocks(collective, output, &geometry, blocks)
            }
            BlockStorage::Scratch { result_at } => {
                let mut all = scratch(total, input, output);
                bring(&mut all);
                self.run_blocks(collective, &mut all, &geometry, blocks)?;
                output.clone_from_slice(&all[result_at..result_at + output.len()]);
                Ok(())
            }
        }
    }

    fn shuffle<C: Collective>(&self, collective: &C, call: AlltoallCall<'_, T>) -> Result<(), Error> {
        call.validate(collective, self.here())?;
        self.hub.check(self.rank())?;
        let blocks = Uniform { count: call.recv.len() / self.size() };
        self.run_shuffle(collective, (call.send, &blocks), (call.recv, &blocks), BlockLengths::All(blocks.count))
    }

    fn shuffle_varying<C: Collective>(&self, collective: &C, call: AlltoallvCall<'_, T>) -> Result<(), Error> {
        call.validate(self.here())?;
        call.serve(collective, self.here())?;
        self.hub.check(self.rank())?;
        let AlltoallvCall { send, leaving, recv, arriving, options: _ } = call;
        self.run_shuffle(collective, (send, &leaving), (recv, &arriving), BlockLengths::Any)
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
