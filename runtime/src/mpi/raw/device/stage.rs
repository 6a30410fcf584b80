//! Device memory of a call, copied through host memory.

use super::runtime::{Runtime, runtimes};
use crate::error::Error;
use crate::mpi::arguments::call::{MpiCall, Reduced, Scattered, Typed};
use crate::mpi::handles::datatype::{Facts, facts};
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::process::say::say;
use crate::transport::RankPlacement;
use ::mpi::ffi;
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// A call in which host memory replaces device memory.
pub(in super::super) struct Staged {
    /// The call with addresses of host memory.
    pub(in super::super) call: MpiCall,
    buffers: Vec<StagedBuffer>,
}

/// Device memory, and the host memory that replaces it.
struct StagedBuffer {
    runtime: Runtime,
    device: usize,
    host: Scratch,
    bytes: usize,
    /// Whether the call writes to it.
    written: bool,
}

/// The call with host memory, if it uses device memory and this process has a runtime.
///
/// # Safety
/// The same as for [`run`](super::super::run).
#[inline]
pub(in super::super) unsafe fn staged(call: &MpiCall, here: RankPlacement<'_>) -> Result<Option<Staged>, Error> {
    match runtimes() {
        [] => Ok(None),
        // SAFETY: the caller guarantees it.
        some => unsafe { stage(call, here, some) },
    }
}

#[cold]
unsafe fn stage(
    call: &MpiCall,
    here: RankPlacement<'_>,
    runtimes: &'static [Runtime],
) -> Result<Option<Staged>, Error> {
    let mut stage = StagedBuffers { runtimes, p: here.p(), buffers: Vec::new() };
    let is_root = |root| here.rank as i64 == i64::from(root);
    let (p, own) = (here.p(), here.rank);
    // SAFETY: the caller guarantees live handles, and complete lists where they are used.
    let call = unsafe {
        match *call {
            MpiCall::Allgather { send, recv } => {
                MpiCall::Allgather { send: stage.read(send, 1)?, recv: stage.typed(recv, p, true)? }
            }
            MpiCall::Alltoall { send, recv } => {
                MpiCall::Alltoall { send: stage.read(send, p)?, recv: stage.typed(recv, p, true)? }
            }
            MpiCall::Allgatherv { send, recv } => {
                MpiCall::Allgatherv { send: stage.read(send, 1)?, recv: stage.scattered(recv, true)? }
            }
            MpiCall::Alltoallv { send, recv } => {
                let send = send.map(|send| stage.scattered(send, false)).transpose()?;
                MpiCall::Alltoallv { send, recv: stage.scattered(recv, true)? }
            }
            MpiCall::Broadcast { data, root } => {
                MpiCall::Broadcast { data: stage.typed(data, 1, !is_root(root))?, root }
            }
            MpiCall::Gather { send, recv, root } => {
                let recv = if is_root(root) { stage.typed(recv, p, true)? } else { recv };
                MpiCall::Gather { send: stage.read(send, 1)?, recv, root }
            }
            MpiCall::Scatter { send, recv, root } => {
                let send = if is_root(root) { stage.typed(send, p, false)? } else { send };
                let recv = recv.map(|recv| stage.typed(recv, 1, true)).transpose()?;
                MpiCall::Scatter { send, recv, root }
            }
            MpiCall::Allreduce { data, count } => {
                MpiCall::Allreduce { data: stage.reduced(data, count, count)?, count }
            }
            MpiCall::Reduce { data, count, root } => {
                let gets = if is_root(root) { count } else { 0 };
                MpiCall::Reduce { data: stage.reduced(data, count, gets)?, count, root }
            }
            MpiCall::ReduceScatterBlock { data, count } => {
                MpiCall::ReduceScatterBlock { data: stage.reduced(data, count.saturating_mul(p), count)?, count }
            }
            MpiCall::ReduceScatter { data, counts } => {
                let of = |rank| counts.get(rank).max(0) as usize;
                let all = (0..p).fold(0usize, |all, rank| all.saturating_add(of(rank)));
                MpiCall::ReduceScatter { data: stage.reduced(data, all, of(own))?, counts }
            }
        }
    };
    Ok((!stage.buffers.is_empty()).then_some(Staged { call, buffers: stage.buffers }))
}

struct StagedBuffers {
    runtimes: &'static [Runtime],
    p: usize,
    buffers: Vec<StagedBuffer>,
}

/// The range of bytes that elements occupy, relative to their address.
#[derive(Clone, Copy)]
struct Span {
    from: isize,
    to: isize,
}

impl Span {
    fn of(known: &Facts, count: usize) -> Option<Self> {
        if count == 0 || known.size == 0 {
            return None;
        }
        let last = (count as isize - 1).wrapping_mul(known.extent);
        let from = last.min(0).wrapping_add(known.true_lb);
        Some(Span { from, to: last.max(0).wrapping_add(known.true_lb).wrapping_add(known.true_extent) })
    }
}

impl StagedBuffers {
    unsafe fn read(&mut self, typed: Option<Typed>, times: usize) -> Result<Option<Typed>, Error> {
        // SAFETY: the caller guarantees a live datatype.
        typed.map(|typed| unsafe { self.typed(typed, times, false) }).transpose()
    }

    unsafe fn typed(&mut self, typed: Typed, times: usize, written: bool) -> Result<Typed, Error> {
        // SAFETY: the caller guarantees a live datatype.
        let known = unsafe { known(typed.datatype)? };
        let span = Span::of(&known, typed.count.saturating_mul(times));
        Ok(Typed { address: self.memory(typed.address, span, written), ..typed })
    }

    unsafe fn scattered(&mut self, blocks: Scattered, written: bool) -> Result<Scattered, Error> {
        // SAFETY: the caller guarantees a live datatype and complete lists.
        let (known, mut all) = unsafe { (known(blocks.datatype)?, None::<Span>) };
        for rank in 0..self.p {
            // SAFETY: as above.
            let (count, displ) =
                unsafe { (blocks.counts.get(rank).max(0) as usize, blocks.displs.get(rank) as isize) };
            let Some(Span { from, to }) = Span::of(&known, count) else { continue };
            let at = displ.wrapping_mul(known.extent);
            let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
            all = Some(all.map_or(Span { from, to }, |all| Span { from: all.from.min(from), to: all.to.max(to) }));
        }
        Ok(Scattered { address: self.memory(blocks.address, all, written), ..blocks })
    }

    unsafe fn reduced(&mut self, data: Reduced, brings: usize, gets: usize) -> Result<Reduced, Error> {
        // SAFETY: the caller guarantees a live datatype.
        let known = unsafe { known(data.datatype)? };
        let gets = if data.send.is_none() && gets > 0 { brings } else { gets };
        let send = data.send.map(|send| self.memory(send.cast_mut(), Span::of(&known, brings), false).cast_const());
        Ok(Reduced { send, recv: self.memory(data.recv, Span::of(&known, gets), true), ..data })
    }

    /// Host memory in place of the memory at an address, if that is device memory.
    fn memory(&mut self, address: *mut c_void, span: Option<Span>, written: bool) -> *mut c_void {
        let Some(Span { from, to }) = span else { return address };
        let (device, bytes) = (address.addr().wrapping_add_signed(from), to.wrapping_sub(from).max(0) as usize);
        let Some(&runtime) = self.runtimes.iter().find(|runtime| runtime.owns(device)) else { return address };
        tell(runtime);
        let mut host = Scratch::default();
        let here = host.reserve(bytes).wrapping_offset(from.wrapping_neg()).cast();
        self.buffers.push(StagedBuffer { runtime, device, host, bytes, written });
        here
    }
}

/// The properties of a datatype. An invalid one is left to MPI, as is its buffer.
unsafe fn known(datatype: ffi::MPI_Datatype) -> Result<Facts, Error> {
    crate::mpi::handles::quiet::sends(datatype)?;
    // SAFETY: MPI has just accepted the datatype as valid.
    unsafe { facts(datatype) }
}

/// Whether to explain how device memory is handled.
static EXPLAINED: AtomicBool = AtomicBool::new(false);

/// Enables explanations of how device memory is handled; each appears once.
pub(in super::super) fn explain(wanted: bool) {
    EXPLAINED.fetch_or(wanted, Ordering::Relaxed);
}

fn tell(runtime: Runtime) {
    static ONCE: Once = Once::new();
    if EXPLAINED.load(Ordering::Relaxed) {
        ONCE.call_once(|| {
            say(format_args!(
                "a buffer is device memory of {}, which was loaded after the communicator was set up: it is copied \
                 through host memory; ROUNDEL_DEVICE=library leaves such programs to the library",
                runtime.name()
            ));
        });
    }
}

impl Staged {
    /// Copies device memory to host memory.
    ///
    /// # Safety
    /// The memory of the call is live.
    pub(in super::super) unsafe fn bring(&mut self) -> Result<(), Error> {
        self.buffers.iter_mut().try_for_each(|buffer| {
            let StagedBuffer { runtime, device, bytes, .. } = *buffer;
            // SAFETY: as the caller guarantees.
            unsafe { runtime.copy(device, buffer.host.reserve(bytes).addr(), bytes, device) }
        })
    }

    /// Copies the results back to device memory.
    ///
    /// # Safety
    /// The same as for [`bring`](Staged::bring).
    pub(in super::super) unsafe fn take(&mut self) -> Result<(), Error> {
        self.buffers.iter_mut().filter(|buffer| buffer.written).try_for_each(|buffer| {
            let StagedBuffer { runtime, device, bytes, .. } = *buffer;
            // SAFETY: as the caller guarantees.
            unsafe { runtime.copy(buffer.host.reserve(bytes).addr(), device, bytes, device) }
        })
    }
}
