//! A z3 process that answers one query after another: to start one takes as long as many a query.
//!
//! Each thread keeps one. Before a query it is reset, so that an answer depends on the query alone; and it is replaced
//! before it has computed for long, so that the system's limit of processor time still ends a query that gets lost.

use super::solver::{Effort, Solver, SolverAnswer};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The processor time after which a process is replaced: so much longer than its limit a query may compute.
const AGE: Duration = Duration::from_secs(5);

/// What it says after each answer.
const END: &str = "end of the answer";

thread_local! {
    static KEPT: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// The output of `solver` for a query, from this thread's process.
pub(super) fn asked(
    solver: &Solver,
    query: &str,
    steps: u64,
    limit: Effort,
    patience: Duration,
) -> Result<String, SolverAnswer> {
    let kept = KEPT.take().filter(|kept| kept.program == solver.program && kept.limit >= limit && kept.used < AGE);
    let mut session = kept.map_or_else(|| Session::begin(solver, limit), Ok)?;
    let text = session.answer(query, steps, patience)?;
    KEPT.set(Some(session));
    Ok(text)
}

struct Session {
    program: PathBuf,
    /// The largest limit that its processor time allows.
    limit: Effort,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// How long its queries have taken.
    used: Duration,
}

impl Session {
    fn begin(solver: &Solver, limit: Effort) -> Result<Self, SolverAnswer> {
        let missing = |error: &dyn std::fmt::Display| {
            SolverAnswer::Missing(format!("{}: {error}", Path::new(&solver.program).display()))
        };
        let mut child = solver
            .command(limit.processor_seconds() + AGE.as_secs())
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| missing(&error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(missing(&"it has no input"));
        };
        let (sender, lines) = mpsc::channel();
        // Ends with the pipe, or when nobody listens any more.
        thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let program = solver.program.clone();
        Ok(Session { program, limit, child, input, lines, used: Duration::ZERO })
    }

    fn answer(&mut self, query: &str, steps: u64, patience: Duration) -> Result<String, SolverAnswer> {
        let start = Instant::now();
        let asked = format!("(reset)\n(set-option :rlimit {steps})\n{query}\n(echo \"{END}\")\n");
        // If the process has ended, reading says so.
        let _ = self.input.write_all(asked.as_bytes()).and_then(|()| self.input.flush());
        let mut text = String::new();
        loop {
            let line = match self.lines.recv_timeout(patience.saturating_sub(start.elapsed())) {
                Ok(line) if line == END => break,
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Err(SolverAnswer::Timeout),
                Err(RecvTimeoutError::Disconnected) => return Err(self.end()),
            };
            text += &line;
            text.push('\n');
        }
        self.used += start.elapsed();
        Ok(text)
    }

    /// Why the process has ended.
    fn end(&mut self) -> SolverAnswer {
        match self.child.wait() {
            Ok(status) => SolverAnswer::ended(status),
            Err(error) => SolverAnswer::Crashed(error.to_string()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have exited in the meantime, so errors are ignored.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
