//! Variants that take turns in one job: two jobs on the same machine differ by more than two variants do.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// Batches that are not counted.
const WARM_UP: usize = 5;

/// The median time of each variant on its slowest rank. `time` runs a batch of a variant; variants take turns, each
/// time in another order.
pub(crate) fn in_turns(
    world: &SimpleCommunicator,
    variants: usize,
    batches: usize,
    mut time: impl FnMut(usize) -> f64,
) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(batches); variants];
    let mut order: Vec<usize> = (0..variants).collect();
    let mut random = 1;
    for turn in 0..batches + WARM_UP {
        shuffle(&mut order, &mut random);
        for &which in &order {
            let time = time(which);
            if turn >= WARM_UP {
                times[which].push(time);
            }
        }
    }
    times.iter().map(|times| median_of_slowest(world, times)).collect()
}

/// A new order, the same on every rank: what a variant finds in the caches depends on the variant before it.
fn shuffle(order: &mut [usize], random: &mut u64) {
    for i in (1..order.len()).rev() {
        *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        order.swap(i, (*random >> 33) as usize % (i + 1));
    }
}

/// The median over calls of the longest time on any rank.
pub(crate) fn median_of_slowest(world: &SimpleCommunicator, times: &[f64]) -> f64 {
    let mut slowest = vec![0.0; times.len()];
    world.all_reduce_into(times, &mut slowest[..], SystemOperation::max());
    slowest.sort_by(f64::total_cmp);
    slowest[slowest.len() / 2]
}
