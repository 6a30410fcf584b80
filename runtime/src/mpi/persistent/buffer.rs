//! Memory that a request uses: owned by it, or borrowed by a scope.
//!
//! MPI and the other ranks of the node know the address, so no Rust reference to the memory exists while a call runs:
//! a buffer is an address and a length, and slices are created only while nothing runs.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// The user's memory that a request uses.
pub(super) struct UserBuffer<T> {
    address: NonNull<T>,
    len: usize,
    /// The capacity of the vector, if the memory is owned.
    owned: Option<usize>,
}

impl<T: Copy> UserBuffer<T> {
    /// Takes ownership of a vector.
    pub(super) fn owned(vector: Vec<T>) -> Self {
        let mut vector = ManuallyDrop::new(vector);
        let (len, capacity) = (vector.len(), vector.capacity());
        // SAFETY: the address of a vector is never null.
        let address = unsafe { NonNull::new_unchecked(vector.as_mut_ptr()) };
        UserBuffer { address, len, owned: Some(capacity) }
    }

    /// Wraps an address that the caller keeps borrowed. A shared borrow suffices for memory that is only read.
    pub(super) fn borrowed(address: NonNull<T>, len: usize) -> Self {
        UserBuffer { address, len, owned: None }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn address(&self) -> *mut T {
        self.address.as_ptr()
    }
}

impl<T> Drop for UserBuffer<T> {
    fn drop(&mut self) {
        if let Some(capacity) = self.owned {
            // SAFETY: these are the parts of the vector passed to `owned`.
            drop(unsafe { Vec::from_raw_parts(self.address.as_ptr(), self.len, capacity) });
        }
    }
}
