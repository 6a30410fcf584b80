//! Long runs: memory does not grow. `ROUNDEL_ALL=1` makes them longer.

use crate::faults::on_each;
use crate::launch::Settings;
use crate::mpi::everything;
use crate::programs;

/// The numbers of calls, communicators and requests.
fn amounts() -> [&'static str; 3] {
    if everything() { ["100000", "10000", "1000"] } else { ["4000", "200", "300"] }
}

/// Where much of a run is like another one.
fn fewer() -> [&'static str; 3] {
    if everything() { amounts() } else { ["1000", "60", "60"] }
}

#[test]
fn memory_stays_flat() {
    let (amounts, p) = (amounts(), 3);
    let long = |settings| Settings { long: everything(), ..settings };
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_soak");
        mpi.run(p, &long(Settings::forced()), &program, &amounts).succeeds();
        mpi.run(p, &long(Settings::served()), &program, &amounts).succeeds();
        mpi.run(p, &long(Settings::shared()), &program, &amounts).succeeds();
        mpi.run(p, &long(Settings::usual()), &program, &fewer()).succeeds();
        let threads = |amounts: [&'static str; 3]| amounts.into_iter().chain(["threads"]).collect::<Vec<&str>>();
        mpi.run(p, &long(Settings::forced()), &program, &threads(amounts)).succeeds();
        mpi.run(p, &long(Settings::shared()), &program, &threads(fewer())).succeeds();
    });
}
