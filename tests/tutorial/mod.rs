//! The commands of `docs/tutorial.md`, run in an empty folder, with what it says that they print.
//!
//! `sh` blocks need no MPI, `sh mpi` blocks do; those that are marked `fails` must fail. A `text` block after a block
//! of commands has lines that these print.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A block of commands.
#[derive(Debug)]
pub(crate) struct Commands {
    pub(crate) text: String,
    pub(crate) needs_mpi: bool,
    pub(crate) fails: bool,
    /// The lines that they print.
    pub(crate) prints: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// All blocks of the tutorial, in order.
pub(crate) fn commands() -> Vec<Commands> {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).expect("there is a tutorial");
    let mut all: Vec<Commands> = Vec::new();
    let mut blocks = page.split("\n```");
    blocks.next();
    // Blocks and the text between them alternate.
    for block in blocks.step_by(2) {
        let (info, text) = block.split_once('\n').expect("a block has lines");
        let mut words = info.split(' ');
        match words.next() {
            Some("sh") => {
                let marks: Vec<&str> = words.collect();
                let (needs_mpi, fails) = (marks.contains(&"mpi"), marks.contains(&"fails"));
                all.push(Commands { text: text.into(), needs_mpi, fails, prints: Vec::new() });
            }
            // The first one precedes all commands: it installs Roundel, which the tests have.
            Some("text") => {
                all.last_mut().into_iter().for_each(|last| last.prints.extend(text.lines().map(String::from)))
            }
            _ => {}
        }
    }
    all
}

/// A folder for the tutorial, with the tools that it names.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty folder. Cargo builds into a folder that stays, and uses the versions of this workspace.
    pub(crate) fn new(name: &str, roundel: &Path) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(folder.join("upwards"));
        fs::create_dir_all(folder.join("bin")).expect("can be made");
        let folder = Folder(folder);
        let _ = fs::remove_file(folder.0.join("bin/roundel"));
        symlink(roundel, folder.0.join("bin/roundel")).expect("can be made");
        let target = folder.0.join("target");
        let lock = root().join("Cargo.lock");
        folder.tool(
            "cargo",
            &format!(
                "[ -e Cargo.lock ] || cp {} .\nmkdir -p {2}\n[ -e target ] || ln -s {2} target\nexec {1} \"$@\"",
                lock.display(),
                env!("CARGO"),
                target.display()
            ),
        );
        folder
    }

    /// A script by the name of a tool.
    pub(crate) fn tool(&self, name: &str, text: &str) {
        let path = self.0.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("can be set");
    }

    /// Runs blocks of commands in one shell, and compares what they print.
    pub(crate) fn run(&self, blocks: &[&Commands]) {
        let mut script = String::from("set -e\n");
        for (i, block) in blocks.iter().enumerate() {
            let text = &block.text;
            script += &match block.fails {
                true => format!("echo '@@@ {i}'\nif {}; then echo 'did not fail'; exit 9; fi\n", text.trim()),
                false => format!("echo '@@@ {i}'\n{text}\n"),
            };
        }
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("exec 2>&1\n{script}")]).current_dir(&self.0);
        bash.env("PATH", path)
            .env("ROUNDEL", root().canonicalize().expect("exists"))
            .env("CARGO_NET_OFFLINE", "true");
        for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "RUSTDOCFLAGS", "LD_PRELOAD"] {
            bash.env_remove(name);
        }
        let output = bash.output().expect("there is a shell");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}");
        for (i, block) in blocks.iter().enumerate() {
            let after = printed.split(&format!("@@@ {i}\n")).nth(1).unwrap_or_default();
            let section = after.split("@@@ ").next().unwrap_or_default();
            for line in &block.prints {
                assert!(
                    section.contains(line.as_str()),
                    "`{line}` is not printed by\n{}\nbut\n{section}",
                    block.text
                );
            }
        }
    }
}
