//! Checks that the program runs on the MPI that this library was built for.
//!
//! Handles are addresses in one and numbers in another, so that nothing would work, and the first message would come
//! from deep inside. A library that is preloaded under another MPI is found out before that one begins: PMPI_ functions
//! are then the other one's.

use mpi::ffi;
use roundel::mpi::raw;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::time::Duration;

/// The family for which this library was built.
const BUILT_FOR: &str = if cfg!(open_mpi) { OPEN_MPI } else { "MPICH" };

/// How Open MPI's name for itself begins. Descendants of MPICH have many names.
const OPEN_MPI: &str = "Open MPI";

/// Ends the process, and with it the job, if this is another MPI.
pub(crate) fn check() {
    static SAME: OnceLock<()> = OnceLock::new();
    SAME.get_or_init(|| {
        let found = version();
        if found.starts_with(OPEN_MPI) != cfg!(open_mpi) {
            end(&found);
        }
    });
}

/// What MPI says of itself, up to the first comma or end of line.
fn version() -> String {
    let (mut text, mut length) = ([0u8; LONGEST], 0);
    // SAFETY: it may be called at any time, and there is room for the longest text of all of them.
    unsafe { ffi::PMPI_Get_library_version(text.as_mut_ptr().cast(), &mut length) };
    let text = String::from_utf8_lossy(text.get(..length as usize).unwrap_or_default());
    let name = text.split(['\n', ',', '\0']).next().unwrap_or_default();
    name.replace(" Version:", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// MPICH's texts have up to 8192 bytes, and more than its constant says that others have.
const LONGEST: usize = 1 << 14;

#[cold]
fn end(found: &str) -> ! {
    if rank() == 0 {
        raw::say(format_args!(
            "libroundel_pmpi.so was built for {BUILT_FOR}, and this program runs on {found}: \
             preload the one that was built with this MPI's mpicc; ending the MPI job"
        ));
    } else {
        // The launcher ends all ranks when the first one leaves: let the line be written before.
        std::thread::sleep(Duration::from_secs(2));
    }
    std::thread::sleep(Duration::from_millis(200));
    std::process::exit(1)
}

/// This process's rank, as launchers tell it before MPI begins; 0 where none does.
fn rank() -> c_int {
    let variables = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];
    let rank = variables.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
    rank.unwrap_or(0)
}
