//! Generated allgathers against the same algorithms written by hand in C, and against MPI_Allgather.
//!
//! Run under `mpirun`; `benches/run.sh` does that several times and combines the results. All variants take turns in
//! one job, because two jobs on the same machine differ by more than two variants do. Each line of output is a block
//! size in bytes, a variant, and the median time of a call on its slowest rank in microseconds.
//!
//! With `instructions VARIANT CALLS` it only calls one variant, with blocks of 8 bytes, for `benches/instructions.sh`.

mod turns;

use mpi::datatype::Equivalence;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::Allgather;
use roundel::algorithms::{Bruck, Ring, Sparbit};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::time::Instant;
use turns::in_turns;

type Handwritten =
    unsafe extern "C" fn(*const c_void, c_int, ffi::MPI_Datatype, usize, *mut c_void, usize, ffi::MPI_Comm) -> c_int;

/// Declares functions of `handwritten.c`, which all have the same arguments.
macro_rules! handwritten {
    ($($name:ident)*) => {
        #[link(name = "handwritten", kind = "static")]
        unsafe extern "C" {
            $(fn $name(
                send: *const c_void,
                count: c_int,
                datatype: ffi::MPI_Datatype,
                size: usize,
                recv: *mut c_void,
                length: usize,
                comm: ffi::MPI_Comm,
            ) -> c_int;)*
        }
    };
}
handwritten!(handwritten_ring handwritten_bruck handwritten_sparbit);

/// A way to gather: its name, and a call that returns whether it succeeded.
struct Variant {
    name: &'static str,
    call: fn(&SimpleCommunicator, &[u64], &mut [u64]) -> bool,
}

const VARIANTS: [Variant; 7] = [
    Variant { name: "bruck/generated", call: |comm, send, recv| generated(&Bruck, comm, send, recv) },
    Variant { name: "bruck/handwritten", call: |comm, send, recv| handwritten(handwritten_bruck, comm, send, recv) },
    Variant { name: "sparbit/generated", call: |comm, send, recv| generated(&Sparbit, comm, send, recv) },
    Variant {
        name: "sparbit/handwritten",
        call: |comm, send, recv| handwritten(handwritten_sparbit, comm, send, recv),
    },
    Variant { name: "ring/generated", call: |comm, send, recv| generated(&Ring, comm, send, recv) },
    Variant { name: "ring/handwritten", call: |comm, send, recv| handwritten(handwritten_ring, comm, send, recv) },
    Variant { name: "library", call: library },
];

#[inline(always)]
fn generated<C: Allgather>(collective: &C, comm: &SimpleCommunicator, send: &[u64], recv: &mut [u64]) -> bool {
    collective.allgather(comm, send, recv).is_ok()
}

#[inline(always)]
fn handwritten(function: Handwritten, comm: &SimpleCommunicator, send: &[u64], recv: &mut [u64]) -> bool {
    let (count, datatype) = (send.len() as c_int, u64::equivalent_datatype());
    let (from, to) = (send.as_ptr().cast(), recv.as_mut_ptr().cast());
    // SAFETY: the function gets the lengths of both buffers, and completes its messages before it returns.
    let code = unsafe { function(from, count, datatype.as_raw(), size_of::<u64>(), to, recv.len(), comm.as_raw()) };
    code == ffi::MPI_SUCCESS as c_int
}

fn library(comm: &SimpleCommunicator, send: &[u64], recv: &mut [u64]) -> bool {
    comm.all_gather_into(send, recv);
    true
}

fn main() {
    let Some(universe) = mpi::initialize() else { return };
    let world = universe.world();
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["instructions", name, calls] => count_instructions(&world, name, calls.parse().unwrap_or(1)),
        ["times", calls] => measure_all(&world, calls.parse().unwrap_or(100)),
        _ => measure_all(&world, 300),
    }
}

fn measure_all(world: &SimpleCommunicator, calls: usize) {
    for bytes in [8, 64, 512, 4096, 16384, 65536] {
        let times = measure(world, bytes / size_of::<u64>(), if bytes > 4096 { calls.div_ceil(3) } else { calls });
        if world.rank() == 0 {
            VARIANTS.iter().zip(times).for_each(|(variant, time)| println!("{bytes} {} {time:.3}", variant.name));
        }
    }
}

/// The median time of each variant in microseconds. The variants take turns, each time in a different order.
fn measure(world: &SimpleCommunicator, count: usize, calls: usize) -> Vec<f64> {
    let send: Vec<u64> = (0..count as u64).map(|i| i + ((world.rank() as u64) << 32)).collect();
    let mut recv = vec![0; count * world.size() as usize];
    let mut expected = recv.clone();
    world.all_gather_into(&send[..], &mut expected[..]);
    in_turns(world, VARIANTS.len(), calls, |which| {
        recv.fill(0);
        world.barrier();
        let begin = Instant::now();
        let good = (VARIANTS[which].call)(world, black_box(&send), black_box(&mut recv));
        let time = begin.elapsed().as_secs_f64() * 1e6;
        if !good || recv != expected {
            eprintln!("{} failed on rank {}", VARIANTS[which].name, world.rank());
            world.abort(1);
        }
        time
    })
}

/// The first calls fill the caches; the calls after them are counted, inside [`measured`].
fn count_instructions(world: &SimpleCommunicator, name: &str, calls: usize) {
    let Some(variant) = VARIANTS.iter().find(|variant| variant.name == name) else {
        eprintln!("there is no variant {name}");
        world.abort(1);
    };
    let send = [world.rank() as u64];
    let mut recv = vec![0; world.size() as usize];
    measured_not(variant, world, &send, &mut recv, 3);
    measured(variant, world, &send, &mut recv, calls);
}

/// The function that callgrind counts.
#[unsafe(no_mangle)]
#[inline(never)]
fn measured(variant: &Variant, world: &SimpleCommunicator, send: &[u64], recv: &mut [u64], calls: usize) {
    for _ in 0..calls {
        black_box((variant.call)(world, black_box(send), black_box(recv)));
    }
}

#[inline(never)]
fn measured_not(variant: &Variant, world: &SimpleCommunicator, send: &[u64], recv: &mut [u64], calls: usize) {
    for _ in 0..calls {
        black_box((variant.call)(world, black_box(send), black_box(recv)));
    }
}
