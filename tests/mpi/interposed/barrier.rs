//! Barriers, which are allreduces of one byte.

use crate::faults::on_each;
use crate::launch::Settings;
use crate::programs::c;

#[test]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    on_each(|mpi| {
        let program = c(mpi, "interposed_barrier");
        let forced = |name: &str| Settings::served().with("ROUNDEL_FORCE", name);
        let served = [
            (Settings::shared(), ": shared-memory"),
            (forced("allreduce:allreduce/ring"), ": allreduce/ring"),
            (forced("allreduce:allreduce/recursive-doubling"), ": allreduce/recursive-doubling"),
        ];
        for ((settings, by), p) in served.into_iter().zip([6, 3, 5]) {
            let settings = settings.with("ROUNDEL_EXPLAIN", "1");
            for form in ["blocking", "started", "prepared"] {
                // In shared memory, MPICH's requests go to the library.
                let by =
                    if form != "blocking" && by.ends_with("memory") && mpi.id.starts_with("mpich") { "" } else { by };
                let run = mpi.run(p, &settings, &program, &["60", form]);
                run.succeeds();
                assert!(run.output().contains(by), "{}", run.report());
            }
        }
        for (p, form) in [(1, "blocking"), (2, "started"), (4, "blocking"), (4, "prepared")] {
            mpi.run(p, &Settings::usual(), &program, &["60", form]).succeeds();
        }
        mpi.run(2, &Settings::shared(), &program, &["60", "skipped"]).fails_with("wrong barriers");
    });
}
