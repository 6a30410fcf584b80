//! Checks that the program runs on the MPI that this library was built for.
//!
//! Handles are addresses in Open MPI and numbers in MPICH, so nothing would work, and the first error message would
//! be obscure. A library that is preloaded under the wrong MPI is detected before that MPI starts, because the PMPI_
//! functions are then those of the wrong one.

use mpi::ffi;
use roundel::mpi::raw;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::time::Duration;

/// The MPI family for which this library was built.
const BUILT_FOR: &str = if cfg!(open_mpi) { OPEN_MPI } else { "MPICH" };

/// The prefix of Open MPI's version text. Descendants of MPICH use many names.
const OPEN_MPI: &str = "Open MPI";

/// Ends the process, and with it the job, if it runs with the other MPI family.
pub(crate) fn check() {
    static SAME: OnceLock<()> = OnceLock::new();
    SAME.get_or_init(|| {
        let found = version();
        if found.starts_with(OPEN_MPI) != cfg!(open_mpi) {
            end(&found);
        }
    });
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
