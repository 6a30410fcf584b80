//! A call as a plan sees it: lengths and positions in bytes or in elements, without addresses.
//!
//! Data that only moves is bytes. Data that is reduced is elements of the program's datatype, because its operation
//! requires that. A datatype whose elements are not plain bytes in order goes through an *image*: packed bytes, or
//! elements in Roundel's own memory.

use crate::call::geometry::Varying;
use crate::call::reduction::Division;
use crate::call::rooted::{BlockStorage, RootedLayout};
use crate::choice::selection::ANY;
use crate::error::Error;
use crate::mpi::arguments::call::{IntList, MpiCall, Reduced, Scattered, Typed};
use crate::mpi::arguments::vouch;
use crate::mpi::handles::datatype::{Facts, facts};
use crate::mpi::handles::operand;
use crate::transport::RankPlacement;
use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The layout of a call's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockLayout {
    /// Contiguous blocks of this length, one for each rank: an allgather or an alltoall.
    Equal(usize),
    /// Blocks given by the lists: an allgatherv.
    Listed,
    /// Blocks given by lists that differ between ranks: an alltoallv.
    Private,
    /// A reduced vector. This rank gets either all of the result or none of it.
    Vector {
        /// Whether the result belongs to another rank.
        elsewhere: bool,
    },
    /// A reduced vector with a part of the same length for every rank.
    Parts,
    /// A reduced vector with a part for every rank, given by the lists.
    ListedParts,
    /// The blocks of a collective with a root.
    Rooted(RootedLayout),
}

/// Everything that determines the plan of a call. Calls with equal shapes, and equal lists if any, have the same
/// plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CallShape {
    pub(crate) kind: Kind,
    pub(crate) root: i64,
    pub(crate) blocks: BlockLayout,
    /// The datatype of messages.
    pub(crate) datatype: ffi::MPI_Datatype,
    /// The distance between consecutive elements, in bytes.
    pub(crate) size: usize,
    /// The number of elements to send; `None` if they lie in the receive buffer.
    pub(crate) send: Option<usize>,
    pub(crate) recv: usize,
    /// Further inputs to the choice of an algorithm.
    pub(crate) commutes: bool,
    /// Whether all reduction trees give the same result.
    pub(crate) exact: bool,
    pub(crate) bytes: u64,
}

/// What a call's address points to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// Bytes that a plan uses directly; null if there are none.
    Plain(*mut u8),
    /// Elements that are packed.
    Packed(Typed),
    /// Blocks that are packed, one after the other.
    PackedBlocks(Scattered),
    /// Elements with gaps, which are copied in and out.
    Elements {
        /// The program's address.
        address: *mut u8,
        /// The number of elements to copy in.
        brings: usize,
        /// The number of elements to copy out.
        gets: usize,
    },
}

/// A parsed call.
#[derive(Debug)]
pub(crate) struct ParsedCall {
    pub(crate) shape: CallShape,
    pub(crate) send: Side,
    pub(crate) recv: Side,
    /// The operation of a reduction, and the properties of its datatype.
    pub(crate) operands: Option<(ffi::MPI_Op, Facts)>,
}

/// Lengths and offsets of blocks, kept from call to call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    pub(crate) counts: Vec<usize>,
    pub(crate) displs: Vec<usize>,
    /// The same for the blocks that this rank sends in an alltoallv.
    pub(crate) leaving: Vec<usize>,
    pub(crate) leaves_at: Vec<usize>,
}

impl Lists {
    /// Removes the entries and keeps their memory.
    pub(crate) fn clear(&mut self) {
        let Lists { counts, displs, leaving, leaves_at } = self;
        [counts, displs, leaving, leaves_at].into_iter().for_each(Vec::clear);
    }

    /// Takes over the entries of others, and keeps its memory.
    fn copy(&mut self, Lists { counts, displs, leaving, leaves_at }: &Lists) {
        self.counts.clone_from(counts);
        self.displs.clone_from(displs);
        self.leaving.clone_from(leaving);
        self.leaves_at.clone_from(leaves_at);
    }
}

/// The lists of the last alltoallv.
#[derive(Debug, Default)]
pub(crate) struct LastLists(Lists);

impl LastLists {
    /// Whether they are these; keeps these.
    pub(crate) fn is(&mut self, lists: &Lists) -> bool {
        let same = self.0 == *lists;
        if !same {
            self.0.copy(lists);
        }
        same
    }
}

/// Why a call was not parsed: MPI must serve it, or it failed.
#[derive(Debug)]
pub(crate) enum Unread {
    Library,
    Failed(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Unread::Failed(error)
    }
}

/// Parses a call.
///
/// # Safety
/// Its handles are live, and its lists have an entry for each rank.
pub(crate) unsafe fn read(call: &MpiCall, here: RankPlacement<'_>, lists: &mut Lists) -> Result<ParsedCall, Unread> {
    lists.clear();
    vouch::arguments(call, here)?;
    // SAFETY: the caller guarantees it.
    let mut job = unsafe { taken_apart(call, here, lists)? };
    vouch::buffers(&mut job, lists, here)?;
    Ok(job)
}

/// # Safety
/// The same as for [`read`]; and the handles are valid.
unsafe fn taken_apart(call: &MpiCall, here: RankPlacement<'_>, lists: &mut Lists) -> Result<ParsedCall, Unread> {
    let reader = Reader { here, p: here.p() };
    // SAFETY: the caller guarantees what these functions require.
    unsafe {
        match *call {
            MpiCall::Allgather { send, recv } => reader.allgather(send, recv),
            MpiCall::Allgatherv { send, recv } => reader.allgatherv(send, recv, lists),
            MpiCall::Alltoall { send, recv } => reader.alltoall(send, recv),
            MpiCall::Alltoallv { send, recv } => reader.alltoallv(send, recv, lists),
            MpiCall::Broadcast { data, root } => reader.broadcast(data, root.into()),
            MpiCall::Gather { send, recv, root } => reader.gather(send, recv, root.into()),
            MpiCall::Scatter { send, recv, root } => reader.scatter(send, recv, root.into()),
            MpiCall::Allreduce { data, count } => {
                reader.reduction(Kind::Allreduce, 0, data, count, BlockLayout::Vector { elsewhere: false })
            }
            MpiCall::Reduce { data, count, root } => {
                let elsewhere = here.rank as i64 != i64::from(root);
                reader.reduction(Kind::Reduce, root.into(), data, count, BlockLayout::Vector { elsewhere })
            }
            MpiCall::ReduceScatterBlock { data, count } => {
                let total = count.checked_mul(here.p()).ok_or(Unread::Library)?;
                reader.reduction(Kind::ReduceScatter, 0, data, total, BlockLayout::Parts)
            }
            MpiCall::ReduceScatter { data, counts } => {
                let total = push_counts(counts, here.p(), 1, &mut lists.counts)?;
                let job = reader.reduction(Kind::ReduceScatter, 0, data, total, BlockLayout::ListedParts)?;
                Ok(reader.own_part(job, lists.counts[here.rank]))
            }
        }
    }
}

struct Reader<'a> {
    here: RankPlacement<'a>,
    p: usize,
}

impl Reader<'_> {
    fn bytes(&self, kind: Kind, blocks: BlockLayout, send: Option<usize>, recv: usize, bytes: u64) -> CallShape {
        // SAFETY: the handle is a constant of the library.
        let datatype = unsafe { ffi::RSMPI_UINT8_T };
        CallShape { kind, root: 0, blocks, datatype, size: 1, send, recv, commutes: true, exact: true, bytes }
    }

    unsafe fn allgather(&self, send: Option<Typed>, recv: Typed) -> Result<ParsedCall, Unread> {
        // SAFETY: the caller guarantees live datatypes.
        let (own, block) = unsafe { (send.map(|send| length(&send)).transpose()?, length(&recv)?) };
        same(own, block)?;
        let all = block.checked_mul(self.p).ok_or(Unread::Library)?;
        let recv = Typed { count: times(recv.count, self.p)?, ..recv };
        // SAFETY: as above.
        let (send, recv) = unsafe { (side_or_null(send)?, side(recv)?) };
        let shape = self.bytes(Kind::Allgather, BlockLayout::Equal(block), own, all, block as u64);
        Ok(ParsedCall { shape, send, recv, operands: None })
    }

    unsafe fn allgatherv(
        &self,
        send: Option<Typed>,
        recv: Scattered,
        lists: &mut Lists,
    ) -> Result<ParsedCall, Unread> {
        // SAFETY: the caller guarantees live datatypes and complete lists.
        let (own, known) = unsafe { (send.map(|send| length(&send)).transpose()?, facts(recv.datatype)?) };
        let total = push_counts(recv.counts, self.p, known.size, &mut lists.counts)?;
        same(own, lists.counts[self.here.rank])?;
        // SAFETY: as above.
        let (recv, end) = unsafe { self.blocks(recv, &known, &lists.counts, &mut lists.displs, Overlap::Packed) };
        // SAFETY: as above.
        let send = unsafe { side_or_null(send)? };
        let shape = self.bytes(Kind::Allgather, BlockLayout::Listed, own, end, (total / self.p) as u64);
        Ok(ParsedCall { shape, send, recv, operands: None })
    }

    unsafe fn alltoall(&self, send: Option<Typed>, recv: Typed) -> Result<ParsedCall, Unread> {
        // SAFETY: the caller guarantees live datatypes.
        let (own, block) = unsafe { (send.map(|send| length(&send)).transpose()?, length(&recv)?) };
        same(own, block)?;
        let all = block.checked_mul(self.p).ok_or(Unread::Library)?;
        let whole = |typed: Typed| Ok::<_, Unread>(Typed { count: times(typed.count, self.p)?, ..typed });
        // SAFETY: as above.
        let (send, recv) = unsafe { (side_or_null(send.map(whole).transpose()?)?, side(whole(recv)?)?) };
        let shape = self.bytes(Kind::Alltoall, BlockLayout::Equal(block), own.map(|_| all), all, block as u64);
        Ok(ParsedCall { shape, send, recv, operands: None })
    }

    unsafe fn alltoallv(
        &self,
        send: Option<Scattered>,
        recv: Scattered,
        lists: &mut Lists,
    ) -> Result<ParsedCall, Unread> {
        // SAFETY: the caller guarantees live datatypes and complete lists.
        let known = unsafe { facts(recv.datatype)? };
        push_counts(recv.counts, self.p, known.size, &mut lists.counts)?;
        // SAFETY: as above.
        let (recv, end) = unsafe { self.blocks(recv, &known, &lists.counts, &mut lists.displs, Overlap::Packed) };
        let (mut from, mut leaves) = (Side::Plain(null_mut()), None);
        if let Some(send) = send {
            // SAFETY: as above.
            let known = unsafe { facts(send.datatype)? };
            push_counts(send.counts, self.p, known.size, &mut lists.leaving)?;
            // SAFETY: as above.
            let (side, end) =
                unsafe { self.blocks(send, &known, &lists.leaving, &mut lists.leaves_at, Overlap::Fine) };
            (from, leaves) = (side, Some(end));
        }
        let shape = self.bytes(Kind::Alltoall, BlockLayout::Private, leaves, end, ANY);
        Ok(ParsedCall { shape, send: from, recv, operands: None })
    }

    unsafe fn broadcast(&self, data: Typed, root: i64) -> Result<ParsedCall, Unread> {
        self.has(root)?;
        // SAFETY: the caller guarantees live datatypes.
        let (total, recv) = unsafe { (length(&data)?, side(data)?) };
        let layout = RootedLayout { total, input_at: 0, storage: BlockStorage::Output };
        Ok(self.layout(Kind::Broadcast, root, layout, None, total, total, Side::Plain(null_mut()), recv))
    }

    unsafe fn gather(&self, send: Option<Typed>, recv: Typed, root: i64) -> Result<ParsedCall, Unread> {
        self.has(root)?;
        let is_root = self.here.rank as i64 == root;
        // SAFETY: the caller guarantees live datatypes: on the root, of both buffers.
        let own = unsafe { send.map(|send| length(&send)).transpose()? };
        let block = match (own, is_root) {
            // SAFETY: as above.
            (None, true) => unsafe { length(&recv)? },
            (None, false) => return Err(Unread::Library),
            (Some(own), _) => own,
        };
        let total = block.checked_mul(self.p).ok_or(Unread::Library)?;
        // SAFETY: as above.
        let from = unsafe { side_or_null(send)? };
        if !is_root {
            let storage = BlockStorage::Scratch { result_at: 0 };
            let layout = RootedLayout { total, input_at: self.here.rank * block, storage };
            let nothing = Side::Plain(null_mut());
            return Ok(self.layout(Kind::Gather, root, layout, own, 0, block, from, nothing));
        }
        // SAFETY: as above.
        unsafe {
            same(Some(length(&recv)?), block)?;
            let recv = side(Typed { count: times(recv.count, self.p)?, ..recv })?;
            let layout = RootedLayout { total, input_at: self.here.rank * block, storage: BlockStorage::Output };
            Ok(self.layout(Kind::Gather, root, layout, own, total, block, from, recv))
        }
    }

    unsafe fn scatter(&self, send: Typed, recv: Option<Typed>, root: i64) -> Result<ParsedCall, Unread> {
        self.has(root)?;
        let is_root = self.here.rank as i64 == root;
        // SAFETY: the caller guarantees live datatypes: on the root, of both buffers.
        let own = unsafe { recv.map(|recv| length(&recv)).transpose()? };
        let block = match (own, is_root) {
            // SAFETY: as above.
            (None, true) => unsafe { length(&send)? },
            (None, false) => return Err(Unread::Library),
            (Some(own), _) => own,
        };
        let total = block.checked_mul(self.p).ok_or(Unread::Library)?;
        let storage = BlockStorage::Scratch { result_at: self.here.rank * block };
        let layout = RootedLayout { total, input_at: 0, storage };
        // SAFETY: as above.
        let to = unsafe { side_or_null(recv)? };
        if !is_root {
            let nothing = Side::Plain(null_mut());
            return Ok(self.layout(Kind::Scatter, root, layout, None, block, block, nothing, to));
        }
        // SAFETY: as above.
        let (given, all) = unsafe { (length(&send)?, side(Typed { count: times(send.count, self.p)?, ..send })?) };
        same(Some(given), block)?;
        match own {
            Some(_) => Ok(self.layout(Kind::Scatter, root, layout, Some(total), block, block, all, to)),
            None => {
                // The data stays where it is, and nothing is written there.
                let storage = RootedLayout { total, input_at: 0, storage: BlockStorage::Output };
                let nothing = Side::Plain(null_mut());
                Ok(self.layout(Kind::Scatter, root, storage, None, total, block, nothing, all))
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "what a call with a root is made of")]
    fn layout(
        &self,
        kind: Kind,
        root: i64,
        layout: RootedLayout,
        send: Option<usize>,
        recv: usize,
        bytes: usize,
        from: Side,
        to: Side,
    ) -> ParsedCall {
        let shape = CallShape { root, ..self.bytes(kind, BlockLayout::Rooted(layout), send, recv, bytes as u64) };
        ParsedCall { shape, send: from, recv: to, operands: None }
    }

    /// A reduction of a number of elements.
    unsafe fn reduction(
        &self,
        kind: Kind,
        root: i64,
        data: Reduced,
        elements: usize,
        blocks: BlockLayout,
    ) -> Result<ParsedCall, Unread> {
        self.has(root)?;
        let elsewhere = blocks == BlockLayout::Vector { elsewhere: true };
        let data = vouch::same_buffer(kind, data, !elsewhere && elements > 0)?;
        // SAFETY: the caller guarantees live handles.
        let (known, commutes) = unsafe { (facts(data.datatype)?, operand::commutes(data.op)?) };
        if known.size == 0 {
            return Err(Unread::Library);
        }
        if !known.is_tidy() {
            return Err(Unread::Failed(Error::Entangled));
        }
        let size = known.extent as usize;
        let bytes = elements.checked_mul(known.size.max(size)).filter(|&bytes| bytes <= isize::MAX as usize);
        let vector = bytes.ok_or(Unread::Library)? / size.max(known.size) * known.size;
        let bytes = if kind == Kind::ReduceScatter { vector / self.p } else { vector };
        let gets = match blocks {
            BlockLayout::Vector { elsewhere: true } => 0,
            BlockLayout::Parts => elements / self.p,
            _ => elements,
        };
        let in_place = data.send.is_none();
        let (send, recv, from, to) = if known.dense {
            let recv = if in_place { elements } else { gets };
            let from = Side::Plain(data.send.unwrap_or(null()).cast::<u8>().cast_mut());
            ((!in_place).then_some(elements), recv, from, Side::Plain(data.recv.cast()))
        } else {
            let brings = Side::Elements { address: given(&data).cast(), brings: elements, gets: 0 };
            let takes = |brings| Side::Elements { address: data.recv.cast(), brings, gets };
            match elsewhere {
                true => (Some(elements), 0, brings, Side::Plain(null_mut())),
                false if in_place => (None, elements, Side::Plain(null_mut()), takes(elements)),
                false => (Some(elements), gets, brings, takes(0)),
            }
        };
        let (datatype, exact, bytes) = (data.datatype, operand::is_exact(data.op, data.datatype), bytes as u64);
        let shape = CallShape { kind, root, blocks, datatype, size, send, recv, commutes, exact, bytes };
        Ok(ParsedCall { shape, send: from, recv: to, operands: Some((data.op, known)) })
    }

    /// The same call, in which this rank gets only `own` elements.
    fn own_part(&self, mut job: ParsedCall, own: usize) -> ParsedCall {
        if job.shape.send.is_some() {
            job.shape.recv = own;
        }
        if let Side::Elements { gets, .. } = &mut job.recv {
            *gets = own;
        }
        job
    }

    /// The positions of blocks of known lengths, and where the last one ends.
    unsafe fn blocks(
        &self,
        blocks: Scattered,
        known: &Facts,
        lengths: &[usize],
        displs: &mut Vec<usize>,
        overlap: Overlap,
    ) -> (Side, usize) {
        if known.dense {
            // SAFETY: the caller guarantees complete lists.
            let at = |rank| unsafe { blocks.displs.get(rank) };
            let begin = |rank: usize| match lengths[rank] {
                0 => Some(0),
                _ => usize::try_from(at(rank)).ok()?.checked_mul(known.size),
            };
            displs.extend((0..self.p).map_while(begin));
            let mut ends = displs.iter().zip(lengths).map(|(&begin, &length)| begin.checked_add(length));
            let end = ends.try_fold(0, |most: usize, end| end.map(|end| most.max(end)));
            if let (true, Some(end)) = (displs.len() == self.p, end.filter(|&end| end <= isize::MAX as usize)) {
                let apart = overlap == Overlap::Fine || Varying::new(lengths, displs).reject_overlap().is_ok();
                if apart {
                    return (Side::Plain(blocks.address.cast()), end);
                }
            }
        }
        // Packed one after the other in an image.
        displs.clear();
        let mut end = 0;
        for &length in lengths {
            displs.push(end);
            end += length;
        }
        (Side::PackedBlocks(blocks), end)
    }

    fn has(&self, root: i64) -> Result<(), Unread> {
        if (0..self.p as i64).contains(&root) { Ok(()) } else { Err(Unread::Library) }
    }
}

/// Returns an error unless an alltoallv has the same length at both ends of this rank's block for itself.
pub(crate) fn same_own_block(shape: &CallShape, lists: &Lists, rank: usize) -> Result<(), Error> {
    let listed = shape.blocks == BlockLayout::Private && shape.send.is_some();
    if listed { same(Some(lists.leaving[rank]), lists.counts[rank]) } else { Ok(()) }
}

/// What to do about blocks that share bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlap {
    /// Nothing: they are only read.
    Fine,
    /// They are written. MPI forbids this, but programs do it for data that they ignore, and other ranks cannot
    /// know. So the blocks arrive separately and are unpacked one after the other.
    Packed,
}

/// A rank's contribution to a reduction.
fn given(data: &Reduced) -> *mut c_void {
    data.send.map_or(data.recv, <*const c_void>::cast_mut)
}

/// Returns an error unless blocks have the same length at both ends.
fn same(own: Option<usize>, block: usize) -> Result<(), Error> {
    match own {
        Some(found) if found != block => {
            let reason = "as many bytes as are received from each rank";
            Err(Error::Length { what: "what is sent, in bytes,", expected: block, found, reason })
        }
        _ => Ok(()),
    }
}

fn times(count: usize, p: usize) -> Result<usize, Unread> {
    count.checked_mul(p).ok_or(Unread::Library)
}

/// The bytes of data of the elements.
unsafe fn length(typed: &Typed) -> Result<usize, Unread> {
    // SAFETY: the caller guarantees a live datatype.
    let size = unsafe { facts(typed.datatype)?.size };
    size.checked_mul(typed.count).filter(|&bytes| bytes <= isize::MAX as usize).ok_or(Unread::Library)
}

unsafe fn side(typed: Typed) -> Result<Side, Error> {
    // SAFETY: the caller guarantees a live datatype.
    let dense = unsafe { facts(typed.datatype)?.dense };
    Ok(if dense || typed.count == 0 { Side::Plain(typed.address.cast()) } else { Side::Packed(typed) })
}

unsafe fn side_or_null(typed: Option<Typed>) -> Result<Side, Error> {
    // SAFETY: the caller guarantees a live datatype.
    typed.map_or(Ok(Side::Plain(null_mut())), |typed| unsafe { side(typed) })
}

/// Appends the bytes of each rank's block, and returns their sum.
fn push_counts(counts: IntList, p: usize, size: usize, into: &mut Vec<usize>) -> Result<usize, Unread> {
    let mut total = 0usize;
    for rank in 0..p {
        // SAFETY: the caller of `read` guarantees complete lists.
        let count = usize::try_from(unsafe { counts.get(rank) }).map_err(|_| Unread::Library)?;
        let bytes = count.checked_mul(size).ok_or(Unread::Library)?;
        total = total.checked_add(bytes).filter(|&all| all <= isize::MAX as usize).ok_or(Unread::Library)?;
        into.push(bytes);
    }
    Ok(total)
}

impl BlockLayout {
    /// The division of a reduced vector; `lengths` are those of listed parts.
    pub(crate) fn division<'a>(&self, lengths: &'a [usize]) -> Division<'a> {
        match self {
            BlockLayout::Vector { elsewhere: true } => Division::Elsewhere,
            BlockLayout::Parts => Division::Equal,
            BlockLayout::ListedParts => Division::Counts(lengths),
            _ => Division::Even,
        }
    }
}
