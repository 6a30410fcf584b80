//! The processes of a node's ranks, and their memory, which the kernel may let this rank read.
//!
//! Whether it does depends on the user, on containers and on settings such as `kernel.yama.ptrace_scope`. So every rank
//! tries to read a number from every other one, and all ranks learn whether all have succeeded. Reading the wrong
//! process, for example because ranks do not number processes alike, gives another number.

use crate::error::Error;
use crate::mpi::comm::agree::agree_and_hear;
use crate::mpi::comm::node_members::NodeMembers;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use std::ffi::{c_int, c_void};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::LazyLock;

/// A number that other processes do not have.
static MARK: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));

/// What a rank tells the others: its process, and where it keeps which number.
type Introduction = [u64; 3];

/// The processes of a node's ranks. Ranks are numbered within the node.
pub(crate) struct PeerProcesses(Box<[libc::pid_t]>);

impl PeerProcesses {
    /// Finds out whether all ranks of a communicator can read the memory of all others on their node. Collective; all
    /// ranks get the same answer.
    ///
    /// # Errors
    /// If some rank cannot.
    pub(crate) fn new(members: NodeMembers<'_>) -> Result<Self, Error> {
        let introductions = introduce(&members)?;
        let of_node: Vec<&Introduction> = members.ranks.iter().map(|&rank| &introductions[rank]).collect();
        let peers = PeerProcesses(of_node.iter().map(|told| told[0] as libc::pid_t).collect());
        let tried = (0..of_node.len()).try_for_each(|rank| peers.recognises(rank, of_node[rank]));
        let failed = [u64::from(tried.is_err())];
        let ((), failures) = agree_and_hear(members.group.comm.raw(), &[], &failed, Ok(()))?;
        tried.map_err(|error| refused(&error.to_string()))?;
        match failures.iter().any(|failures| failures.contains(&1)) {
            true => Err(refused("another rank cannot")),
            false => Ok(peers),
        }
    }

    /// Reads the number of a rank.
    fn recognises(&self, rank: usize, &[_, address, mark]: &Introduction) -> io::Result<()> {
        let mut found = [0; size_of::<u64>()];
        // SAFETY: there is room for the number, which nobody writes any more.
        unsafe { self.read(rank, address as usize, found.as_mut_ptr(), found.len())? };
        match u64::from_ne_bytes(found) == mark {
            true => Ok(()),
            false => Err(io::Error::other("another process has the number of a rank's")),
        }
    }

    /// Reads the memory of a rank.
    ///
    /// # Safety
    /// There is room for the bytes, and the rank does not write them meanwhile.
    ///
    /// # Errors
    /// The kernel's, if a part cannot be read.
    pub(crate) unsafe fn read(&self, rank: usize, from: usize, to: *mut u8, bytes: usize) -> io::Result<()> {
        let mut done = 0;
        while done < bytes {
            let rest = bytes - done;
            let local = libc::iovec { iov_base: to.wrapping_add(done).cast(), iov_len: rest };
            let remote = libc::iovec { iov_base: from.wrapping_add(done) as *mut c_void, iov_len: rest };
            // SAFETY: the caller guarantees room; the kernel checks the other end.
            match unsafe { libc::process_vm_readv(self.0[rank], &local, 1, &remote, 1, 0) } {
                ..0 => return Err(io::Error::last_os_error()),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                // The kernel reads at most 2 GiB at a time.
                read => done += read as usize,
            }
        }
        Ok(())
    }
}

fn refused(reason: &str) -> Error {
    Error::NoSharedMemory { reason: format!("ranks cannot read each other's memory: {reason}") }
}

/// Tells all ranks of the communicator where this rank's number is.
fn introduce(members: &NodeMembers<'_>) -> Result<Vec<Introduction>, Error> {
    let own: Introduction = [u64::from(std::process::id()), (&raw const *MARK).expose_provenance() as u64, *MARK];
    let mut all = vec![Introduction::default(); members.group.placement.p()];
    // SAFETY: each rank passes three numbers, and there is room for those of all ranks.
    let code = unsafe {
        let (word, count) = (ffi::RSMPI_UINT64_T, own.len() as c_int);
        let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
        ffi::PMPI_Allgather(from, count, word, to, count, word, members.group.comm.raw())
    };
    check("MPI_Allgather", code)?;
    Ok(all)
}
