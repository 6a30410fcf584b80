//! Runs the cyclic shift, as a call and as a persistent request: on threads, or with the feature `mpi` under mpirun.
//! Every rank verifies what it got.
//!
//! `cyclic-shift [PORTS [RANKS]]`, for example `cyclic-shift 1,2 6`; on MPI the number of ranks is mpirun's.

use cyclic_shift::CyclicShift;
#[cfg(feature = "mpi")]
use mpi::topology::SimpleCommunicator as Comm;
#[cfg(feature = "mpi")]
use roundel::mpi::persistent::algorithm as persistent;
#[cfg(not(feature = "mpi"))]
use roundel::threads::{self, ThreadComm as Comm, persistent};
use roundel::{Allgather, Error, Transport};
use std::process::ExitCode;

/// The number of elements that each rank contributes.
const COUNT: usize = 2;

/// What the command line asks for.
struct Arguments {
    /// The ports of each round; `None` for one port and as many rounds as needed.
    ports: Option<Vec<i64>>,
    /// The number of ranks, on threads.
    #[cfg_attr(feature = "mpi", allow(dead_code))]
    ranks: usize,
}

impl Arguments {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
        let ports =
            args.next().map(|list| list.split(',').map(number).collect::<Result<Vec<i64>, _>>()).transpose()?;
        let ranks = match args.next() {
            Some(text) => number(&text)?,
            None => ports.iter().flatten().map(|ports| ports + 1).product::<i64>().max(6),
        };
        let ranks = usize::try_from(ranks).ok().filter(|&ranks| ranks > 0).ok_or("there is at least one rank")?;
        Ok(Arguments { ports, ranks })
    }

    fn collective(&self, p: usize) -> CyclicShift {
        match &self.ports {
            Some(ports) => CyclicShift { ports: ports.clone() },
            None => CyclicShift::uniform(p, 1),
        }
    }
}

/// What one rank does: gather, verify, and report.
fn run(arguments: &Arguments, comm: &impl Transport<i32>) -> Result<String, Error> {
    let place = comm.place()?;
    let (rank, p) = (place.rank as usize, place.p as usize);
    let block = |rank: usize| (0..COUNT).map(move |k| (rank * 10 + k) as i32);
    let mine: Vec<i32> = block(rank).collect();
    let mut all = vec![-1; p * COUNT];
    arguments.collective(p).allgather(comm, &mine, &mut all)?;
    let right = all.iter().copied().eq((0..p).flat_map(block));
    let gathered = if p <= 8 { format!("{all:?}") } else { format!("{} elements", all.len()) };
    Ok(format!("rank {rank} of {p}: {gathered} {}", if right { "as it should be" } else { "WRONG" }))
}

/// Prints the outcome of a rank; returns whether it succeeded.
fn report(outcome: Result<String, Error>) -> bool {
    match outcome {
        Ok(line) => {
            println!("{line}");
            !line.ends_with("WRONG")
        }
        Err(error) => {
            eprintln!("{error}");
            false
        }
    }
}

/// The same with a persistent request, which is prepared once: two calls with other data.
fn again(arguments: &Arguments, comm: &Comm) -> Result<String, Error> {
    let place = Transport::<i32>::place(comm)?;
    let (rank, p) = (place.rank as i32, place.p as usize);
    let mut request = persistent::Allgather::init(comm, arguments.collective(p), vec![0], vec![0; p])?;
    let mut right = true;
    for call in 0..2 {
        request.input_mut()?[0] = rank + call;
        request.start()?;
        // Something else meanwhile.
        request.wait()?;
        right &= request.output()?.iter().copied().eq((0..p as i32).map(|rank| rank + call));
    }
    let right = if right { "as it should be" } else { "WRONG" };
    Ok(format!("rank {rank} of {p}: two calls of one request, {right}"))
}

#[cfg(not(feature = "mpi"))]
fn start(arguments: &Arguments) -> bool {
    let ranks = arguments.ranks;
    let outcomes = threads::run(ranks, |comm| run(arguments, comm)).into_iter();
    let outcomes = outcomes.chain(threads::run(ranks, |comm| again(arguments, comm)));
    // All ranks report, even after one that failed.
    let failed = outcomes.map(report).filter(|well| !well).count();
    failed == 0
}

#[cfg(feature = "mpi")]
fn start(arguments: &Arguments) -> bool {
    let Some(universe) = mpi::initialize() else {
        eprintln!("MPI was initialised before");
        return false;
    };
    let world = universe.world();
    report(run(arguments, &world)) & report(again(arguments, &world))
}

fn main() -> ExitCode {
    match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) if start(&arguments) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}; usage: cyclic-shift [PORTS [RANKS]], for example cyclic-shift 1,2 6");
            ExitCode::from(2)
        }
    }
}
