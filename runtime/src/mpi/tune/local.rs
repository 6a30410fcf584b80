//! Measures the local work of processes, all at the same time.

use super::median;
use super::wire::WireBench;
use crate::error::Error;
use std::hint::black_box;

/// The elements of a vector that is too large for first-level and second-level caches.
const ELEMENTS: usize = 1 << 18;
const TIMES: usize = 9;

/// The bytes per second that the slowest process copies.
pub(super) fn copy(wire: &mut WireBench) -> Result<f64, Error> {
    let (from, mut to) = (vec![1.5f64; ELEMENTS], vec![0.0f64; ELEMENTS]);
    rate(wire, || to.copy_from_slice(black_box(&from)))
}

/// The bytes per second that the slowest process adds up.
pub(super) fn combine(wire: &mut WireBench) -> Result<f64, Error> {
    let (from, mut to) = (vec![1.5f64; ELEMENTS], vec![0.0f64; ELEMENTS]);
    rate(wire, || black_box(&mut to).iter_mut().zip(black_box(&from)).for_each(|(sum, x)| *sum += x))
}

fn rate(wire: &mut WireBench, mut work: impl FnMut()) -> Result<f64, Error> {
    work();
    let mut once = |_| {
        wire.timed(|_| {
            work();
            Ok(())
        })
    };
    let mut times = (0..TIMES).map(&mut once).collect::<Result<Vec<f64>, Error>>()?;
    Ok((ELEMENTS * size_of::<f64>()) as f64 / median(&mut times))
}
