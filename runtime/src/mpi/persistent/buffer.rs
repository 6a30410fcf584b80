//! Memory that a request uses: it owns it, or a scope keeps it borrowed.
//!
//! MPI and the other ranks of the node know the address, so no Rust reference to the memory exists while a call runs: a
//! buffer is an address and a length, and slices are made of it when nothing runs.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Memory of the user that a request has.
pub(super) struct UserBuffer<T> {
    address: NonNull<T>,
    len: usize,
    /// The capacity of the vector, if the memory is owned.
    owned: Option<usize>,
}

impl<T: Copy> UserBuffer<T> {
    /// Takes a vector.
    pub(super) fn owned(vector: Vec<T>) -> Self {
        let mut vector = ManuallyDrop::new(vector);
        let (len, capacity) = (vector.len(), vector.capacity());
        // SAFETY: the address of a vector is never null.
        let address = unsafe { NonNull::new_unchecked(vector.as_mut_ptr()) };
        UserBuffer { address, len, owned: Some(capacity) }
    }

    /// Takes an address that somebody else keeps borrowed. What is only read may have been borrowed for reading.
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
            // SAFETY: these are the parts of the vector that was taken.
            drop(unsafe { Vec::from_raw_parts(self.address.as_ptr(), self.len, capacity) });
        }
    }
}
