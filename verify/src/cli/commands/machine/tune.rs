//! `roundel tune`: measures a machine and writes its profile.

#[cfg(feature = "mpi")]
use super::profile;
use crate::cli::TuneArgs;
use crate::cli::commands::CommandOutcome;
#[cfg(feature = "mpi")]
use crate::cli::commands::{print, print_json};
use crate::error::Error;

/// Without MPI there is nothing to measure.
#[cfg(not(feature = "mpi"))]
pub(crate) fn tune(_: &TuneArgs, _: bool) -> Result<CommandOutcome, Error> {
    Err(Error::NoMpi)
}

/// Measures; rank 0 shows progress and writes the file.
#[cfg(feature = "mpi")]
pub(crate) fn tune(args: &TuneArgs, json: bool) -> Result<CommandOutcome, Error> {
    use mpi::traits::Communicator;

    let budget = args.budget()?;
    let universe = mpi::initialize().ok_or(Error::MpiAgain)?;
    let world = universe.world();
    let first = world.rank() == 0;
    if first && cfg!(debug_assertions) {
        eprintln!("this program is not optimised, so reductions seem slow: build it with `--release`");
    }
    let mut meter = first.then(Meter::new);
    let profile = roundel::mpi::tune(&world, budget, |share| meter.iter_mut().for_each(|meter| meter.show(share)))?;
    drop(meter);
    if first {
        write(args, &profile, json)?;
    }
    Ok(CommandOutcome::Fine)
}

#[cfg(feature = "mpi")]
fn write(args: &TuneArgs, profile: &roundel::profile::Profile, json: bool) -> Result<(), Error> {
    let path = &args.output;
    std::fs::write(path, profile.to_string()).map_err(|source| Error::Write { path: path.clone(), source })?;
    if json {
        let fingerprint = format!("{:016x}", profile.fingerprint());
        return print_json(&serde_json::json!({ "file": path, "fingerprint": fingerprint }));
    }
    let shown = path.display();
    print(&format!(
        "{}\nwritten to {shown}; `roundel explain allreduce -p 64 --ppn 8 --profile {shown}` uses it\n",
        profile::text(profile)
    ))
}

/// A progress bar on a terminal; elsewhere, as under most launchers, a line for every quarter.
#[cfg(feature = "mpi")]
struct Meter {
    bar: crate::proving::progress::WorkProgress,
    steps: usize,
    plain: bool,
}

#[cfg(feature = "mpi")]
impl Meter {
    const STEPS: usize = 100;

    fn new() -> Self {
        use std::io::IsTerminal;
        let (bar, plain) =
            (crate::proving::progress::WorkProgress::new(Self::STEPS, "measuring"), !std::io::stderr().is_terminal());
        Meter { bar, steps: 0, plain }
    }

    fn show(&mut self, share: f64) {
        while self.steps < (share * Self::STEPS as f64) as usize {
            self.steps += 1;
            self.bar.step();
            if self.plain && self.steps.is_multiple_of(25) {
                eprintln!("measuring: {} %", self.steps);
            }
        }
    }
}
