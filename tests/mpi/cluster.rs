//! Node-aware collectives on an emulated cluster: `tests/tools/cluster.sh` makes the nodes, which Open MPI treats as
//! real ones.

use super::Suite;
use super::job::{LIMIT, run};
use super::mpi::{OPEN_MPI, say};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// If the cluster cannot be made (it needs root and /dev/net/tun), cluster.sh ends with this status. Then there is
/// nothing to test, even if everything else is required.
const NO_CLUSTER: i32 = 125;

#[test]
fn node_aware_collectives_on_a_cluster() {
    let Some(programs) = OPEN_MPI.built("the emulated cluster") else { return };
    let suite = Suite::new(&programs, "cluster");
    for (nodes, ppn) in [(4, 4), (3, 4), (5, 2)] {
        for (order, mapping) in [("consecutive", "slot"), ("cyclic", "node")] {
            let what = format!("{nodes} nodes of {ppn}, {order}");
            let run = run(what, command(&suite, (nodes, ppn), order, mapping), LIMIT + Duration::from_secs(40));
            if run.ended_with(NO_CLUSTER) {
                return say(&format!("tests on an emulated cluster are skipped: {}", run.output().trim()));
            }
            run.succeeds();
        }
    }
}

/// Persistent collectives in every way, with shared memory inside nodes and messages between them.
#[test]
fn persistent_collectives_on_a_cluster() {
    let Some(programs) = OPEN_MPI.built("the emulated cluster") else { return };
    let suite = Suite::new(&programs, "persistent");
    for (shape, mapping) in [((3, 3), "slot"), ((4, 2), "node")] {
        let what = format!("persistent collectives on {} nodes of {}, by {mapping}", shape.0, shape.1);
        let mut command = emulated(shape);
        command.args(["--map-by", mapping]).args(suite.command()).arg("--cluster");
        let run = run(what, command, LIMIT + Duration::from_secs(40));
        if run.ended_with(NO_CLUSTER) {
            return say(&format!("tests on an emulated cluster are skipped: {}", run.output().trim()));
        }
        run.succeeds();
    }
}

fn command(suite: &Suite, (nodes, ppn): (usize, usize), order: &str, mapping: &str) -> Command {
    let mut command = emulated((nodes, ppn));
    command.args(["--map-by", mapping]).args(suite.command()).args([&nodes.to_string(), &ppn.to_string(), order]);
    command
}

/// The start of a command that runs on a cluster of `nodes` nodes with `ppn` ranks each.
fn emulated((nodes, ppn): (usize, usize)) -> Command {
    let (nodes, ppn) = (nodes.to_string(), ppn.to_string());
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/cluster.sh"));
    command.envs([("NODES", nodes.as_str()), ("PPN", &ppn), ("DELAY", "50"), ("MPI", "openmpi"), ("QUIET", "1")]);
    command.env("TIMEOUT", LIMIT.as_secs().to_string());
    command
}
