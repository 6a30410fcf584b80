//! Calls that are made again with the same arguments, which skips everything but the plan: in shared memory, and with
//! messages. `cluster` has those on several nodes.

use crate::faults::on_each;
use crate::launch::Settings;
use crate::programs;

/// Other algorithms than those of the forced settings: with several messages in a round, and with copies.
const OTHERS: &str = "allreduce:rabenseifner;allgather:bruck;reduce_scatter:circulant;alltoall:k-bruck:radix=3;\
                      broadcast:binomial;reduce:binomial-ordered;gather:binomial;scatter:binomial";

#[test]
fn repeated_calls_are_right() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_repeated");
        let others = Settings::served().with("ROUNDEL_FORCE", OTHERS);
        let shared = [(Settings::shared(), 4), (Settings::fetched(), 3)];
        let messages = [(Settings::forced(), 3), (others, 5), (Settings::forced(), 1)];
        for (settings, p) in shared.into_iter().chain(messages) {
            mpi.run(p, &settings, &program, &[]).succeeds();
        }
        mpi.run(3, &Settings::forced(), &program, &["--spoilt"]).fails_with("gather of 1, root 0");
    });
}
