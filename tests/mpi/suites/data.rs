//! The data of calls: element types, values that identify ranks and positions, guarded buffers.

use mpi::Address;
use mpi::datatype::{Equivalence, UserDatatype};
use std::fmt::Debug;
use std::mem::offset_of;

/// A type of elements.
pub(crate) trait Sample: Equivalence + Clone + PartialEq + Debug {
    /// Its name.
    const NAME: &'static str;
    /// One of its values; different seeds give different values where the type has that many.
    fn sample(seed: u64) -> Self;
}

/// Spreads the bits of a seed.
fn mix(seed: u64) -> u64 {
    let x = (seed ^ (seed >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^ (x >> 29)
}

macro_rules! sample {
    ($($name:ident),*) => {
        $(impl Sample for $name {
            const NAME: &'static str = stringify!($name);

            fn sample(seed: u64) -> Self {
                mix(seed) as $name
            }
        })*
    };
}

sample!(u8, i32, u64, f64);

/// A structure with gaps, whose MPI datatype is created for each call.
#[derive(Clone, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Record {
    tag: u8,
    value: f64,
    index: i16,
}

impl Sample for Record {
    const NAME: &'static str = "Record";

    fn sample(seed: u64) -> Self {
        Record { tag: u8::sample(seed), value: f64::sample(seed), index: mix(seed) as i16 }
    }
}

// SAFETY: the datatype names each field at its place, and its extent is the size of the structure.
unsafe impl Equivalence for Record {
    type Out = UserDatatype;

    fn equivalent_datatype() -> UserDatatype {
        let places = [offset_of!(Record, tag), offset_of!(Record, value), offset_of!(Record, index)];
        let types = [u8::equivalent_datatype(), f64::equivalent_datatype(), i16::equivalent_datatype()];
        UserDatatype::structured(&[1, 1, 1], &places.map(|place| place as Address), &types)
    }
}

/// `n` values of a rank in a repetition.
pub(crate) fn samples<T: Sample>(n: usize, rank: usize, repetition: usize) -> Vec<T> {
    let stream = 1 + (rank as u64) + 1000 * (repetition as u64);
    (0..n as u64).map(|i| T::sample((stream << 32) + i)).collect()
}

/// `n` values that no rank sends.
pub(crate) fn junk<T: Sample>(n: usize) -> Vec<T> {
    (0..n as u64).map(|i| T::sample(i.wrapping_mul(77) + 5)).collect()
}

const GUARD: usize = 67;

/// A buffer between guards, in which nothing may change.
pub(crate) struct Guarded<T> {
    all: Vec<T>,
    clean: Vec<T>,
}

impl<T: Sample> Guarded<T> {
    /// A buffer of `n` elements, filled with junk.
    pub(crate) fn new(n: usize) -> Self {
        let clean = junk(n + 2 * GUARD);
        Guarded { all: clean.clone(), clean }
    }

    /// Fills buffer and guards with junk again.
    pub(crate) fn clean(&mut self) {
        self.all.clone_from(&self.clean);
    }

    /// The buffer between the guards.
    pub(crate) fn inside(&mut self) -> &mut [T] {
        let end = self.all.len() - GUARD;
        &mut self.all[GUARD..end]
    }

    /// The first difference: of the guards from the junk, or of the buffer from `expected`.
    pub(crate) fn difference(&self, expected: &[T]) -> Option<String> {
        let end = self.all.len() - GUARD;
        let untouched = self.all[..GUARD] == self.clean[..GUARD] && self.all[end..] == self.clean[end..];
        if untouched && self.all[GUARD..end] == *expected {
            return None;
        }
        let expected = self.clean[..GUARD].iter().chain(expected).chain(&self.clean[end..]);
        let (at, (found, wanted)) = self.all.iter().zip(expected).enumerate().find(|(_, (a, b))| a != b)?;
        Some(format!("element {} is {found:?} and should be {wanted:?}", at as isize - GUARD as isize))
    }
}
