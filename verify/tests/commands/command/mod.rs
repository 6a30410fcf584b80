//! The command line as users see it: one subcommand, its output and its errors.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A subcommand.
pub(crate) struct Subcommand(pub(crate) &'static str);

impl Subcommand {
    fn output(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_roundel")).arg(self.0).args(args).output().unwrap()
    }

    /// What it prints; it must succeed.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it prints with `--json`.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[args, &["--json"]].concat())).unwrap()
    }

    /// Expects exit code 2 and all of `words` in the message; nothing on standard output, or the same message as JSON
    /// if requested.
    pub(crate) fn refused(&self, args: &[&str], words: &str) {
        let output = self.output(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        if args.contains(&"--json") {
            let error: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(error["errors"][0]["message"].as_str().unwrap().contains(words), "{args:?}: {error}");
        } else {
            assert!(output.stdout.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        }
        assert!(message.contains(words) && !message.contains("panicked"), "{args:?}: {message}");
    }
}

/// A file with a text, in a folder that is removed with it.
#[allow(dead_code, reason = "not all tests need a file")]
pub(crate) struct Kept(PathBuf, tempfile::TempDir);

#[allow(dead_code, reason = "not all tests need a file")]
impl Kept {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Kept(path, folder)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}
