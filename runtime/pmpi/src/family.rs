//! Checks that the program runs on the MPI that this library was built for.
//!
//! Handles are addresses in Open MPI, numbers in MPICH, and other numbers in the ABI of MPI 5, so nothing would work,
//! and the first error message would be obscure. A library that is preloaded under the wrong MPI is detected before
//! that MPI starts, because the PMPI_ functions are then those of the wrong one.

use crate::symbol;
use mpi::ffi;
use roundel::mpi::raw;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::time::Duration;

/// The handles for which this library was built.
const BUILT_FOR: &str = match (cfg!(abi), cfg!(open_mpi)) {
    (true, _) => "the ABI of MPI 5",
    (false, true) => OPEN_MPI,
    (false, false) => "MPICH",
};

/// The prefix of Open MPI's version text. Descendants of MPICH use many names.
const OPEN_MPI: &str = "Open MPI";

/// Ends the process, and with it the job, if it runs with the other MPI family.
pub(crate) fn check() {
    static SAME: OnceLock<()> = OnceLock::new();
    SAME.get_or_init(|| {
        let (found, has_abi) = (version(), has_abi());
        if has_abi != cfg!(abi) || !has_abi && found.starts_with(OPEN_MPI) != cfg!(open_mpi) {
            end(&format!("{found}{}", if has_abi { " with the ABI of MPI 5" } else { "" }));
        }
    });
}

/// Whether the program's MPI library has the handles of MPI 5's ABI.
fn has_abi() -> bool {
    let Some(function) = symbol::any(c"PMPI_Abi_get_version") else { return false };
    // The library that this one was linked with may have the function, while the program uses another.
    let program = symbol::any(c"PMPI_Init").and_then(|init| symbol::library_of(init.as_ptr()));
    if program != symbol::library_of(function.as_ptr()) {
        return false;
    }
    type GetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: MPI 5 defines this function, which may be called at any time; it writes two numbers, -1 without the ABI.
    unsafe { std::mem::transmute::<*mut c_void, GetVersion>(function.as_ptr())(&mut major, &mut minor) };
    major > 0
}

/// MPI's version text, up to the first comma or end of line.
fn version() -> String {
    let (mut text, mut length) = ([0u8; LONGEST], 0);
    // SAFETY: this may be called at any time, and the buffer fits the longest text of any MPI library.
    unsafe { ffi::PMPI_Get_library_version(text.as_mut_ptr().cast(), &mut length) };
    let text = String::from_utf8_lossy(text.get(..length as usize).unwrap_or_default());
    let name = text.split(['\n', ',', '\0']).next().unwrap_or_default();
    name.replace(" Version:", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// MPICH's texts have up to 8192 bytes, which is more than the constant of other libraries allows.
const LONGEST: usize = 1 << 14;

#[cold]
fn end(found: &str) -> ! {
    if rank() == 0 {
        raw::say(format_args!(
            "libroundel_pmpi.so was built for {BUILT_FOR}, and this program runs on {found}: \
             preload the one that was built with this MPI's mpicc; ending the MPI job"
        ));
    } else {
        // The launcher ends all ranks when the first one exits: leave time for the line to be written.
        std::thread::sleep(Duration::from_secs(2));
    }
    std::thread::sleep(Duration::from_millis(200));
    std::process::exit(1)
}

/// This process's rank, from the environment that launchers set before `MPI_Init`; 0 without such a variable.
fn rank() -> c_int {
    let variables = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];
    let rank = variables.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
    rank.unwrap_or(0)
}
