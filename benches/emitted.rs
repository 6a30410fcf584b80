//! Generated code of some collectives, for `benches/emitted.sh`: `emitted_bench NAME CALLS`.
//!
//! The first calls fill the caches; the calls after them are counted, inside [`measured`]. Blocks have 8 bytes.
//! `emitted.c` makes the same calls of emitted C.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{Bruck, ModifiedBruck, RecursiveDoublingAllreduce, Ring, Sparbit};
use roundel::operation::Sum;
use roundel::{Allgather, Allreduce, Alltoall};
use std::hint::black_box;

type Call = fn(&SimpleCommunicator, &[u64], &mut [u64]) -> bool;

const CALLS: [(&str, Call); 5] = [
    ("bruck", |comm, send, recv| Bruck.allgather(comm, &send[..1], recv).is_ok()),
    ("sparbit", |comm, send, recv| Sparbit.allgather(comm, &send[..1], recv).is_ok()),
    ("ring", |comm, send, recv| Ring.allgather(comm, &send[..1], recv).is_ok()),
    ("allreduce", |comm, send, recv| RecursiveDoublingAllreduce.allreduce(comm, send, recv, &Sum).is_ok()),
    ("alltoall", |comm, send, recv| ModifiedBruck { radix: 2 }.alltoall(comm, send, recv).is_ok()),
];

fn main() {
    let Some(universe) = mpi::initialize() else { return };
    let (world, args) = (universe.world(), std::env::args().skip(1).collect::<Vec<_>>());
    let [name, calls] = args.as_slice() else {
        eprintln!("usage: emitted_bench NAME CALLS");
        world.abort(2);
    };
    let Some((_, call)) = CALLS.iter().find(|(known, _)| known == name) else {
        eprintln!("there is no {name}");
        world.abort(2);
    };
    let send = vec![world.rank() as u64; world.size() as usize];
    let mut recv = vec![0; world.size() as usize];
    repeat(*call, &world, &send, &mut recv, 3);
    measured(*call, &world, &send, &mut recv, calls.parse().unwrap_or(1));
}

/// The function that callgrind counts.
#[unsafe(no_mangle)]
#[inline(never)]
fn measured(call: Call, world: &SimpleCommunicator, send: &[u64], recv: &mut [u64], calls: usize) {
    repeat(call, world, send, recv, calls);
}

#[inline(always)]
fn repeat(call: Call, world: &SimpleCommunicator, send: &[u64], recv: &mut [u64], calls: usize) {
    for _ in 0..calls {
        assert!(black_box(call(world, black_box(send), black_box(recv))), "a call failed");
    }
}
