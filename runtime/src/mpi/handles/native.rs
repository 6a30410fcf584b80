//! Combines elements of MPI's own types without calling MPI.
//!
//! MPI_Reduce_local checks its arguments, finds the function for a datatype and combines in place; for a few elements
//! that takes longer than the rest of a reduction. The functions here are for sums, products and bits, and for minima
//! and maxima of integers, on which all libraries agree. The name of a datatype determines its elements, and a trial
//! against MPI_Reduce_local confirms it.

use crate::mpi::process::code::SUCCESS;
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

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementType {
    Float32,
    Float64,
    /// An integer of this many bytes.
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

    /// An element for trials: small numbers of both signs, so that nothing overflows, which is undefined in C. The
    /// same bytes as elements of another type give different results.
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

/// An operation on elements of a type.
trait BinaryOp<T> {
    fn apply(a: T, b: T) -> T;
}

macro_rules! operations {
    ($($name:ident: $($type:ty)*, $a:ident $b:ident => $result:expr;)*) => { $(
        struct $name;

        $(impl BinaryOp<$type> for $name {
            #[inline(always)]
            fn apply($a: $type, $b: $type) -> $type {
                $result
            }
        })*
    )* };
}

operations! {
    FloatSum: f32 f64, a b => a + b;
    FloatProduct: f32 f64, a b => a * b;
    IntegerSum: i8 u8 i16 u16 i32 u32 i64 u64, a b => a.wrapping_add(b);
    IntegerProduct: i8 u8 i16 u16 i32 u32 i64 u64, a b => a.wrapping_mul(b);
    Minimum: i8 u8 i16 u16 i32 u32 i64 u64, a b => a.min(b);
    Maximum: i8 u8 i16 u16 i32 u32 i64 u64, a b => a.max(b);
    And: i8 u8 i16 u16 i32 u32 i64 u64, a b => a & b;
    Or: i8 u8 i16 u16 i32 u32 i64 u64, a b => a | b;
    Xor: i8 u8 i16 u16 i32 u32 i64 u64, a b => a ^ b;
}

/// The function for an operation on floating-point numbers.
fn float<T: Copy>(op: ffi::MPI_Op, element: ElementType) -> Option<(NativeCombine, ElementType)>
where
    FloatSum: BinaryOp<T>,
    FloatProduct: BinaryOp<T>,
{
    // SAFETY: the handles are constants of the library.
    let all: [(ffi::MPI_Op, NativeCombine); 2] =
        unsafe { [(ffi::RSMPI_SUM, each::<T, FloatSum>), (ffi::RSMPI_PROD, each::<T, FloatProduct>)] };
    all.into_iter().find(|(known, _)| *known == op).map(|(_, found)| (found, element))
}

macro_rules! integer {
    ($op:ident, $type:ty) => {{
        // SAFETY: the handles are constants of the library.
        let all: [(ffi::MPI_Op, NativeCombine); 7] = unsafe {
            [
                (ffi::RSMPI_SUM, each::<$type, IntegerSum>),
                (ffi::RSMPI_PROD, each::<$type, IntegerProduct>),
                (ffi::RSMPI_MIN, each::<$type, Minimum>),
                (ffi::RSMPI_MAX, each::<$type, Maximum>),
                (ffi::RSMPI_BAND, each::<$type, And>),
                (ffi::RSMPI_BOR, each::<$type, Or>),
                (ffi::RSMPI_BXOR, each::<$type, Xor>),
            ]
        };
        let found = all.into_iter().find(|(known, _)| *known == $op);
        found.map(|(_, found)| (found, ElementType::Integer(size_of::<$type>())))
    }};
}

/// The function for an operation and the name of a datatype, and the type of its elements.
fn by_name(op: ffi::MPI_Op, name: &str) -> Option<(NativeCombine, ElementType)> {
    match name.strip_prefix("MPI_")? {
        "FLOAT" | "REAL" | "REAL4" => float::<f32>(op, ElementType::Float32),
        "DOUBLE" | "DOUBLE_PRECISION" | "REAL8" => float::<f64>(op, ElementType::Float64),
        "SIGNED_CHAR" | "INT8_T" => integer!(op, i8),
        "UNSIGNED_CHAR" | "UINT8_T" => integer!(op, u8),
        "SHORT" | "INT16_T" => integer!(op, i16),
        "UNSIGNED_SHORT" | "UINT16_T" => integer!(op, u16),
        "INT" | "INT32_T" | "INTEGER" | "INTEGER4" => integer!(op, i32),
        "UNSIGNED" | "UINT32_T" => integer!(op, u32),
        "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "INT64_T" | "INTEGER8" => integer!(op, i64),
        "UNSIGNED_LONG" | "UNSIGNED_LONG_LONG" | "UINT64_T" => integer!(op, u64),
        _ => None,
    }
}

/// Combines elements one by one.
///
/// # Safety
/// `left` and `right` have `count` elements, and `into` has room for them: one of the two, or separate memory.
unsafe fn each<T: Copy, O: BinaryOp<T>>(left: *const u8, right: *const u8, into: *mut u8, count: usize) {
    let op = O::apply;
    let (left, right, into): (*const T, *const T, *mut T) = (left.cast(), right.cast(), into.cast());
    // SAFETY: the caller guarantees the elements. A single element needs none of what makes many fast. The in-place
    // cases are separate so that the compiler sees that only one address is written, and vectorises.
    unsafe {
        if count == 1 {
            write_unaligned(into, op(read_unaligned(left), read_unaligned(right)));
        } else if into.cast_const() == right {
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

/// Whether a function gives the same bits as MPI for sample elements.
fn confirms(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype, found: NativeCombine, element: ElementType) -> bool {
    let mut bytes = 0;
    // SAFETY: the datatype is live.
    if unsafe { ffi::MPI_Type_size(datatype, &mut bytes) } != SUCCESS || bytes as usize != element.size() {
        return false;
    }
    let (left, right) = (element.sample(1), element.sample(4));
    let (mut ours, mut theirs) = (vec![0; left.len()], right.clone());
    // SAFETY: all vectors have this many elements.
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
        let add: NativeCombine = each::<i16, IntegerSum>;
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
        let sums: [(ElementType, NativeCombine); 4] = [
            (ElementType::Float32, each::<f32, FloatSum>),
            (ElementType::Float64, each::<f64, FloatSum>),
            (ElementType::Integer(4), each::<i32, IntegerSum>),
            (ElementType::Integer(8), each::<i64, IntegerSum>),
        ];
        let least: [(ElementType, NativeCombine); 2] =
            [(ElementType::Integer(2), each::<i16, Minimum>), (ElementType::Integer(2), each::<u16, Minimum>)];
        for all in [&sums[..], &least[..]] {
            for (i, (element, right)) in all.iter().enumerate() {
                let others = all.iter().enumerate().filter(|(j, (of, _))| *j != i && of.size() == element.size());
                for (_, (other, wrong)) in others {
                    assert_ne!(combined(*element, *right), combined(*element, *wrong), "{element:?} as {other:?}");
                }
            }
        }
    }

    fn combined(element: ElementType, combine: NativeCombine) -> Vec<u8> {
        let (left, right) = (element.sample(1), element.sample(4));
        let mut into = vec![0; left.len()];
        // SAFETY: each vector has this many elements, of this size.
        unsafe { combine(left.as_ptr(), right.as_ptr(), into.as_mut_ptr(), ELEMENTS) };
        into
    }
}
