//! What a user reads: declarations that must not compile, with the messages they get.
//!
//! `TRYBUILD=overwrite cargo test -p roundel-ui-tests` writes the messages anew; read each of them before it
//! is kept.

/// One test, so that all declarations are compiled in parallel.
#[test]
fn wrong_declarations_do_not_compile() {
    let declarations = trybuild::TestCases::new();
    for wrong in ["violations", "misuse", "groups", "alltoall"] {
        declarations.compile_fail(format!("{wrong}/*.rs"));
    }
}
