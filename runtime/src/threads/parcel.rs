//! One message, with its type erased: the ranks of a world may, by mistake, call with different element types.

use crate::error::Error;
use std::any::{Any, TypeId, type_name};

/// The elements of a message in transit.
pub(super) struct Parcel {
    elements: Box<dyn Any + Send>,
    type_name: &'static str,
    len: usize,
}

impl Parcel {
    pub(super) fn new<T: Send + 'static>(elements: Vec<T>) -> Self {
        Parcel { type_name: type_name::<T>(), len: elements.len(), elements: Box::new(elements) }
    }

    /// Blocks with individual lengths.
    pub(super) fn of_blocks<T: Send + 'static>(blocks: Vec<Vec<T>>) -> Self {
        let len = blocks.iter().map(Vec::len).sum();
        Parcel { type_name: type_name::<T>(), len, elements: Box::new(blocks) }
    }

    /// The elements, or the blocks. Only for a parcel that an [`Expected`] of the same type has accepted.
    pub(super) fn open<T: 'static>(self) -> Vec<T> {
        match self.elements.downcast() {
            Ok(elements) => *elements,
            Err(_) => unreachable!("a parcel of {} was accepted as one of {}", self.type_name, type_name::<T>()),
        }
    }
}

/// The type and length that a receive accepts.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    vec_of: TypeId,
    type_name: &'static str,
    /// The number of elements; `None` for any number.
    len: Option<usize>,
}

impl Expected {
    /// Exactly `len` elements of type `T`.
    pub(super) fn elements<T: 'static>(len: usize) -> Self {
        Expected { vec_of: TypeId::of::<Vec<T>>(), type_name: type_name::<T>(), len: Some(len) }
    }

    /// Blocks of elements of type `T`: with exactly `len` elements in total, or with any number.
    pub(super) fn blocks<T: 'static>(len: Option<usize>) -> Self {
        Expected { vec_of: TypeId::of::<Vec<Vec<T>>>(), type_name: type_name::<T>(), len }
    }

    /// Returns an error unless `parcel`, from rank `from`, is what this receive of rank `rank` expects.
    pub(super) fn accepts(&self, parcel: &Parcel, from: usize, rank: usize) -> Result<(), Error> {
        if (*parcel.elements).type_id() != self.vec_of {
            return Err(Error::WrongType { rank, from, expected: self.type_name, found: parcel.type_name });
        }
        if let Some(expected) = self.len.filter(|&len| len != parcel.len) {
            return Err(Error::Mismatch { rank, from, expected, found: parcel.len });
        }
        Ok(())
    }
}
