//! The program as a process: its exit code, its output and its errors.

#![allow(dead_code)] // Each test uses some of it.

use std::process::{Command, Output};

/// Runs the program.
pub(crate) fn roundel(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_roundel")).args(args).output().expect("the program starts")
}

/// Runs a command that must end with `code`; returns its output and its errors.
pub(crate) fn ended(code: i32, args: &[&str]) -> (String, String) {
    let output = roundel(args);
    let (out, errors) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(code), "{args:?}:\n{out}\n{errors}");
    assert!(!errors.contains("panicked"), "{args:?}: {errors}");
    (out, errors)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it prints UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("it prints UTF-8")
}
