//! Checks every point of a range, on two threads.
//!
//! Points are visited from small p to large, all collectives side by side. So the first violation found is the smallest
//! one, and a collective that fails early costs nothing later.

use crate::proving::progress::WorkProgress;
use roundel_spec::check::{Point, Points};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of threads.
const THREADS: usize = 2;

/// Calls `work` for every number below `count`, on two threads, in order; returns the results in order.
pub fn parallel<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if count <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..THREADS.min(count) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = results.get(number) else { break };
                    let result = work(number);
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(result);
                    }
                }
            });
        }
    });
    results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
}

/// The result at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// It was checked, and is correct.
    Checked,
    /// It lies outside the domain.
    Refused,
}

/// Checks one point.
pub type CheckPoint<'a, E> = Box<dyn Fn(&Point) -> Result<Visit, E> + Sync + 'a>;

/// A collective and the points it is checked at.
pub struct SweepTask<'a, E> {
    /// The points.
    pub points: Points,
    /// Checks one point.
    pub check: CheckPoint<'a, E>,
}

/// The result of a sweep for one collective.
#[derive(Clone, Debug)]
pub struct Tally<E> {
    /// The number of points in the domain, all of them correct.
    pub checked: usize,
    /// The number of points outside the domain.
    pub refused: usize,
    /// The first fault, at the smallest point.
    pub wrong: Option<E>,
    /// The time spent on it.
    pub time: Duration,
}

/// Checks all jobs.
pub fn sweep<E: Send>(jobs: &[SweepTask<'_, E>], what: &'static str) -> Vec<Tally<E>> {
    let mut tasks: Vec<(usize, usize)> =
        jobs.iter().enumerate().flat_map(|(job, j)| j.points.p().map(move |p| (p, job))).collect();
    tasks.sort_unstable();
    let wrong_from: Vec<AtomicUsize> = jobs.iter().map(|_| AtomicUsize::new(usize::MAX)).collect();
    let progress = WorkProgress::new(tasks.len(), what);
    let parts = parallel(tasks.len(), |task| {
        let (p, job) = tasks[task];
        let part = if wrong_from[job].load(Ordering::Relaxed) < p { empty() } else { at(&jobs[job], p) };
        if part.wrong.is_some() {
            wrong_from[job].fetch_min(p, Ordering::Relaxed);
        }
        progress.step();
        part
    });
    let mut tallies: Vec<Tally<E>> = jobs.iter().map(|_| empty()).collect();
    for ((_, job), part) in tasks.into_iter().zip(parts) {
        tallies[job].add(part);
    }
    tallies
}

fn empty<E>() -> Tally<E> {
    Tally { checked: 0, refused: 0, wrong: None, time: Duration::ZERO }
}

impl<E> Tally<E> {
    /// Adds the result for a larger p.
    fn add(&mut self, part: Tally<E>) {
        self.checked += part.checked;
        self.refused += part.refused;
        self.time += part.time;
        self.wrong = self.wrong.take().or(part.wrong);
    }
}

/// Checks all points with `p` ranks, up to the first fault.
fn at<E>(job: &SweepTask<'_, E>, p: usize) -> Tally<E> {
    let start = Instant::now();
    let mut tally = empty();
    for point in job.points.at(p) {
        match (job.check)(&point) {
            Ok(Visit::Checked) => tally.checked += 1,
            Ok(Visit::Refused) => tally.refused += 1,
            Err(wrong) => {
                tally.wrong = Some(wrong);
                break;
            }
        }
    }
    tally.time = start.elapsed();
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_come_in_order() {
        assert_eq!(parallel(100, |n| n * n), (0..100).map(|n| n * n).collect::<Vec<_>>());
        assert_eq!(parallel(0, |n| n), Vec::<usize>::new());
    }

    #[test]
    fn the_smallest_fault_is_kept_and_the_rest_is_counted() {
        let schedule = (crate::catalogue::find("allgather/ring").expect("in the catalogue").schedule)();
        let job = |wrong_from: usize| SweepTask {
            points: Points::new(&schedule, 1..=40),
            check: Box::new(move |point: &Point| match point.placement.p() {
                p if p >= wrong_from => Err(p),
                p if p % 2 == 0 => Ok(Visit::Checked),
                _ => Ok(Visit::Refused),
            }),
        };
        let tallies = sweep(&[job(7), job(100)], "testing");
        assert_eq!((tallies[0].checked, tallies[0].refused, tallies[0].wrong), (3, 3, Some(7)));
        assert_eq!((tallies[1].checked, tallies[1].refused, tallies[1].wrong), (20, 20, None));
    }
}
