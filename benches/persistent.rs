//! Persistent collectives against the library's own, blocking and persistent.
//!
//! `benches/persistent.sh` runs this several times and combines the results. All variants take turns in one job, each
//! on its own communicator. A line of output is a collective, a number of bytes (of the vector of an allreduce, of
//! every rank's block otherwise), a name, and the median over batches of the time per call on the slowest rank, in
//! microseconds; lines with `init` give the time to make the request.

mod turns;

use mpi::collective::SystemOperation;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::mpi::persistent::{Allgatherv, Allreduce, ReduceScatter, Request, Settings};
use roundel::operation::{Operation, Sum};
use roundel::plan::ports::Ports;
use roundel::program::build::Scheme;
use roundel::{Error, Transport};
use std::ffi::c_int;
use std::hint::black_box;
use std::time::Instant;
use turns::{in_turns, median_of_slowest};

#[link(name = "handwritten", kind = "static")]
unsafe extern "C" {
    fn library_allreduce_init(
        send: *const f64,
        recv: *mut f64,
        count: c_int,
        comm: ffi::MPI_Comm,
        request: *mut ffi::MPI_Request,
    ) -> c_int;
}

/// Bytes of the vector of an allreduce, and of every rank's block otherwise.
const BYTES: [usize; 9] = [8, 64, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20, 4 << 20];

/// A variant. Its call returns whether the result is right.
struct Variant<'a> {
    name: String,
    /// Microseconds to make the request, if it is persistent.
    init: Option<f64>,
    call: Box<dyn FnMut() -> bool + 'a>,
}

fn main() -> Result<(), Error> {
    let Some(universe) = mpi::initialize() else { return Ok(()) };
    let world = universe.world();
    let mut args = std::env::args().skip(1);
    let batches = args.next().and_then(|batches| batches.parse().ok()).unwrap_or(20);
    let largest: usize = args.next().and_then(|largest| largest.parse().ok()).unwrap_or(4 << 20);
    // To compare schemes: all of Roundel's, besides the chosen one.
    let schemes = args.next().is_some();
    let comms: Vec<SimpleCommunicator> = (0..6).map(|_| world.duplicate()).collect();
    // The setup of communicators is not part of a request.
    for comm in &comms {
        drop(Allreduce::init(comm, vec![0.0], vec![0.0], Sum)?);
    }
    let smallest: usize = args.next().and_then(|smallest| smallest.parse().ok()).unwrap_or(0);
    for bytes in BYTES.into_iter().filter(|&bytes| (smallest..=largest).contains(&bytes)) {
        compare(&world, "allreduce", bytes, batches, allreduces(&world, &comms, bytes / 8, schemes)?);
        // Every rank gets all blocks.
        if bytes * world.size() as usize > 16 << 20 {
            continue;
        }
        compare(
            &world,
            "allgatherv",
            bytes,
            batches,
            allgathervs(&world, &comms, bytes / 8 * world.size() as usize)?,
        );
        compare(
            &world,
            "reduce_scatter",
            bytes,
            batches,
            reduce_scatters(&world, &comms, bytes / 8 * world.size() as usize)?,
        );
    }
    Ok(())
}

/// Divides elements as evenly as possible.
fn counts(elements: usize, p: usize) -> Vec<usize> {
    (0..p).map(|rank| elements / p + usize::from(rank < elements % p)).collect()
}

/// A rank's contribution.
fn samples(rank: usize, n: usize) -> Vec<f64> {
    (0..n).map(|i| ((rank * 7 + i * 3) % 101) as f64).collect()
}

/// Makes a request and measures how long that takes.
fn made<'a, O: Operation<f64> + 'static>(
    name: &str,
    expected: Vec<f64>,
    make: impl FnOnce() -> Result<Request<'a, f64, O>, Error>,
) -> Result<Variant<'a>, Error> {
    let begin = Instant::now();
    let mut request = make()?;
    let init = Some(begin.elapsed().as_secs_f64() * 1e6);
    let call = move || {
        let outcome = request.start().and_then(|()| request.wait());
        outcome.is_ok() && request.output().is_ok_and(|output| output.first() == expected.first())
    };
    Ok(Variant { name: name.into(), init, call: Box::new(call) })
}

fn allreduces<'a>(
    world: &'a SimpleCommunicator,
    comms: &'a [SimpleCommunicator],
    n: usize,
    schemes: bool,
) -> Result<Vec<Variant<'a>>, Error> {
    let (send, mut expected) = (samples(world.rank() as usize, n), vec![0.0; n]);
    world.all_reduce_into(&send[..], &mut expected[..], SystemOperation::sum());
    let (comm, input, right) = (&comms[0], send.clone(), expected.clone());
    let mut recv = vec![0.0; n];
    let library = move || {
        comm.all_reduce_into(black_box(&input[..]), black_box(&mut recv[..]), SystemOperation::sum());
        recv[0] == right[0]
    };
    let mut all = vec![Variant { name: "MPI_Allreduce".into(), init: None, call: Box::new(library) }];
    all.extend(library_persistent(&comms[1], send.clone(), expected.clone()));
    for (name, settings) in if schemes { ways(world)? } else { Vec::new() } {
        let make = || Allreduce::init_with(&comms[2], send.clone(), vec![0.0; n], Sum, &settings);
        all.push(made(&name, expected.clone(), make)?);
    }
    all.push(made("ours", expected, || Allreduce::init(&comms[2], send, vec![0.0; n], Sum))?);
    Ok(all)
}

/// Settings to compare: ports between nodes, lanes and schemes.
fn ways(world: &SimpleCommunicator) -> Result<Vec<(String, Settings)>, Error> {
    let nodes = Transport::<f64>::place(world)?.nodes;
    let schemes = [Scheme::Copies, Scheme::Chunks, Scheme::Direct];
    let mut all: Vec<(String, Settings)> =
        schemes.iter().map(|&scheme| (format!("{scheme:?}"), Settings::default().scheme(scheme))).collect();
    if nodes != 4 {
        return Ok(all);
    }
    for text in ["4(3)", "4(1 1)", "4(-3) 4(3)", "4(-1 -1) 4(1 1)"] {
        let Ok(ports) = text.parse::<Ports>() else { continue };
        for lanes in [1, 2, 4] {
            let name = format!("{text}x{lanes}").replace(' ', "_");
            all.push((name, Settings::default().ports(ports.clone()).lanes(lanes).scheme(Scheme::Direct)));
        }
    }
    Ok(all)
}

/// The library's own persistent allreduce, if it has one.
fn library_persistent(comm: &SimpleCommunicator, send: Vec<f64>, expected: Vec<f64>) -> Option<Variant<'_>> {
    let mut recv = vec![0.0; send.len()];
    // SAFETY: the null handle is a constant of the library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    let begin = Instant::now();
    // SAFETY: both buffers have this many elements, and live as long as the request, in the same closure.
    let code = unsafe {
        let count = send.len() as c_int;
        library_allreduce_init(send.as_ptr(), recv.as_mut_ptr(), count, comm.as_raw(), &mut request)
    };
    let init = Some(begin.elapsed().as_secs_f64() * 1e6);
    if code != ffi::MPI_SUCCESS as c_int {
        return None;
    }
    let call = move || {
        let _ = (&send, comm);
        // SAFETY: the request is live and inactive.
        unsafe {
            ffi::MPI_Start(&mut request);
            ffi::MPI_Wait(&mut request, ffi::RSMPI_STATUS_IGNORE);
        }
        black_box(&mut recv)[0] == expected[0]
    };
    Some(Variant { name: "MPI_Allreduce_init".into(), init, call: Box::new(call) })
}

fn allgathervs<'a>(
    world: &'a SimpleCommunicator,
    comms: &'a [SimpleCommunicator],
    n: usize,
) -> Result<Vec<Variant<'a>>, Error> {
    let counts = counts(n, world.size() as usize);
    let send = samples(world.rank() as usize, counts[world.rank() as usize]);
    let expected: Vec<f64> = counts.iter().enumerate().flat_map(|(rank, &count)| samples(rank, count)).collect();
    let ints: Vec<c_int> = counts.iter().map(|&count| count as c_int).collect();
    let displs: Vec<c_int> = ints.iter().scan(0, |at, &count| Some(std::mem::replace(at, *at + count))).collect();
    let (comm, input, right) = (&comms[3], send.clone(), expected.clone());
    let mut recv = vec![0.0; n];
    let library = move || {
        let mut into = mpi::datatype::PartitionMut::new(&mut recv[..], &ints[..], &displs[..]);
        comm.all_gather_varcount_into(black_box(&input[..]), &mut into);
        recv.last() == right.last()
    };
    let library = Variant { name: "MPI_Allgatherv".into(), init: None, call: Box::new(library) };
    let ours = made("ours", expected, || Allgatherv::init(&comms[4], send, vec![0.0; n], &counts))?;
    Ok(vec![library, ours])
}

fn reduce_scatters<'a>(
    world: &'a SimpleCommunicator,
    comms: &'a [SimpleCommunicator],
    n: usize,
) -> Result<Vec<Variant<'a>>, Error> {
    let counts = counts(n, world.size() as usize);
    let (send, mut whole) = (samples(world.rank() as usize, n), vec![0.0; n]);
    world.all_reduce_into(&send[..], &mut whole[..], SystemOperation::sum());
    let rank = world.rank() as usize;
    let begin: usize = counts[..rank].iter().sum();
    let expected = whole[begin..begin + counts[rank]].to_vec();
    let ints: Vec<c_int> = counts.iter().map(|&count| count as c_int).collect();
    let (comm, input, right) = (&comms[5], send.clone(), expected.clone());
    let mut recv = vec![0.0; counts[rank]];
    let library = move || {
        // SAFETY: the buffers have as many elements as the counts say.
        unsafe {
            let (input, ints) = (black_box(&input), black_box(&ints));
            let (double, sum) = (ffi::RSMPI_DOUBLE, ffi::RSMPI_SUM);
            let to = recv.as_mut_ptr().cast();
            ffi::MPI_Reduce_scatter(input.as_ptr().cast(), to, ints.as_ptr(), double, sum, comm.as_raw());
        }
        recv.last() == right.last()
    };
    let library = Variant { name: "MPI_Reduce_scatter".into(), init: None, call: Box::new(library) };
    let ours =
        made("ours", expected, || ReduceScatter::init(&comms[4], send, vec![0.0; counts[rank]], &counts, Sum))?;
    Ok(vec![library, ours])
}

/// Prints the times of all variants.
fn compare(world: &SimpleCommunicator, what: &str, bytes: usize, batches: usize, mut variants: Vec<Variant<'_>>) {
    let batch = (4 << 20) / (bytes + (512 << 10)) + 2;
    let times = in_turns(world, variants.len(), batches, |which| {
        let Variant { name, call, .. } = &mut variants[which];
        world.barrier();
        // The first call synchronises the ranks, and does not count.
        let mut good = call();
        let begin = Instant::now();
        (0..batch).for_each(|_| good &= call());
        let time = begin.elapsed().as_secs_f64() * 1e6 / batch as f64;
        if !good {
            eprintln!("{name} failed on rank {}", world.rank());
            world.abort(1);
        }
        time
    });
    for (variant, time) in variants.iter().zip(times) {
        let init = variant.init.map(|init| median_of_slowest(world, &[init]));
        if world.rank() == 0 {
            println!("{what} {bytes} {} {time:.3}", variant.name);
            init.iter().for_each(|init| println!("{what} {bytes} {}/init {init:.1}", variant.name));
        }
    }
}
