//! A library of another crate, `examples/cyclic-shift/preload`, before MPI: the catalogue and a collective of its own.

use crate::faults::on_each;
use crate::forced::Forced;
use crate::launch::Settings;
use crate::mpi::{MPICH, Mpi, OPEN_MPI};
use crate::{Campaign, forced_cases, programs};
use roundel_spec::Kind;
use std::path::Path;

const FORCE: &str = "allgather:cyclic-shift:ports=1+1";

/// What explanations say of it.
const PROOF: &str = "proved for all p, all ports (proofs/CyclicShift.json of cyclic_shift)";

#[test]
fn own_collective_on_open_mpi() {
    forced(&OPEN_MPI);
}

#[test]
fn own_collective_on_mpich() {
    forced(&MPICH);
}

/// Random calls, blocking, non-blocking and persistent, most of which are its own.
fn forced(mpi: &Mpi) {
    if mpi.library().is_none() {
        return;
    }
    let campaign = Campaign::new(mpi);
    let settings = Settings::own().with("ROUNDEL_FORCE", FORCE).with("ROUNDEL_EXPLAIN", "1");
    for p in [2, 4] {
        let output = campaign.run(p, forced_cases(), Some(Kind::Allgather), &settings);
        let line = format!(": allgather/cyclic-shift with ports = [1, 1], forced by ROUNDEL_FORCE; {PROOF}");
        assert!(output.contains(&line), "{output}");
    }
    // It does not serve five ranks with these ports; other algorithms do, and the explanation says why.
    let output = campaign.run(5, forced_cases() / 4, Some(Kind::Allgather), &settings);
    let refused = "not allgather/cyclic-shift with ports = [1, 1], forced by ROUNDEL_FORCE, because it requires \
                   `final D == p`, which is false";
    let all_five = |line: &str| line.contains("allgather p=5 ") && line.contains(": allgather/cyclic-shift");
    assert!(output.contains(refused) && !output.lines().any(all_five), "{output}");
    // The catalogue is in the library, too.
    let (name, kind) = ("allgather/sparbit", Kind::Allgather);
    campaign.force_with(
        Settings::own(),
        3,
        &Forced { name, kind, text: "allgather:sparbit".into(), ranks: Vec::new() },
    );
}

/// Rules name it, and are checked against its proof; names that are wrong are errors.
#[test]
fn own_collective_by_rules() {
    let rules = |p: &str| {
        format!(
            "format = \"roundel-selection\"\nversion = 1\n\n[[rule]]\ncollective = \"allgather\"\np = \"{p}\"\n\
             algorithm = \"cyclic-shift\"\nparameters = {{ ports = [1, 1] }}\n"
        )
    };
    on_each(|mpi| {
        let write = |name: &str, text: String| {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("own-{name}-{}.toml", mpi.id));
            std::fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
            path.display().to_string()
        };
        let program = programs::c(mpi, "interposed_abi");
        let run = |settings: Settings| mpi.run(3, &settings.with("ROUNDEL_EXPLAIN", "1"), &program, &[]);
        let right = run(Settings::own().with("ROUNDEL_SELECTION", &write("right", rules("2..=4"))));
        right.succeeds();
        let said = format!(": allgather/cyclic-shift with ports = [1, 1], by the rule at line 4; {PROOF}");
        assert!(right.output().contains(&said), "{}", right.report());
        run(Settings::own().with("ROUNDEL_SELECTION", &write("wrong", rules("2..=5"))))
            .fails_with("with p = 5, it requires `final D == p`, which is false; narrow `p`");
        run(Settings::own().with("ROUNDEL_FORCE", "allgather:cyclic-shfit"))
            .fails_with("there is no algorithm `cyclic-shfit` for allgather: did you mean `allgather/cyclic-shift`?");
        run(Settings::own().with("ROUNDEL_FORCE", "allreduce:allgather/cyclic-shift"))
            .fails_with("`allgather/cyclic-shift` is no allreduce");
        // Without the crate's library, there is no such collective; the catalogue has others of that name.
        run(Settings::served().with("ROUNDEL_FORCE", FORCE)).fails_with("`allreduce/cyclic-shift` is no allgather");
    });
}
