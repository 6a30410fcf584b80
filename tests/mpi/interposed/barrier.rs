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
            let run = mpi.run(p, &settings.with("ROUNDEL_EXPLAIN", "1"), &program, &["60"]);
            run.succeeds();
            assert!(run.output().contains(by), "{}", run.report());
        }
        for p in [1, 2, 4] {
            mpi.run(p, &Settings::usual(), &program, &["60"]).succeeds();
        }
        mpi.run(2, &Settings::shared(), &program, &["60", "skipped"]).fails_with("wrong barriers");
    });
}
