//! Rounds of messages between ranks, and values that ranks agree on.

use crate::error::Error;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use std::ffi::c_int;
use std::mem::{forget, take};
use std::time::Instant;

/// The tag of all messages.
const TAG: c_int = 0;

/// How often short messages are exchanged in one measurement, because leaving a barrier takes time as well.
const REPEATED: usize = 8;
const SHORT: usize = 4096;

/// A communicator and buffers.
pub(super) struct WireBench {
    comm: ffi::MPI_Comm,
    send: Vec<u8>,
    recv: Vec<u8>,
    requests: Vec<ffi::MPI_Request>,
}

impl WireBench {
    pub(super) fn new(comm: ffi::MPI_Comm) -> Self {
        WireBench { comm, send: Vec::new(), recv: Vec::new(), requests: Vec::new() }
    }

    /// The communicator.
    pub(super) fn comm(&self) -> ffi::MPI_Comm {
        self.comm
    }

    /// The seconds in which the slowest rank sends `bytes` bytes to each first partner and receives as many from each
    /// second one. Collective: ranks without partners wait.
    pub(super) fn round(&mut self, partners: &[(usize, usize)], bytes: usize) -> Result<f64, Error> {
        let times = if bytes <= SHORT { REPEATED } else { 1 };
        self.reserve(partners.len(), bytes);
        self.timed(|wire| (0..times).try_for_each(|_| wire.exchange(partners, bytes)))
            .map(|seconds| seconds / times as f64)
    }

    /// The seconds that the slowest rank takes, starting at a barrier. Collective.
    pub(super) fn timed(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<f64, Error> {
        // SAFETY: the communicator is live, and all of its ranks call this.
        check("MPI_Barrier", unsafe { ffi::MPI_Barrier(self.comm) })?;
        let begin = Instant::now();
        work(self)?;
        self.slowest(begin.elapsed().as_secs_f64())
    }

    /// The maximum over all ranks. Collective.
    pub(super) fn slowest(&self, own: f64) -> Result<f64, Error> {
        let mut most = 0.0f64;
        let (from, to): (*const f64, *mut f64) = (&own, &mut most);
        // SAFETY: one number of each rank.
        let code = unsafe {
            let (double, max) = (ffi::RSMPI_DOUBLE, ffi::RSMPI_MAX);
            ffi::MPI_Allreduce(from.cast(), to.cast(), 1, double, max, self.comm)
        };
        check("MPI_Allreduce", code).map(|()| most)
    }

    /// The value of rank 0. Collective.
    pub(super) fn agreed(&self, own: bool) -> Result<bool, Error> {
        let mut said = [u8::from(own)];
        self.broadcast(&mut said)?;
        Ok(said[0] != 0)
    }

    /// The text of rank 0. Collective.
    pub(super) fn agreed_text(&self, own: String) -> Result<String, Error> {
        let mut length = (own.len() as u32).to_le_bytes();
        self.broadcast(&mut length)?;
        let mut bytes = own.into_bytes();
        bytes.resize(u32::from_le_bytes(length) as usize, 0);
        self.broadcast(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn broadcast(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let (start, count) = (bytes.as_mut_ptr(), bytes.len() as c_int);
        // SAFETY: `bytes` has `count` bytes on all ranks.
        let code = unsafe { ffi::MPI_Bcast(start.cast(), count, ffi::RSMPI_UINT8_T, 0, self.comm) };
        check("MPI_Bcast", code)
    }

    /// Allocates buffers, so that no allocation is timed.
    fn reserve(&mut self, partners: usize, bytes: usize) {
        if partners > 0 && self.send.len() < bytes {
            self.send.resize(bytes, 1);
        }
        if self.recv.len() < partners * bytes {
            self.recv.resize(partners * bytes, 0);
        }
    }

    /// Posts all messages and waits for all of them.
    fn exchange(&mut self, partners: &[(usize, usize)], bytes: usize) -> Result<(), Error> {
        self.post(partners, bytes).inspect_err(|_| self.abandon())?;
        let waits = self.requests.iter_mut().map(|request| {
            // SAFETY: the request was started and is not used again.
            check("MPI_Wait", unsafe { ffi::MPI_Wait(request, ffi::RSMPI_STATUS_IGNORE) })
        });
        // Waits for all of them, even after one has failed.
        let ends: Vec<Result<(), Error>> = waits.collect();
        self.requests.clear();
        ends.into_iter().collect()
    }

    fn post(&mut self, partners: &[(usize, usize)], bytes: usize) -> Result<(), Error> {
        for (port, &(_, from)) in partners.iter().enumerate() {
            let room = self.recv[port * bytes..][..bytes].as_mut_ptr();
            self.start("MPI_Irecv", |request, comm| {
                // SAFETY: `room` has `bytes` bytes, which nothing else uses until the request is complete.
                unsafe {
                    let (count, byte) = (bytes as c_int, ffi::RSMPI_UINT8_T);
                    ffi::MPI_Irecv(room.cast(), count, byte, from as c_int, TAG, comm, request)
                }
            })?;
        }
        for &(to, _) in partners {
            let data = self.send[..bytes].as_ptr();
            self.start("MPI_Isend", |request, comm| {
                // SAFETY: `data` has `bytes` bytes, which nothing writes until the request is complete.
                unsafe {
                    let (count, byte) = (bytes as c_int, ffi::RSMPI_UINT8_T);
                    ffi::MPI_Isend(data.cast(), count, byte, to as c_int, TAG, comm, request)
                }
            })?;
        }
        Ok(())
    }

    fn start(
        &mut self,
        call: &'static str,
        post: impl FnOnce(&mut ffi::MPI_Request, ffi::MPI_Comm) -> c_int,
    ) -> Result<(), Error> {
        // SAFETY: the null handle is a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        check(call, post(&mut request, self.comm))?;
        self.requests.push(request);
        Ok(())
    }

    /// Leaks the buffers, because messages that are never completed may still use them.
    fn abandon(&mut self) {
        forget((take(&mut self.send), take(&mut self.recv)));
        self.requests.clear();
    }
}
