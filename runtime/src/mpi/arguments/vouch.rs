//! Validates the handles and buffers of a call before it is parsed.
//!
//! MPI rejects invalid ones on this rank, without a message. So it does not matter whether Roundel or MPI serves the
//! other ranks: they wait for this one, as they would in MPI.

use super::call::in_place;
use crate::error::Error;
use crate::mpi::arguments::call::{MpiCall, Reduced, Scattered, Typed};
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists, ParsedCall, Side, Unread};
use crate::mpi::handles::datatype::{self, facts};
use crate::mpi::handles::operand;
use crate::mpi::handles::quiet;
use crate::transport::RankPlacement;
use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::c_void;

/// Checks all arguments of a call that are used on this rank.
pub(crate) fn arguments(call: &MpiCall, here: RankPlacement<'_>) -> Result<(), Error> {
    let is_root = |root| here.rank as i64 == i64::from(root);
    match call {
        MpiCall::Allgather { send, recv } | MpiCall::Alltoall { send, recv } => {
            send.iter().try_for_each(leaves)?;
            arrives(recv)
        }
        MpiCall::Allgatherv { send, recv } => {
            send.iter().try_for_each(leaves)?;
            scattered(recv, quiet::receives)
        }
        MpiCall::Alltoallv { send, recv } => {
            send.iter().try_for_each(|send| scattered(send, quiet::sends))?;
            scattered(recv, quiet::receives)
        }
        MpiCall::Broadcast { data, root } if is_root(*root) => leaves(data),
        MpiCall::Broadcast { data, .. } => arrives(data),
        MpiCall::Gather { send, recv, root } => {
            needs_buffer(send, is_root(*root))?;
            send.iter().try_for_each(leaves)?;
            if is_root(*root) { arrives(recv) } else { Ok(()) }
        }
        MpiCall::Scatter { send, recv, root } => {
            needs_buffer(recv, is_root(*root))?;
            recv.iter().try_for_each(arrives)?;
            if is_root(*root) { leaves(send) } else { Ok(()) }
        }
        MpiCall::Reduce { data, root, .. } => {
            needs_buffer(&data.send, is_root(*root))?;
            reduced(data, is_root(*root))
        }
        MpiCall::Allreduce { data, .. }
        | MpiCall::ReduceScatter { data, .. }
        | MpiCall::ReduceScatterBlock { data, .. } => reduced(data, true),
    }
}

/// Only the root of a collective may pass `MPI_IN_PLACE` here.
fn needs_buffer<T>(given: &Option<T>, is_root: bool) -> Result<(), Error> {
    if given.is_some() || is_root { Ok(()) } else { Err(Error::Misplaced) }
}

fn leaves(typed: &Typed) -> Result<(), Error> {
    address(typed.address)?;
    known(typed.datatype, quiet::sends)
}

fn arrives(typed: &Typed) -> Result<(), Error> {
    address(typed.address)?;
    known(typed.datatype, quiet::receives)
}

fn scattered(blocks: &Scattered, asks: fn(ffi::MPI_Datatype) -> Result<(), Error>) -> Result<(), Error> {
    address(blocks.address)?;
    known(blocks.datatype, asks)
}

fn reduced(data: &Reduced, gets: bool) -> Result<(), Error> {
    if gets {
        address(data.recv)?;
    }
    operand::vouch(data.op, data.datatype)
}

/// Returns an error for MPI_IN_PLACE where a buffer is required.
fn address(address: *mut c_void) -> Result<(), Error> {
    if address == in_place() { Err(Error::Misplaced) } else { Ok(()) }
}

/// Checks a datatype. Predefined ones are never freed, so one that was checked stays valid.
fn known(datatype: ffi::MPI_Datatype, asks: fn(ffi::MPI_Datatype) -> Result<(), Error>) -> Result<(), Error> {
    if datatype::is_known(datatype) { Ok(()) } else { asks(datatype) }
}

/// Checks the buffers of a parsed call: data requires memory, and the send buffer must not overlap the receive
/// buffer. MPI forbids both. MPICH rejects buffers with the same address; otherwise the data to send is copied first,
/// which makes the overlap harmless.
pub(crate) fn buffers(job: &mut ParsedCall, lists: &Lists, here: RankPlacement<'_>) -> Result<(), Unread> {
    let shape = &job.shape;
    let leaving = matches!(shape.blocks, BlockLayout::Private).then_some((&lists.leaving, &lists.leaves_at));
    let arriving =
        matches!(shape.blocks, BlockLayout::Private | BlockLayout::Listed).then_some((&lists.counts, &lists.displs));
    let (sends, gets) = (shape.send.unwrap_or(0) * shape.size, shape.recv * shape.size);
    let lead = job.operands.map(|(_, known)| known.true_lb);
    let from = begin(&job.send, sends, lead, leaving)?;
    let to = begin(&job.recv, gets, lead, arriving)?;
    let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
    let (leads, lies) = own_places(&job.shape, lists, here);
    // The blocks of an alltoallv may lie apart in one buffer.
    let apart = shape.blocks == BlockLayout::Private && lists.leaves_at != lists.displs;
    if from.wrapping_add(leads) == to.wrapping_add(lies) && !apart && !takes_same_buffer() {
        return Err(Unread::Library);
    }
    let overlap = from < to.saturating_add(gets) && to < from.saturating_add(sends);
    if let (true, Side::Plain(address)) = (overlap, job.send) {
        // SAFETY: the handle is a constant of the library.
        let datatype = unsafe { ffi::RSMPI_UINT8_T };
        job.send = Side::Packed(Typed { address: address.cast(), count: sends, datatype });
    }
    Ok(())
}

/// The positions of this rank's block in its send and receive buffers: MPICH compares these.
fn own_places(shape: &CallShape, lists: &Lists, here: RankPlacement<'_>) -> (usize, usize) {
    let rank = here.rank;
    match (shape.kind, &shape.blocks) {
        (Kind::Allgather, BlockLayout::Equal(block)) => (0, rank * block),
        (Kind::Allgather, BlockLayout::Listed) => (0, lists.displs.get(rank).copied().unwrap_or(0)),
        (Kind::Gather, _) => (0, rank * shape.bytes as usize),
        (Kind::Scatter, _) => (rank * shape.bytes as usize, 0),
        _ => (0, 0),
    }
}

/// Where a buffer begins, if it has data. Address 0 itself holds none. Data that a datatype places relative to it
/// (MPI_BOTTOM) has no definite beginning, so two such buffers never count as identical.
fn begin(
    side: &Side,
    length: usize,
    lead: Option<isize>,
    listed: Option<(&Vec<usize>, &Vec<usize>)>,
) -> Result<Option<usize>, Unread> {
    let (address, first) = match side {
        _ if length == 0 => return Ok(None),
        Side::Plain(address) => (address.addr(), Some(0)),
        // SAFETY: the datatypes of a parsed call are valid.
        Side::Packed(typed) => (typed.address.addr(), Some(unsafe { facts(typed.datatype)? }.true_lb)),
        Side::PackedBlocks(blocks) => (blocks.address.addr(), None),
        Side::Elements { address, .. } => (address.addr(), lead),
    };
    let at_zero = match listed {
        Some((lengths, begins)) => {
            first.is_some() && lengths.iter().zip(begins).any(|(&length, &begin)| length > 0 && begin == 0)
        }
        None => first == Some(0),
    };
    match address {
        0 if at_zero => Err(Unread::Library),
        0 => Ok(None),
        _ => Ok(Some(address)),
    }
}

/// Whether this MPI accepts identical send and receive buffers. MPICH and its descendants, whose handles are numbers,
/// report an error.
fn takes_same_buffer() -> bool {
    size_of::<ffi::MPI_Comm>() == size_of::<usize>()
}

/// A reduction whose buffers are identical runs in place where the MPI library does so. No library accepts this for a
/// reduction to a root.
pub(crate) fn same_buffer(kind: Kind, data: Reduced, gets: bool) -> Result<Reduced, Unread> {
    match data.send {
        Some(send) if gets && send == data.recv.cast_const() => match takes_same_buffer() && kind != Kind::Reduce {
            true => Ok(Reduced { send: None, ..data }),
            false => Err(Unread::Library),
        },
        _ => Ok(data),
    }
}
