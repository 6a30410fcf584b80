//! Combines elements of MPI's own types without a call of MPI.
//!
//! MPI_Reduce_local checks its arguments, finds the function for a datatype and combines in place; for a few elements
//! that takes longer than the rest of a reduction. The functions here are for sums, products and bits, and for minima
//! and maxima of integers: there all libraries agree. The name of a datatype tells what it stands for, and a trial
//! against MPI_Reduce_local confirms it.

use crate::mpi::comm::code::SUCCESS;
use ::mpi::ffi;
use std::ffi::{CStr, c_char, c_int};
use std::ptr::{read_unaligned, write_unaligned};

/// Combines elements: `into[i] = left[i] op right[i]`. Addresses may be unaligned; `into` may be one of the others.
pub(crate) type NativeCombine = unsafe fn(*const u8, *const u8, *mut u8, usize);

/// The function for an operation and a datatype of MPI, if there is one.
pub(crate) fn native(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Option<NativeCombine> {
    let (found, element) = by_name(op, &name(datatype)?)?;
    confirms(op, datatype, found, element).then_some(found)
}

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementType {
    Float32,
    Float64,
    /// An integer of so many bytes.
    Integer(usize),
}

impl ElementType {
    fn size(self) -> usize {
        match self {
            ElementType::Float32 => size_of::<f32>(),
            ElementType::Float64 => size_of::<f64>(),
            ElementType::Integer(bytes) => bytes,
        }
    }

    /// An element for trials: small numbers of both signs, so that nothing overflows, which has no meaning in C. As an
    /// element of another type, it gives other results.
    fn trial(self, number: usize) -> Vec<u8> {
        let value = (number % 11) as i8 - 5;
        match self {
            ElementType::Float32 => (f32::from(value) + 0.5).to_ne_bytes().to_vec(),
            ElementType::Float64 => (f64::from(value) + 0.5).to_ne_bytes().to_vec(),
            ElementType::Integer(bytes) => i64::from(value).to_le_bytes()[..bytes].to_vec(),
        }
    }

    /// Elements for trials.
    fn sample(self, seed: usize) -> Vec<u8> {
        (0..ELEMENTS).flat_map(|i| self.trial(i * 7 + i * i + seed)).collect()
    }
}

/// The number of elements in trials.
const ELEMENTS: usize = 64;

/// The name of a datatype.
fn name(datatype: ffi::MPI_Datatype) -> Option<String> {
    let (mut text, mut length) = ([0 as c_char; ffi::MPI_MAX_OBJECT_NAME as usize + 1], 0);
    // SAFETY: the datatype is live, and the text has as much room as MPI asks for.
    let code = unsafe { ffi::MPI_Type_get_name(datatype, text.as_mut_ptr(), &mut length) };
    // SAFETY: the text ends with a zero, because its last element is never written.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    (code == SUCCESS).then(|| text.to_string_lossy().into_owned())
}

/// The function for an operation and the name of a datatype, and what its elements are.
fn by_name(op: ffi::MPI_Op, name: &str) -> Option<(NativeCombine, ElementType)> {
    match name.strip_prefix("MPI_")? {
        "FLOAT" | "REAL" | "REAL4" => f32_op(op),
        "DOUBLE" | "DOUBLE_PRECISION" | "REAL8" => f64_op(op),
        "SIGNED_CHAR" | "INT8_T" => i8_op(op),
        "UNSIGNED_CHAR" | "UINT8_T" => u8_op(op),
        "SHORT" | "INT16_T" => i16_op(op),
        "UNSIGNED_SHORT" | "UINT16_T" => u16_op(op),
        "INT" | "INT32_T" | "INTEGER" | "INTEGER4" => i32_op(op),
        "UNSIGNED" | "UINT32_T" => u32_op(op),
        "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "INT64_T" | "INTEGER8" => i64_op(op),
        "UNSIGNED_LONG" | "UNSIGNED_LONG_LONG" | "UINT64_T" => u64_op(op),
        _ => None,
    }
}

macro_rules! floats {
    ($($function:ident: $type:ty = $element:ident),*) => { $(
        fn $function(op: ffi::MPI_Op) -> Option<(NativeCombine, ElementType)> {
            // SAFETY: the handles are constants of the library.
            let [sum, product] = unsafe { [ffi::RSMPI_SUM, ffi::RSMPI_PROD] };
            let found: NativeCombine = match op {
                _ if op == sum => |a, b, c, n| unsafe { each::<$type>(a, b, c, n, |a, b| a + b) },
                _ if op == product => |a, b, c, n| unsafe { each::<$type>(a, b, c, n, |a, b| a * b) },
                _ => return None,
            };
            Some((found, ElementType::$element))
        }
    )* };
}
floats!(f32_op: f32 = Float32, f64_op: f64 = Float64);

macro_rules! integers {
    ($($function:ident: $type:ty),*) => { $(
        fn $function(op: ffi::MPI_Op) -> Option<(NativeCombine, ElementType)> {
            // SAFETY: the handles are constants of the library.
            let [sum, product, least, most, and, or, xor] = unsafe {
                use ffi::{RSMPI_BAND, RSMPI_BOR, RSMPI_BXOR, RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_SUM};
                [RSMPI_SUM, RSMPI_PROD, RSMPI_MIN, RSMPI_MAX, RSMPI_BAND, RSMPI_BOR, RSMPI_BXOR]
            };
            let found: NativeCombine = match op {
                _ if op == sum => |a, b, c, n| unsafe { each(a, b, c, n, <$type>::wrapping_add) },
                _ if op == product => |a, b, c, n| unsafe { each(a, b, c, n, <$type>::wrapping_mul) },
                _ if op == least => |a, b, c, n| unsafe { each(a, b, c, n, |a: $type, b| a.min(b)) },
                _ if op == most => |a, b, c, n| unsafe { each(a, b, c, n, |a: $type, b| a.max(b)) },
                _ if op == and => |a, b, c, n| unsafe { each(a, b, c, n, |a: $type, b| a & b) },
                _ if op == or => |a, b, c, n| unsafe { each(a, b, c, n, |a: $type, b| a | b) },
                _ if op == xor => |a, b, c, n| unsafe { each(a, b, c, n, |a: $type, b| a ^ b) },
                _ => return None,
            };
            Some((found, ElementType::Integer(size_of::<$type>())))
        }
    )* };
}
integers!(
    i8_op: i8, u8_op: u8, i16_op: i16, u16_op: u16, i32_op: i32, u32_op: u32, i64_op: i64, u64_op: u64
);

/// Combines elements one by one.
///
/// # Safety
/// There are so many elements at `left` and `right`, and room for them at `into`, which is one of them or apart.
#[inline(always)]
unsafe fn each<T: Copy>(left: *const u8, right: *const u8, into: *mut u8, count: usize, op: impl Fn(T, T) -> T) {
    let (left, right, into): (*const T, *const T, *mut T) = (left.cast(), right.cast(), into.cast());
    // SAFETY: the caller guarantees the elements. In place, the compiler sees that only one address is written, and
    // combines several elements at a time.
    unsafe {
        if into.cast_const() == right {
            for i in 0..count {
                write_unaligned(into.add(i), op(read_unaligned(left.add(i)), read_unaligned(into.add(i))));
            }
        } else if into.cast_const() == left {
            for i in 0..count {
                write_unaligned(into.add(i), op(read_unaligned(into.add(i)), read_unaligned(right.add(i))));
            }
        } else {
            for i in 0..count {
                write_unaligned(into.add(i), op(read_unaligned(left.add(i)), read_unaligned(right.add(i))));
            }
        }
    }
}

/// Whether a function gives the same bits as MPI for some elements.
fn confirms(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype, found: NativeCombine, element: ElementType) -> bool {
    let mut bytes = 0;
    // SAFETY: the datatype is live.
    if unsafe { ffi::MPI_Type_size(datatype, &mut bytes) } != SUCCESS || bytes as usize != element.size() {
        return false;
    }
    let (left, right) = (element.sample(1), element.sample(4));
    let (mut ours, mut theirs) = (vec![0; left.len()], right.clone());
    // SAFETY: all vectors have so many elements.
    let code = unsafe {
        found(left.as_ptr(), right.as_ptr(), ours.as_mut_ptr(), ELEMENTS);
        let (from, to) = (left.as_ptr().cast_mut().cast(), theirs.as_mut_ptr().cast());
        ffi::MPI_Reduce_local(from, to, ELEMENTS as c_int, datatype, op)
    };
    code == SUCCESS && ours == theirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_combined_in_place_and_apart() {
        let add: NativeCombine = |a, b, c, n| unsafe { each(a, b, c, n, i16::wrapping_add) };
        let (left, right): (Vec<i16>, Vec<i16>) = ((0..50).collect(), (0..50).map(|i| i16::MAX - i).collect());
        let expected: Vec<i16> = left.iter().zip(&right).map(|(a, b)| a.wrapping_add(*b)).collect();
        let bytes = |vector: &mut Vec<i16>| vector.as_mut_ptr().cast::<u8>();
        let (mut a, mut b, mut c) = (left.clone(), right.clone(), vec![0; 50]);
        // SAFETY: each vector has 50 elements.
        unsafe { add(bytes(&mut a), bytes(&mut b), bytes(&mut c), 50) };
        assert_eq!(c, expected);
        // SAFETY: as above.
        unsafe { add(bytes(&mut a), bytes(&mut b), bytes(&mut b), 50) };
        assert_eq!(b, expected);
        let mut b = right.clone();
        // SAFETY: as above.
        unsafe { add(bytes(&mut a), bytes(&mut b), bytes(&mut a), 50) };
        assert_eq!(a, expected);
    }

    /// A function for another type gives other results in a trial.
    #[test]
    fn trials_tell_types_apart() {
        type Trial = (ElementType, NativeCombine);
        let sums: [Trial; 4] = [
            (ElementType::Float32, |a, b, c, n| unsafe { each::<f32>(a, b, c, n, |a, b| a + b) }),
            (ElementType::Float64, |a, b, c, n| unsafe { each::<f64>(a, b, c, n, |a, b| a + b) }),
            (ElementType::Integer(4), |a, b, c, n| unsafe { each(a, b, c, n, i32::wrapping_add) }),
            (ElementType::Integer(8), |a, b, c, n| unsafe { each(a, b, c, n, i64::wrapping_add) }),
        ];
        let least: [Trial; 2] = [
            (ElementType::Integer(2), |a, b, c, n| unsafe { each(a, b, c, n, |a: i16, b| a.min(b)) }),
            (ElementType::Integer(2), |a, b, c, n| unsafe { each(a, b, c, n, |a: u16, b| a.min(b)) }),
        ];
        for all in [&sums[..], &least[..]] {
            for (i, (element, right)) in all.iter().enumerate() {
                for (other, wrong) in all
                    .iter()
                    .enumerate()
                    .filter(|(j, (of, _))| *j != i && of.size() == element.size())
                    .map(|(_, other)| other)
                {
                    let (a, b) = (element.sample(1), element.sample(4));
                    let (mut c, mut d) = (vec![0; a.len()], vec![0; a.len()]);
                    // SAFETY: each vector has this many elements, of this size.
                    unsafe {
                        right(a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), ELEMENTS);
                        wrong(a.as_ptr(), b.as_ptr(), d.as_mut_ptr(), ELEMENTS);
                    }
                    assert_ne!(c, d, "{element:?} as {other:?}");
                }
            }
        }
    }
}
