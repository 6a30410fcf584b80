//! The GPU runtimes: their functions to classify an address and to copy memory.

use super::libraries::{changed, function, library_unloads, look};
use crate::error::Error;
use crate::mpi::process::say::say;
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute_copy;
use std::ptr::null_mut;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

/// The CUDA driver's function for the type of an address: 2 means device memory.
type DriverAsks = unsafe extern "C" fn(*mut c_void, c_int, usize) -> c_int;
type DriverCopies = unsafe extern "C" fn(usize, usize, usize) -> c_int;
type Pushes = unsafe extern "C" fn(*mut c_void) -> c_int;
type Pops = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
/// The functions of the CUDA and HIP runtimes, which fill in a record.
type Asks = unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int;
type Copies = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int) -> c_int;
type Clears = unsafe extern "C" fn() -> c_int;

/// A runtime whose functions were found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Runtime {
    CudaDriver { asks: DriverAsks, copies: DriverCopies, pushes: Option<Pushes>, pops: Option<Pops> },
    Cuda { asks: Asks, copies: Copies, clears: Option<Clears> },
    Hip { asks: Asks, copies: Copies, clears: Option<Clears> },
}

/// Attributes of an address, in CUDA's driver.
const CONTEXT: c_int = 1;
const MEMORY_TYPE: c_int = 2;
/// Device memory, in CUDA.
const DEVICE: u32 = 2;
/// Copies between any two kinds of memory, in CUDA and HIP.
const ANYWHERE: c_int = 4;

/// The beginning of the record of the CUDA and HIP runtimes. Some versions have more fields.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    _device: c_int,
    on_device: usize,
    on_host: usize,
    _more: [u64; 16],
}

impl Runtime {
    pub(super) fn name(self) -> &'static str {
        match self {
            Runtime::CudaDriver { .. } | Runtime::Cuda { .. } => "CUDA",
            Runtime::Hip { .. } => "HIP",
        }
    }

    /// Whether an address is in device memory.
    pub(super) fn owns(self, address: usize) -> bool {
        let mut record = Attributes::default();
        let (to, at) = ((&raw mut record).cast(), address as *const c_void);
        // SAFETY: these functions accept any address, and there is room for their results.
        unsafe {
            match self {
                Runtime::CudaDriver { asks, .. } => asks(to, MEMORY_TYPE, address) == 0 && record.kind == DEVICE,
                Runtime::Cuda { asks, clears, .. } => known(asks(to, at), clears) && record.kind == DEVICE,
                // The numbers of memory types differ between versions.
                Runtime::Hip { asks, clears, .. } => {
                    known(asks(to, at), clears) && record.on_device != 0 && record.on_host == 0
                }
            }
        }
    }

    /// Copies bytes between device memory and host memory.
    ///
    /// # Safety
    /// Both addresses are valid for this many bytes, and nothing else writes to them.
    pub(super) unsafe fn copy(self, from: usize, to: usize, bytes: usize, device: usize) -> Result<(), Error> {
        // SAFETY: as the caller guarantees.
        let code = unsafe {
            match self {
                Runtime::CudaDriver { asks, copies, pushes: Some(pushes), pops: Some(pops) } => {
                    // Another thread may have allocated the memory: ask for its context.
                    let (mut context, mut before): (*mut c_void, *mut c_void) = (null_mut(), null_mut());
                    let pushed = asks((&raw mut context).cast(), CONTEXT, device) == 0 && pushes(context) == 0;
                    let code = copies(to, from, bytes);
                    if pushed {
                        pops(&mut before);
                    }
                    code
                }
                Runtime::CudaDriver { copies, .. } => copies(to, from, bytes),
                Runtime::Cuda { copies, .. } | Runtime::Hip { copies, .. } => {
                    copies(to as *mut c_void, from as *const c_void, bytes, ANYWHERE)
                }
            }
        };
        if code == 0 { Ok(()) } else { Err(Error::Device { runtime: self.name(), code }) }
    }
}

/// Some versions report an error for host memory, and keep it until it is queried.
unsafe fn known(code: c_int, clears: Option<Clears>) -> bool {
    if let (true, Some(clears)) = (code != 0, clears) {
        // SAFETY: it may be called at any time.
        unsafe { clears() };
    }
    code == 0
}

/// The prefixes of the libraries' names.
const CUDA_DRIVER: &[&str] = &["libcuda.so"];
const CUDA: &[&str] = &["libcudart"];
const HIP: &[&str] = &["libamdhip64"];
const LEVEL_ZERO: &[&str] = &["libze_loader", "libze_intel"];

/// A function, if it exists.
///
/// # Safety
/// The function has this type.
unsafe fn found<F: Copy>(name: &CStr, libraries: &[&str]) -> Option<F> {
    let found = function(name, libraries);
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller guarantees the type, which is a function pointer.
    (!found.is_null()).then(|| unsafe { transmute_copy::<*mut c_void, F>(&found) })
}

/// All runtimes in this process.
fn find() -> Vec<Runtime> {
    // SAFETY: these are the types of these functions.
    unsafe {
        let driver = || {
            Some(Runtime::CudaDriver {
                asks: found(c"cuPointerGetAttribute", CUDA_DRIVER)?,
                copies: found(c"cuMemcpy", CUDA_DRIVER)?,
                pushes: found(c"cuCtxPushCurrent_v2", CUDA_DRIVER),
                pops: found(c"cuCtxPopCurrent_v2", CUDA_DRIVER),
            })
        };
        let cuda = || {
            let clears = found(c"cudaGetLastError", CUDA);
            Some(Runtime::Cuda {
                asks: found(c"cudaPointerGetAttributes", CUDA)?,
                copies: found(c"cudaMemcpy", CUDA)?,
                clears,
            })
        };
        let hip = || {
            let clears = found(c"hipGetLastError", HIP);
            Some(Runtime::Hip {
                asks: found(c"hipPointerGetAttributes", HIP)?,
                copies: found(c"hipMemcpy", HIP)?,
                clears,
            })
        };
        [driver().or_else(cuda), hip()].into_iter().flatten().collect()
    }
}

/// The runtimes of this process. Once some are found, they stay.
static RUNTIMES: OnceLock<Vec<Runtime>> = OnceLock::new();

/// The runtimes of this process, if any are loaded by now.
#[inline]
pub(super) fn runtimes() -> &'static [Runtime] {
    if changed() { again() } else { &[] }
}

#[cold]
fn again() -> &'static [Runtime] {
    let found = search();
    if found.is_empty() && level_zero() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            say("Level Zero was loaded after MPI_Init, and cannot tell which buffers are device memory: set \
                 ROUNDEL_DEVICE=library, or ROUNDEL_DEVICE=host if MPI gets no device memory");
        });
    }
    found
}

/// Searches for runtimes if libraries were loaded since the last search.
fn search() -> &'static [Runtime] {
    if let Some(runtimes) = RUNTIMES.get() {
        return runtimes;
    }
    static LOOKING: Mutex<()> = Mutex::new(());
    let _looking = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !look() {
        return &[];
    }
    let found = find();
    if found.is_empty() {
        return &[];
    }
    let found = RUNTIMES.get_or_init(|| found);
    // Nobody looks again, so from now on libraries count as changed.
    library_unloads();
    found
}

/// Whether libraries were loaded since the last look, or a runtime was found before.
#[inline]
pub(in super::super) fn is_news() -> bool {
    changed()
}

/// Whether a call must check where its buffers are.
#[inline]
pub(in super::super) fn may_be_used() -> bool {
    !runtimes().is_empty()
}

/// Whether buffers of this process may be in device memory.
pub(in super::super) fn is_loaded() -> bool {
    !search().is_empty() || level_zero()
}

/// Whether Level Zero is loaded. More cannot be known: to query an address it needs the program's own context.
fn level_zero() -> bool {
    !function(c"zeMemGetAllocProperties", LEVEL_ZERO).is_null()
}
