//! Communicators other than the world, and their lifetimes.

use super::compare;
use super::job::{Effort, place};
use crate::alloc::live_bytes;
use crate::job::Job;
use mpi::ffi;
use mpi::raw::{AsRaw, FromRaw};
use mpi::topology::{Color, InterCommunicator, SimpleCommunicator};
use mpi::traits::*;
use roundel::algorithms::Ring;
use roundel::{Allgather, Error};
use roundel_spec::Placement;

/// Ranks are on one node if their processors have the same name; this is true on the machines that run these tests.
pub(crate) fn nodes(job: &mut Job<'_>) {
    let name = mpi::environment::processor_name().unwrap_or_default();
    let mut mine = [0u8; 64];
    mine.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
    let mut all = vec![0u8; mine.len() * job.p()];
    job.world.all_gather_into(&mine[..], &mut all[..]);
    let names: Vec<&[u8]> = all.chunks(mine.len()).collect();
    let first = |name: &&[u8]| names.iter().position(|other| other == name).unwrap_or(0);
    let placement = Placement::from_nodes(names.iter().map(first).collect());
    let expected = placement.place(job.rank());
    let found = place(job.world);
    job.expect(found == Ok(expected), || format!("{found:?}, but the names say {expected:?}"));
}

/// A duplicate, and the two halves of the world with their ranks reversed.
pub(crate) fn duplicates_and_parts(job: &mut Job<'_>) {
    let (rank, world) = (world_rank(job), job.world);
    let duplicate = world.duplicate();
    compare::on::<i32>(job, &duplicate, 3, Effort::Light);
    let Some(half) = world.split_by_color_with_key(Color::with_value(rank % 2), -rank) else {
        job.fail("no communicator for one half")
    };
    compare::on::<i32>(job, &half, 3, Effort::Light);
    drop(duplicate);
    compare::on::<i32>(job, &half, 3, Effort::Light);
    compare::on::<u8>(job, &SimpleCommunicator::self_comm(), 3, Effort::Full);
}

fn world_rank(job: &Job<'_>) -> i32 {
    job.world.rank()
}

/// Everything cached on a communicator is freed with it: neither Rust's memory nor MPI's communicators, of which
/// libraries have a few thousand, run out.
pub(crate) fn nothing_is_left(job: &mut Job<'_>) {
    let rounds = if job.p() <= 2 { 2500 } else { 10 };
    let mut recv = vec![0; job.p()];
    let before = live_bytes();
    for _ in 0..rounds {
        let duplicate = job.world.duplicate();
        let outcome = Ring.allgather(&duplicate, &[job.rank()], &mut recv);
        job.expect(outcome == Ok(()), || format!("a duplicate of the world: {outcome:?}"));
        job.calls += 1;
    }
    let left = live_bytes() - before;
    job.expect(left == 0, || format!("{left} bytes are left of {rounds} communicators"));
}

/// A communicator with two groups is refused before any message is sent.
pub(crate) fn intercommunicator(job: &mut Job<'_>) {
    let (rank, world) = (world_rank(job), job.world);
    if job.p() < 2 {
        return;
    }
    let Some(half) = world.split_by_color(Color::with_value(rank % 2)) else {
        job.fail("no communicator for one half")
    };
    // SAFETY: both halves have their rank 0 as leader; these are the world's ranks 0 and 1. The handle goes to one
    // owner.
    let between = unsafe {
        let mut raw = ffi::RSMPI_COMM_NULL;
        ffi::MPI_Intercomm_create(half.as_raw(), 0, world.as_raw(), 1 - rank % 2, 9, &mut raw);
        InterCommunicator::from_raw(raw)
    };
    let outcome = Ring.allgather(&between, &[1], &mut [0]);
    job.expect(matches!(outcome, Err(Error::Intercommunicator)), || format!("an intercommunicator: {outcome:?}"));
}
