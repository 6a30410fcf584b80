//! Calls with MPI's own arguments on real MPI: every algorithm of the catalogue, by name, compared with MPI's own
//! functions with the same arguments; blocking, and started twice in the background.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. With `ROUNDEL_TRACE` set all of it is traced. `--untraceable` expects that a trace cannot be
//! written.

mod cases;
mod job;
mod library;
mod types;

use crate::placements::placements;
use cases::Case;
use job::Job;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::Error;
use roundel::algorithms::catalogue;
use roundel::mpi::raw::{By, CallOutcome};
use roundel::selection::{Algorithm, Parameter, Selection, Settings};
use roundel_spec::Kind;
use std::collections::BTreeSet;
use types::Types;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let types = Types::new();
    let calls = match args.first().map_or("", String::as_str) {
        "--untraceable" => untraceable(world, &types),
        _ => everything(world, &types),
    };
    types.free();
    if world.rank() == 0 {
        println!("raw: p = {}, {calls} calls, all as expected", world.size());
    }
}

fn everything(world: &SimpleCommunicator, types: &Types) -> usize {
    let (rank, p) = (world.rank() as usize, world.size() as usize);
    let (mut calls, mut seen) = (0, BTreeSet::new());
    // A few placements are enough: other suites test all of them.
    let named = ["nodes of two", "no order", "one node", "sockets"];
    let some = |(name, _): &(&str, _)| named[..if p > 4 { 2 } else { 4 }].contains(name);
    for (name, path) in placements(rank, p).into_iter().filter(some) {
        let comm = world.duplicate();
        let mut job = Job::new(&comm, name);
        job.expect(roundel::mpi::place(&comm, &path).is_ok(), || "ranks cannot be placed".into());
        every_algorithm(&mut job, types, &mut seen);
        chosen(&mut job, types);
        calls += job.calls;
    }
    job::expect(world, p != 8 || seen.len() == catalogue().len(), || format!("only these were tried: {seen:?}"));
    calls + parts(world, types)
}

/// The same in communicators of some ranks, in reverse.
fn parts(world: &SimpleCommunicator, types: &Types) -> usize {
    let (rank, p) = (world.rank(), world.size());
    let color = mpi::topology::Color::with_value(rank % 2);
    let Some(comm) = world.split_by_color_with_key(color, p - rank) else { return 0 };
    let mut job = Job::new(&comm, "every other rank");
    every_algorithm(&mut job, types, &mut BTreeSet::new());
    wrong_kind(&mut job, types);
    job.calls
}

fn every_algorithm(job: &mut Job<'_>, types: &Types, seen: &mut BTreeSet<&'static str>) {
    for kind in Kind::ALL {
        let cases = cases::of(kind, job.p(), job.rank(), types);
        for algorithm in cases::algorithms(kind) {
            for case in &cases {
                if one(job, case, &algorithm) {
                    seen.insert(algorithm.name());
                }
            }
        }
    }
}

/// Makes a call in all ways if the algorithm serves it; returns whether it does.
fn one(job: &mut Job<'_>, case: &Case<'_>, algorithm: &Algorithm) -> bool {
    let by = By::Algorithm(algorithm);
    let what = format!("{} with {algorithm}", case.name);
    match job.blocks(&what, case, by) {
        Ok(CallOutcome::Done) => {}
        Ok(CallOutcome::Library | CallOutcome::Passes) => job.fail(&format!("{what}: left to the library")),
        Err(Error::OutsideDomain { .. } | Error::NeedsOrder { .. }) => return false,
        Err(error) => job.fail(&format!("{what}: {error}")),
    }
    // The second one reuses the plan.
    job.expect_done(&what, case, by);
    match job.in_background(&what, case, by) {
        Ok(true) => true,
        Err(Error::NotStraight { .. }) if case.name.contains("alltoallv") => true,
        Ok(false) => job.fail(&format!("{what}: a request was left to the library")),
        Err(error) => job.fail(&format!("{what}, a request: {error}")),
    }
}

/// Calls for which something is chosen, or nothing.
fn chosen(job: &mut Job<'_>, types: &Types) {
    let selection = Selection::default().preferring_the_catalogue();
    let settings = Settings { selection, ..Settings::default() };
    for kind in Kind::ALL {
        for case in &cases::of(kind, job.p(), job.rank(), types) {
            for by in [By::Settings(&settings), By::Environment] {
                if let Err(error) = job.blocks(&case.name, case, by) {
                    job.fail(&format!("{}: {error}", case.name));
                }
            }
            if let Err(error) = job.in_background(&case.name, case, By::Environment) {
                job.fail(&format!("{}, a request: {error}", case.name));
            }
        }
    }
}

/// An algorithm of another collective is refused, whatever was planned before.
fn wrong_kind(job: &mut Job<'_>, types: &Types) {
    let ring = Algorithm::named(Kind::Allreduce, "ring", &[]);
    let Ok(ring) = ring else { job.fail("there is no ring") };
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Allreduce) {
        for case in &cases::of(kind, job.p(), job.rank(), types) {
            let refused = matches!(job.blocks(&case.name, case, By::Algorithm(&ring)), Err(Error::OtherKind { .. }));
            job.expect(refused, || format!("{}: an allreduce was taken for it", case.name));
            let refused =
                matches!(job.in_background(&case.name, case, By::Algorithm(&ring)), Err(Error::OtherKind { .. }));
            job.expect(refused, || format!("{}: an allreduce was taken for a request of it", case.name));
        }
    }
}

/// All ranks get an error if a trace cannot be written.
fn untraceable(world: &SimpleCommunicator, types: &Types) -> usize {
    let mut job = Job::new(world, "the world");
    let cases = cases::of(Kind::Broadcast, job.p(), job.rank(), types);
    for case in &cases {
        let refused = job.blocks(&case.name, case, By::Environment);
        let said = match &refused {
            Err(Error::Settings { reason }) => reason.contains("ROUNDEL_TRACE: cannot write"),
            Err(Error::Disagree { what }) => what.contains("another rank says why not"),
            _ => false,
        };
        job.expect(said, || format!("a trace that cannot be written: {refused:?}"));
    }
    job.calls
}

/// Parameters by name.
fn parameters(given: &[(&str, Parameter)]) -> Vec<(String, Parameter)> {
    given.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}
