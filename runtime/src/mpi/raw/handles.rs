//! Datatypes of a call that goes on: MPI lets the program free them as soon as the call has returned.

use super::shape::{Job, Side};
use crate::error::Error;
use crate::mpi::code::{SUCCESS, check};
use ::mpi::ffi;

/// Datatypes of our own in the place of the program's. They are freed with this.
#[derive(Default)]
pub(super) struct Handles(Vec<ffi::MPI_Datatype>);

impl Handles {
    /// Puts duplicates in the place of the datatypes that the job goes on to use. Those that MPI names are never freed, and stay.
    ///
    /// # Safety
    /// The job's handles are live.
    pub(super) unsafe fn keep(job: &mut Job) -> Result<Self, Error> {
        let mut handles = Handles::default();
        // SAFETY: the caller promises live handles.
        unsafe {
            for side in [&mut job.send, &mut job.recv] {
                match side {
                    Side::Packed(typed) => handles.own(&mut typed.datatype)?,
                    Side::PackedBlocks(blocks) => handles.own(&mut blocks.datatype)?,
                    Side::Plain(_) | Side::Elements { .. } => {}
                }
            }
            if job.operands.is_some_and(|(_, facts)| !facts.named) {
                handles.own(&mut job.shape.datatype)?;
            }
        }
        Ok(handles)
    }

    unsafe fn own(&mut self, datatype: &mut ffi::MPI_Datatype) -> Result<(), Error> {
        let mut own = *datatype;
        // SAFETY: the caller promises a live datatype.
        check("MPI_Type_dup", unsafe { ffi::MPI_Type_dup(*datatype, &mut own) })?;
        self.0.push(own);
        *datatype = own;
        Ok(())
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        let mut over = 0;
        // SAFETY: MPI_Finalized may be called at any time; the datatypes are ours, and are not used again.
        unsafe {
            if !self.0.is_empty() && ffi::MPI_Finalized(&mut over) == SUCCESS && over == 0 {
                for datatype in &mut self.0 {
                    ffi::MPI_Type_free(datatype);
                }
            }
        }
    }
}
