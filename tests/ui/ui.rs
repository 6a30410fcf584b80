//! What a user reads: declarations that must not compile, with the messages they get, and declarations that must.
//!
//! `TRYBUILD=overwrite cargo test -p roundel-ui-tests` writes the messages anew; read each of them before it
//! is kept.

#[test]
fn wrong_schedules_do_not_compile() {
    trybuild::TestCases::new().compile_fail("violations/*.rs");
}

#[test]
fn misuse_is_explained() {
    trybuild::TestCases::new().compile_fail("misuse/*.rs");
}

#[test]
fn wrong_groups_do_not_compile() {
    trybuild::TestCases::new().compile_fail("groups/*.rs");
}

#[test]
fn wrong_alltoalls_do_not_compile() {
    trybuild::TestCases::new().compile_fail("alltoall/*.rs");
}

#[test]
fn every_construct_compiles_and_runs() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
