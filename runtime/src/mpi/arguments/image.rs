//! Roundel's own copies of elements that are not plain bytes in order: packed, or with the program's gaps.
//!
//! Before a call this rank's contribution is copied into the image, and afterwards its result is copied out. MPI
//! itself does both, so gaps in the program's memory are neither read nor written.

use crate::call::rooted::{BlockStorage, RootedLayout};
use crate::error::Error;
use crate::mpi::arguments::call::{Scattered, Typed};
use crate::mpi::arguments::shape::{CallShape, Lists, ParsedCall, Side};
use crate::mpi::handles::datatype::{Facts, facts};
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::{c_int, c_void};
use std::ops::Range;

/// The most bytes that one call packs: MPI counts them in a C `int`.
const PACKED: usize = 1 << 30;

/// The images of a call's two buffers.
#[derive(Debug, Default)]
pub(crate) struct Images {
    send: Scratch,
    recv: Scratch,
}

/// The addresses of a call's buffers for its plan: the program's memory, or images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    pub(crate) send: *mut u8,
    pub(crate) recv: *mut u8,
}

/// The rank and communicator of a call.
#[derive(Clone, Copy)]
pub(crate) struct Rank {
    pub(crate) comm: ffi::MPI_Comm,
    pub(crate) rank: usize,
    pub(crate) p: usize,
}

impl Images {
    /// The size of both images in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.send.memory() + self.recv.memory()
    }

    /// Copies this rank's contribution into the images.
    ///
    /// # Safety
    /// The job's memory and handles are live, and the lists are the job's.
    pub(crate) unsafe fn bring(&mut self, job: &ParsedCall, lists: &Lists, rank: Rank) -> Result<Sides, Error> {
        let CallShape { size, .. } = job.shape;
        // SAFETY: the caller guarantees live memory; images have room for all blocks.
        unsafe {
            let send = match job.send {
                Side::Plain(address) => address,
                side => {
                    let image = self.send.reserve(job.shape.send.unwrap_or(0) * size);
                    let blocks = ImageBlocks { lengths: &lists.leaving, begins: &lists.leaves_at };
                    into_image(&side, job, blocks, 0..rank.p, image, rank)?;
                    image
                }
            };
            let recv = match job.recv {
                Side::Plain(address) => address,
                side => {
                    let image = self.recv.reserve(job.shape.recv * size);
                    let blocks = ImageBlocks { lengths: &lists.counts, begins: &lists.displs };
                    into_image(&side, job, blocks, brought(&job.shape, rank.rank, rank.p), image, rank)?;
                    image
                }
            };
            Ok(Sides { send, recv })
        }
    }

    /// Copies this rank's result out of the images.
    ///
    /// # Safety
    /// The same as for [`bring`](Images::bring), which returned these sides.
    pub(crate) unsafe fn take(&self, job: &ParsedCall, lists: &Lists, sides: Sides, rank: Rank) -> Result<(), Error> {
        let is_root = rank.rank as i64 == job.shape.root;
        let nothing = match job.shape.kind {
            Kind::Broadcast => is_root,
            Kind::Scatter => is_root && job.shape.send.is_none(),
            _ => false,
        };
        if nothing {
            return Ok(());
        }
        let blocks = ImageBlocks { lengths: &lists.counts, begins: &lists.displs };
        // SAFETY: the caller guarantees live memory; images have all blocks.
        unsafe { out_of_image(&job.recv, job, blocks, sides.recv, rank) }
    }
}

/// Lengths and offsets of blocks in an image.
#[derive(Clone, Copy)]
struct ImageBlocks<'a> {
    lengths: &'a [usize],
    begins: &'a [usize],
}

/// The ranks whose blocks lie in the receive buffer before a call.
fn brought(shape: &CallShape, rank: usize, p: usize) -> Range<usize> {
    let scattered = matches!(
        shape.blocks,
        crate::mpi::arguments::shape::BlockLayout::Rooted(RootedLayout { storage: BlockStorage::Scratch { .. }, .. })
    );
    let is_root = rank as i64 == shape.root;
    match shape.kind {
        _ if shape.send.is_some() || scattered => 0..0,
        Kind::Allgather | Kind::Gather => rank..rank + 1,
        Kind::Broadcast if !is_root => 0..0,
        _ => 0..p,
    }
}

/// Packs the blocks of these ranks, or copies elements.
unsafe fn into_image(
    side: &Side,
    job: &ParsedCall,
    blocks: ImageBlocks<'_>,
    ranks: Range<usize>,
    image: *mut u8,
    rank: Rank,
) -> Result<(), Error> {
    // SAFETY: the caller guarantees live memory, and room for all blocks.
    unsafe {
        match *side {
            Side::Plain(_) => Ok(()),
            Side::Packed(typed) => {
                let (first, count) = part(&typed, ranks, rank.p);
                pack(&typed, first, count, image, rank)
            }
            Side::PackedBlocks(scattered) => ranks.into_iter().try_for_each(|of| {
                let typed = block(&scattered, of)?;
                pack(&typed, 0, typed.count, image.wrapping_add(blocks.begins[of]), rank)
            }),
            Side::Elements { address, brings, .. } => copy(job, address, image, brings, In, rank),
        }
    }
}

/// Unpacks all blocks, or copies elements.
unsafe fn out_of_image(
    side: &Side,
    job: &ParsedCall,
    blocks: ImageBlocks<'_>,
    image: *mut u8,
    rank: Rank,
) -> Result<(), Error> {
    // SAFETY: the caller guarantees live memory, and that all blocks are there.
    unsafe {
        match *side {
            Side::Plain(_) => Ok(()),
            Side::Packed(typed) => unpack(&typed, image, rank),
            Side::PackedBlocks(scattered) => (0..blocks.lengths.len())
                .try_for_each(|of| unpack(&block(&scattered, of)?, image.wrapping_add(blocks.begins[of]), rank)),
            Side::Elements { address, gets, .. } => copy(job, address, image, gets, Out, rank),
        }
    }
}

/// The elements of some ranks in a buffer: the first, and their number.
fn part(typed: &Typed, ranks: Range<usize>, p: usize) -> (usize, usize) {
    match ranks.len() {
        all if all == p => (0, typed.count),
        some => (typed.count / p * ranks.start, typed.count / p * some),
    }
}

/// A rank's block.
unsafe fn block(scattered: &Scattered, rank: usize) -> Result<Typed, Error> {
    // SAFETY: the caller guarantees complete lists and live handles.
    unsafe {
        let extent = facts(scattered.datatype)?.extent;
        let (count, displ) = (scattered.counts.get(rank) as usize, scattered.displs.get(rank) as isize);
        let address = scattered.address.wrapping_byte_offset(displ.wrapping_mul(extent));
        Ok(Typed { address, count, datatype: scattered.datatype })
    }
}

/// The number of elements of a datatype that one call packs.
fn at_a_time(known: &Facts) -> Result<usize, Error> {
    let limit = c_int::MAX as usize;
    match known.size {
        size if size > limit => Err(Error::TooLarge { what: "an element, in bytes,", elements: size, limit }),
        size => Ok((PACKED / size.max(1)).max(1)),
    }
}

/// Packs elements from number `first` on, to their position among all elements.
unsafe fn pack(typed: &Typed, first: usize, count: usize, image: *mut u8, rank: Rank) -> Result<(), Error> {
    // SAFETY: the caller guarantees a live datatype.
    let known = unsafe { facts(typed.datatype)? };
    let step = at_a_time(&known)?;
    for at in (first..first + count).step_by(step) {
        let piece = ImagePiece::new(typed, &known, at, step.min(first + count - at), image);
        let (bytes, mut end) = (piece.bytes as c_int, 0);
        // SAFETY: there are elements there, and room for their bytes.
        unsafe {
            if !piece.program.is_null() {
                let (from, to) = (piece.program, piece.image);
                let code = ffi::MPI_Pack(from, piece.count as c_int, piece.datatype, to, bytes, &mut end, rank.comm);
                check("MPI_Pack", code)?;
            }
            if end != bytes {
                piece.by_messages(&known, In, rank)?;
            }
        }
    }
    Ok(())
}

/// Unpacks all elements.
unsafe fn unpack(typed: &Typed, image: *const u8, rank: Rank) -> Result<(), Error> {
    // SAFETY: the caller guarantees a live datatype.
    let known = unsafe { facts(typed.datatype)? };
    let step = at_a_time(&known)?;
    for at in (0..typed.count).step_by(step) {
        let piece = ImagePiece::new(typed, &known, at, step.min(typed.count - at), image.cast_mut());
        let (bytes, mut end) = (piece.bytes as c_int, 0);
        // SAFETY: there is room for the elements there, and their bytes are in the image.
        unsafe {
            if !piece.program.is_null() {
                let (from, to) = (piece.image, piece.program);
                let code =
                    ffi::MPI_Unpack(from, bytes, &mut end, to, piece.count as c_int, piece.datatype, rank.comm);
                check("MPI_Unpack", code)?;
            }
            if end != bytes {
                piece.by_messages(&known, Out, rank)?;
            }
        }
    }
    Ok(())
}

/// Elements of the program, and the position of their bytes in an image.
struct ImagePiece {
    program: *mut c_void,
    count: usize,
    datatype: ffi::MPI_Datatype,
    image: *mut c_void,
    bytes: usize,
}

/// The longest message of a rank to itself: MPICH truncates long ones that have gaps.
const LONGEST: usize = 4096;

impl ImagePiece {
    fn new(typed: &Typed, known: &Facts, at: usize, count: usize, image: *mut u8) -> Self {
        ImagePiece {
            program: typed.address.wrapping_byte_offset((at as isize).wrapping_mul(known.extent)),
            count,
            datatype: typed.datatype,
            image: image.wrapping_add(at * known.size).cast(),
            bytes: count * known.size,
        }
    }

    /// MPICH's pack functions skip data at MPI_BOTTOM, which is null, and some data near it; but its messages
    /// transfer all of it.
    ///
    /// # Safety
    /// The elements are live, and so are their bytes.
    unsafe fn by_messages(&self, known: &Facts, direction: CopyDirection, rank: Rank) -> Result<(), Error> {
        let step = (LONGEST / known.size.max(1)).max(1);
        for at in (0..self.count).step_by(step) {
            let count = step.min(self.count - at);
            let program = self.program.wrapping_byte_offset((at as isize).wrapping_mul(known.extent));
            let elements = (program, count as c_int, self.datatype);
            // SAFETY: the handle is a constant of the library.
            let byte = unsafe { ffi::RSMPI_UINT8_T };
            let bytes = (self.image.wrapping_byte_add(at * known.size), (count * known.size) as c_int, byte);
            let (from, to) = if direction == In { (elements, bytes) } else { (bytes, elements) };
            // SAFETY: the caller guarantees it.
            check("MPI_Sendrecv", unsafe { to_self(from, to, rank) })?;
        }
        Ok(())
    }
}

/// The direction of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyDirection {
    In,
    Out,
}
use CopyDirection::{In, Out};

/// The tag of messages of a rank to itself.
const OWN: c_int = 7;

/// Copies elements without the gaps between their parts. Only MPI knows the gaps, so this rank sends the elements to
/// itself.
unsafe fn copy(
    job: &ParsedCall,
    program: *mut u8,
    image: *mut u8,
    elements: usize,
    direction: CopyDirection,
    rank: Rank,
) -> Result<(), Error> {
    let Some((_, known)) = &job.operands else { return Ok(()) };
    let (image, datatype) = (image.wrapping_offset(-known.true_lb), job.shape.datatype);
    for at in (0..elements).step_by(LIMIT) {
        let count = LIMIT.min(elements - at) as c_int;
        let offset = (at as isize).wrapping_mul(known.extent);
        let (program, image) = (program.wrapping_offset(offset), image.wrapping_offset(offset));
        let (from, to) = if direction == In { (program, image) } else { (image, program) };
        let (from, to) = ((from.cast(), count, datatype), (to.cast(), count, datatype));
        // SAFETY: one end has the elements and the other has room for them.
        check("MPI_Sendrecv", unsafe { to_self(from, to, rank) })?;
    }
    Ok(())
}

/// A buffer to send from or to receive into.
type Parcel = (*mut c_void, c_int, ffi::MPI_Datatype);

/// A message of this rank to itself.
///
/// # Safety
/// One end has the elements and the other has room for them.
unsafe fn to_self(from: Parcel, to: Parcel, rank: Rank) -> c_int {
    let own = rank.rank as c_int;
    // SAFETY: the caller guarantees elements and room; the status is a constant of the library.
    unsafe {
        let none = ffi::RSMPI_STATUS_IGNORE;
        ffi::PMPI_Sendrecv(from.0, from.1, from.2, own, OWN, to.0, to.1, to.2, own, OWN, rank.comm, none)
    }
}
