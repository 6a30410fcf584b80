//! A window of memory that the ranks of a node share, and the counters in it.
//!
//! One rank creates a file in memory, and the others map it. The file loses its name before the first call, so nothing
//! is left behind, however the job ends. Each rank unmaps it independently: unlike MPI's windows, it need not be freed
//! by all ranks together. All of its memory is allocated at once, so that a lack of memory is reported here and does
//! not kill a rank in the middle of a call.

use crate::error::Error;
use crate::mpi::comm::agree::agree_and_hear;
use crate::mpi::comm::node_members::NodeMembers;
use crate::mpi::process::code::check;
use crate::program::shared::{COUNTER, LINE};
use ::mpi::ffi;
use memmap2::MmapRaw;
use std::ffi::c_int;
use std::fs::{File, OpenOptions, remove_file};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A ring of slots of equal size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotRing {
    /// The number of slots, a power of two: how many segments a rank may be ahead of the others.
    pub(crate) slots: usize,
    /// The bytes of data in a slot.
    pub(crate) bytes: usize,
}

/// The two rings of a window.
pub(crate) type Rings = [SlotRing; 2];

/// The rings of a communicator: many small slots, so that a root may run ahead, and a few large ones.
pub(crate) const RINGS: Rings = [SlotRing { slots: 32, bytes: 16 * 1024 }, SlotRing { slots: 4, bytes: 512 * 1024 }];

/// A ring that no call uses.
const UNUSED: SlotRing = SlotRing { slots: 1, bytes: 0 };

/// The rings of a request whose calls need this many bytes: one ring, with as many slots as the large ring.
pub(crate) const fn request_rings(bytes: usize) -> Rings {
    let bytes = if bytes < RINGS[1].bytes { bytes.next_multiple_of(LINE) } else { RINGS[1].bytes };
    [SlotRing { slots: RINGS[1].slots, bytes }, UNUSED]
}

impl SlotRing {
    /// The slot of a segment.
    #[inline]
    pub(crate) const fn slot_of(&self, segment: u64) -> usize {
        segment as usize & (self.slots - 1)
    }

    /// The bytes of a slot for `p` ranks, with its counters.
    const fn slot(&self, p: usize) -> usize {
        p * LINE + self.bytes
    }

    /// The bytes of the ring, with the counters of completed segments.
    const fn all(&self, p: usize) -> usize {
        p * LINE + self.slots * self.slot(p)
    }
}

/// The folder for files in memory.
const FOLDER: &str = "/dev/shm";

/// Why a rank has no window although nothing has failed there.
const ELSEWHERE: &str = "another rank cannot map it, as if it had a /dev/shm of its own, like one in a container";

/// The tag of the messages with the window's name.
const NAMED: c_int = 6;

/// The bytes of the message with the window's name: its number, and its path.
const NAME: usize = 120;

/// The window of a communicator's ranks on one node.
///
/// A cache line with the window's number comes first, then the rings. A ring begins with a counter for each rank: the
/// number of segments that it has completed. Each slot has a counter for each rank's signals, and then data. Each
/// counter has its own cache line; the rest of the line holds short data.
pub(crate) struct SharedWindow {
    memory: MmapRaw,
    rings: [RingPlace; 2],
}

/// Where a ring is in the window.
#[derive(Clone, Copy)]
struct RingPlace {
    ring: SlotRing,
    /// Where the counters of completed segments begin.
    completed: usize,
    /// Where the first slot begins, and the distance between slots.
    first: usize,
    distance: usize,
}

impl RingPlace {
    /// A ring that begins at an offset.
    const fn at(begin: usize, ring: SlotRing, p: usize) -> Self {
        RingPlace { ring, completed: begin, first: begin + p * LINE, distance: ring.slot(p) }
    }
}

/// A counter in the window, and a description of its rank's call.
#[repr(C)]
pub(crate) struct WindowCounter {
    value: AtomicU64,
    call: AtomicU64,
}

const _: () = assert!(size_of::<WindowCounter>() == COUNTER);
const _: () = assert!(RINGS[0].slots.is_power_of_two() && RINGS[1].slots.is_power_of_two());

impl WindowCounter {
    /// Sets the value. A rank that reads it also sees all earlier writes.
    #[inline]
    pub(crate) fn publish(&self, value: u64) {
        self.value.store(value, Ordering::Release);
    }

    /// The value.
    #[inline]
    pub(crate) fn read(&self) -> u64 {
        self.value.load(Ordering::Acquire)
    }

    /// Describes this rank's call. Other ranks see it together with the next published value.
    #[inline]
    pub(crate) fn say(&self, call: u64) {
        self.call.store(call, Ordering::Relaxed);
    }

    /// The description of the rank's call.
    #[inline]
    pub(crate) fn said(&self) -> u64 {
        self.call.load(Ordering::Relaxed)
    }
}

impl SharedWindow {
    /// Creates the window of each node of a communicator. Collective; either all ranks get a window or none does.
    pub(crate) fn new(members: NodeMembers<'_>, rings: Rings) -> Result<Self, Error> {
        let p = members.ranks.len();
        let made = if members.local == 0 { Some(NamedFile::make(bytes(p, &rings))) } else { None };
        let number_and_path = match &made {
            Some(Ok(file)) => file.written(),
            _ => [0; NAME],
        };
        let heard = share(members, number_and_path)?;
        let mapped = match &made {
            Some(Ok(file)) => map(&file.file, file.number),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
            None => opened(&heard),
        };
        let own = mapped.map_err(|error| Error::NoSharedMemory { reason: error.to_string() });
        // A rank with a different length would access memory outside the window.
        let lengths = [("the lengths of a call in shared memory", rings[0].bytes as u64)];
        let failed = [u64::from(own.is_err())];
        let agreed = agree_and_hear(members.group.comm.raw(), &lengths, &failed, Ok(own));
        drop(made);
        let (own, failures) = agreed?;
        let memory = own?;
        if failures.iter().any(|failures| failures.contains(&1)) {
            return Err(Error::NoSharedMemory { reason: ELSEWHERE.into() });
        }
        let [first, second] = rings;
        let rings = [RingPlace::at(LINE, first, p), RingPlace::at(LINE + first.all(p), second, p)];
        Ok(SharedWindow { memory, rings })
    }

    /// One of its rings.
    #[inline]
    pub(crate) fn ring(&self, ring: usize) -> &SlotRing {
        &self.rings[ring].ring
    }

    /// The counter of the segments that a rank has completed in a ring.
    #[inline]
    pub(crate) fn completed(&self, ring: usize, rank: usize) -> &WindowCounter {
        self.counter(self.rings[ring].completed + rank * LINE)
    }

    /// The counter of a rank's signals in a slot of a ring.
    #[inline]
    pub(crate) fn signals(&self, ring: usize, slot: usize, rank: usize) -> &WindowCounter {
        self.counter(self.slot(ring, slot) + rank * LINE)
    }

    /// Where a slot begins, with its counters.
    #[inline]
    pub(crate) fn begin(&self, ring: usize, slot: usize) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_add(self.slot(ring, slot))
    }

    #[inline]
    fn slot(&self, ring: usize, slot: usize) -> usize {
        let RingPlace { first, distance, .. } = self.rings[ring];
        first + slot * distance
    }

    #[inline]
    fn counter(&self, offset: usize) -> &WindowCounter {
        debug_assert!(offset + LINE <= self.memory.len());
        // SAFETY: the offset lies in the window, at a line that only counters use; a mapping is aligned to pages, and
        // the memory is zero at first. Counters are atomic.
        unsafe { &*self.memory.as_ptr().wrapping_add(offset).cast() }
    }
}

/// The size of the window for `p` ranks.
const fn bytes(p: usize, rings: &Rings) -> usize {
    LINE + rings[0].all(p) + rings[1].all(p)
}

/// A file in memory, which is removed on drop.
struct NamedFile {
    file: File,
    path: PathBuf,
    number: u64,
}

impl NamedFile {
    /// Creates a file of zeros that begins with its number.
    fn make(bytes: usize) -> io::Result<Self> {
        let number = RandomState::new().hash_one(std::process::id()) | 1;
        let path = Path::new(FOLDER).join(format!("roundel-{}-{number:016x}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        let mut named = NamedFile { file, path, number };
        allocate(&named.file, bytes)?;
        named.file.write_all(&number.to_ne_bytes())?;
        Ok(named)
    }

    /// The number and the path, for the other ranks.
    fn written(&self) -> [u8; NAME] {
        let mut message = [0; NAME];
        let path = self.path.as_os_str().as_encoded_bytes();
        message[..8].copy_from_slice(&self.number.to_ne_bytes());
        message[8..8 + path.len()].copy_from_slice(path);
        message
    }
}

impl Drop for NamedFile {
    fn drop(&mut self) {
        // If the file has already been removed, nothing is left to do.
        let _ = remove_file(&self.path);
    }
}

/// Reserves memory for the file: if there is not enough, the first access would kill the process.
fn allocate(file: &File, bytes: usize) -> io::Result<()> {
    // SAFETY: the file is open.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Sends the first rank's message to all ranks of the node.
fn share(members: NodeMembers<'_>, mut message: [u8; NAME]) -> Result<[u8; NAME], Error> {
    let (comm, ranks) = (members.group.comm.raw(), members.ranks);
    // SAFETY: the constants are the library's; messages have room, and the communicator is live.
    unsafe {
        let (byte, ignore) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_STATUS_IGNORE);
        let at = message.as_mut_ptr();
        if members.local > 0 {
            let code = ffi::PMPI_Recv(at.cast(), NAME as c_int, byte, ranks[0] as c_int, NAMED, comm, ignore);
            check("MPI_Recv", code)?;
        } else {
            for &rank in &ranks[1..] {
                let code = ffi::PMPI_Send(at.cast(), NAME as c_int, byte, rank as c_int, NAMED, comm);
                check("MPI_Send", code)?;
            }
        }
    }
    Ok(message)
}

/// Maps the file that another rank has created.
fn opened(message: &[u8; NAME]) -> io::Result<MmapRaw> {
    let (number, path) = message.split_at(8);
    let number = u64::from_ne_bytes(number.try_into().unwrap_or_default());
    if number == 0 {
        return Err(io::Error::other("another rank could not make it"));
    }
    let end = path.iter().position(|&byte| byte == 0).unwrap_or(path.len());
    let path = str::from_utf8(&path[..end]).map_err(io::Error::other)?;
    map(&OpenOptions::new().read(true).write(true).open(path)?, number)
}

/// Maps a file if it has this number: another machine or container may have a file of the same name.
fn map(mut file: &File, number: u64) -> io::Result<MmapRaw> {
    let memory = MmapRaw::map_raw(file)?;
    let mut found = [0; 8];
    io::Seek::rewind(&mut file)?;
    file.read_exact(&mut found)?;
    match found == number.to_ne_bytes() {
        true => Ok(memory),
        false => Err(io::Error::other("ranks of this node do not see the same files in memory")),
    }
}
