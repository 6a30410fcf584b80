//! Jobs: commands that run to their end or to a time limit, with all their output.

use std::env;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A job that takes longer hangs; on a slow, busy machine the longest has taken two minutes.
pub(crate) const LIMIT: Duration = Duration::from_secs(360);

/// Names a file that ranks write to if the launcher would lose some of their output.
pub(crate) const WRITTEN: &str = "ROUNDEL_TEST_WRITTEN";

/// Runs a job. One at a time: jobs would only slow each other down.
pub(crate) fn run(what: String, command: Command, limit: Duration) -> Run {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let begin = Instant::now();
    let written = command.get_envs().find(|(name, _)| *name == WRITTEN).and_then(|(_, file)| file).map(PathBuf::from);
    let (status, mut output) = finish(command, limit);
    if let Some(file) = written {
        output += &String::from_utf8_lossy(&fs::read(&file).unwrap_or_default());
        // A job that could not start has written nothing.
        let _ = fs::remove_file(file);
    }
    println!("{what}: {:.1} s", begin.elapsed().as_secs_f64());
    Run { what, limit, status, output }
}

/// Runs a command with all its output in one text; no status when it had to be killed.
fn finish(mut command: Command, limit: Duration) -> (Option<ExitStatus>, String) {
    forget_own_libraries(&mut command);
    let folder = folder();
    command.env("TMPDIR", folder.path());
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => panic!("cannot run {command:?}: {error}"),
    };
    let readers = [child.stdout.take().map(read), child.stderr.take().map(read)];
    let status = wait(&mut child, limit);
    if status.is_none() {
        kill(&mut child);
    }
    let texts = readers.into_iter().flatten().filter_map(|reader| reader.join().ok());
    (status, texts.collect())
}

/// A folder for a job's temporary files. Launchers of Open MPI share one of the user's, which one of them may remove
/// while another is making its own inside.
pub(crate) fn folder() -> TempDir {
    tempfile::Builder::new().prefix("roundel-").tempdir().expect("a folder can be made")
}

/// Lets a job find its own libraries: cargo and nextest put the folder of what they have built before all others, where
/// those for Open MPI are.
fn forget_own_libraries(command: &mut Command) {
    const FOLDERS: &str = "LD_LIBRARY_PATH";
    let (Some(folders), false) = (env::var_os(FOLDERS), command.get_envs().any(|(name, _)| name == FOLDERS)) else {
        return;
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let others = env::split_paths(&folders).filter(|folder| !target.is_some_and(|target| folder.starts_with(target)));
    match env::join_paths(others) {
        Ok(others) if !others.is_empty() => command.env(FOLDERS, others),
        _ => command.env_remove(FOLDERS),
    };
}

/// Reads in the background, so that the job never waits for us.
fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Output that was read before an error is still useful.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// Ends the launcher, which ends its ranks; then the rest of its process group.
fn kill(child: &mut Child) {
    for (signal, patience) in [("-TERM", 5), ("-KILL", 5)] {
        // The group may be gone already.
        let _ = Command::new("kill").args([signal, "--", &format!("-{}", child.id())]).status();
        if wait(child, Duration::from_secs(patience)).is_some() {
            return;
        }
    }
}

/// A job that ended.
pub(crate) struct Run {
    what: String,
    limit: Duration,
    /// `None` if it reached the time limit.
    status: Option<ExitStatus>,
    output: String,
}

impl Run {
    /// Expects that it succeeded and printed so.
    pub(crate) fn succeeds(&self) {
        assert!(self.went_well(), "{}", self.report());
    }

    /// Whether it succeeded and printed so.
    pub(crate) fn went_well(&self) -> bool {
        self.status.is_some_and(|status| status.success()) && self.output.contains("all as expected")
    }

    /// Expects that it failed within its time, with this text.
    pub(crate) fn fails_with(&self, text: &str) {
        let failed = self.status.is_some_and(|status| !status.success() && status.code() != Some(124));
        assert!(failed && self.output.contains(text), "{}, expected a failure with `{text}`", self.report());
    }

    /// Whether it ended with this status.
    pub(crate) fn ended_with(&self, code: i32) -> bool {
        self.status.is_some_and(|status| status.code() == Some(code))
    }

    /// Its output.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// Its exit status and output.
    pub(crate) fn report(&self) -> String {
        let end = match self.status {
            Some(status) => status.to_string(),
            None => format!("did not end within {} s", self.limit.as_secs()),
        };
        format!("{}: {end}\n{}", self.what, self.output)
    }
}
