//! What a user reads: declarations that must not compile, with the messages they get.
//!
//! `TRYBUILD=overwrite cargo test -p roundel-ui-tests` writes the messages anew; read each of them before it
//! is kept.

use std::collections::BTreeSet;
use std::path::Path;

/// Each is a program of which every module is a wrong declaration. The derive reports all of them, because it never
/// stops the compiler; one program for each declaration would take ten times as long.
const PROGRAMS: [&str; 4] = ["violations", "misuse", "groups", "alltoall"];

/// One test, so that the programs are compiled in parallel.
#[test]
fn wrong_declarations_do_not_compile() {
    let declarations = trybuild::TestCases::new();
    for program in PROGRAMS {
        declarations.compile_fail(format!("{program}.rs"));
    }
}

/// A declaration that no program names would not be tested, and one without a message would compile.
#[test]
fn every_declaration_has_its_message() {
    for program in PROGRAMS {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |name: String| {
            std::fs::read_to_string(here.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let (source, messages) = (read(format!("{program}.rs")), read(format!("{program}.stderr")));
        let files = std::fs::read_dir(here.join(program)).expect("a folder of declarations");
        let files: BTreeSet<_> =
            files.map(|file| file.expect("a file").file_name().into_string().expect("a name")).collect();
        assert!(!files.is_empty());
        for file in files {
            assert!(source.contains(&format!("\"{program}/{file}\"")), "{program}.rs does not name {program}/{file}");
            assert!(messages.contains(&format!("--> {program}/{file}\n")), "{program}/{file} has no message");
        }
    }
}
