//! Jobs: commands that run to their end, or to the end of their time, with all that they write.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What takes longer hangs; on a slow machine that does other work, too, the longest has taken two minutes.
pub(crate) const LIMIT: Duration = Duration::from_secs(360);

/// The variable with the name of a file into which ranks write, where the launcher would lose some of it.
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
        // A job that could not begin has written nothing.
        let _ = fs::remove_file(file);
    }
    println!("{what}: {:.1} s", begin.elapsed().as_secs_f64());
    Run { what, limit, status, output }
}

/// Runs a command with all its output in one text; no status when it had to be killed.
fn finish(mut command: Command, limit: Duration) -> (Option<ExitStatus>, String) {
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

/// Reads in the background, so that the job never waits for us.
fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth having.
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

/// Ends the launcher, which ends its ranks; then whatever is left of its process group.
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
    /// None when its time was over.
    status: Option<ExitStatus>,
    output: String,
}

impl Run {
    /// Expects that it went well, and says so.
    pub(crate) fn succeeds(&self) {
        assert!(self.went_well(), "{}", self.report());
    }

    /// Whether it went well, and said so.
    pub(crate) fn went_well(&self) -> bool {
        self.status.is_some_and(|status| status.success()) && self.output.contains("all as expected")
    }

    /// Expects that it ended by itself, with a failure and this text.
    pub(crate) fn fails_with(&self, text: &str) {
        let failed = self.status.is_some_and(|status| !status.success() && status.code() != Some(124));
        assert!(failed && self.output.contains(text), "{}, expected a failure with `{text}`", self.report());
    }

    /// Whether it ended with this status.
    pub(crate) fn ended_with(&self, code: i32) -> bool {
        self.status.is_some_and(|status| status.code() == Some(code))
    }

    /// What it wrote.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// How it ended, and what it wrote.
    pub(crate) fn report(&self) -> String {
        let end = match self.status {
            Some(status) => status.to_string(),
            None => format!("did not end within {} s", self.limit.as_secs()),
        };
        format!("{}: {end}\n{}", self.what, self.output)
    }
}
