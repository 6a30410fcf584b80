//! Combines the elements of a reduction with the user's operation.

use crate::mpi::execution::Combine;
use crate::mpi::process::ending::end_the_job;
use crate::operation::Operation;
use std::marker::PhantomData;
use std::mem::forget;

/// An operation on elements of type `T`.
pub(crate) struct Elements<'a, T, O> {
    op: &'a O,
    rank: usize,
    elements: PhantomData<fn(T)>,
}

impl<'a, T, O: Operation<T>> Elements<'a, T, O> {
    #[inline]
    pub(crate) fn new(op: &'a O, rank: usize) -> Self {
        Elements { op, rank, elements: PhantomData }
    }
}

impl<T, O: Operation<T>> Combine for Elements<'_, T, O> {
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        let (left, right, into): (*const T, *const T, *mut T) = (left.cast(), right.cast(), into.cast());
        let guard = EndsTheJob { rank: self.rank };
        for i in 0..elements {
            // SAFETY: the caller guarantees elements at all three addresses; scratch and the user's buffers are
            // aligned for them. No reference lives when the result is written.
            unsafe {
                let value = self.op.combine(&*left.add(i), &*right.add(i));
                *into.add(i) = value;
            }
        }
        forget(guard);
    }
}

/// Ends the job if an operation panics: the other ranks would wait for this rank for ever. Dropped only then.
struct EndsTheJob {
    rank: usize,
}

impl Drop for EndsTheJob {
    fn drop(&mut self) {
        end_the_job(format_args!("the operation of a reduction panicked on rank {}", self.rank))
    }
}
