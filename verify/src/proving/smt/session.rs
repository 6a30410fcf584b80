//! A z3 process that answers one query after another: to start one takes as long as many a query.
//!
//! Each thread keeps one. Before a query it is reset, so that an answer depends on the query alone; and it is replaced
//! before it has computed for long, so that the system's limit of processor time still ends a query that gets lost.

use super::solver::{Attempt, Effort, Solver, SolverAnswer};
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
    attempt: &Attempt,
    limit: Effort,
    patience: Duration,
) -> Result<String, SolverAnswer> {
    let kept = KEPT.take().filter(|kept| kept.program == solver.program && kept.limit >= limit && kept.used < AGE);
    let mut session = kept.map_or_else(|| Session::begin(solver, limit), Ok)?;
    let text = session.answer(query, attempt, patience)?;
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

    fn answer(&mut self, query: &str, attempt: &Attempt, patience: Duration) -> Result<String, SolverAnswer> {
        let start = Instant::now();
        let Attempt { tactic, steps } = attempt;
        let options = format!("(set-option :rlimit {steps})\n(set-option :tactic.default_tactic \"{tactic}\")");
        let asked = format!("(reset)\n{options}\n{query}\n(echo \"{END}\")\n");
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const FEW: Attempt = Attempt { tactic: "smt", steps: 1000 };

    /// A solver that answers like z3: `unsat` with its process number, or what a query asks it to do.
    fn scripted(folder: &Path) -> Solver {
        let script = r#"#!/bin/sh
while read -r line; do
  case "$line" in
  '(check-sat)') echo "unsat $$" ;;
  die) exit 3 ;;
  hang) sleep 30 ;;
  compute) while :; do :; done ;;
  '(echo "'*) line=${line#*\"}; echo "${line%\"*}" ;;
  esac
done
"#;
        let program = folder.join("z3");
        std::fs::write(&program, script).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
        Solver::at(program).kept_running()
    }

    fn ask(solver: &Solver, query: &str, seconds: u64) -> Result<String, SolverAnswer> {
        asked(solver, query, &FEW, Effort::seconds(seconds), Duration::from_secs(20))
    }

    #[test]
    fn one_process_answers_until_it_dies() {
        let folder = tempfile::tempdir().expect("a folder");
        let solver = scripted(folder.path());
        let first = ask(&solver, "(check-sat)", 1).expect("an answer");
        assert_eq!(ask(&solver, "(check-sat)", 1).as_ref(), Ok(&first));
        assert!(matches!(ask(&solver, "die", 1), Err(SolverAnswer::Crashed(_))));
        let next = ask(&solver, "(check-sat)", 1).expect("an answer");
        assert!(next.starts_with("unsat ") && next != first, "{next}");
        // One with a larger limit of processor time.
        assert_ne!(ask(&solver, "(check-sat)", 2).expect("an answer"), next);
    }

    #[test]
    fn one_that_hangs_or_computes_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let solver = scripted(folder.path());
        let first = ask(&solver, "(check-sat)", 0).expect("an answer");
        let hung = asked(&solver, "hang", &FEW, Effort::seconds(0), Duration::from_secs(1));
        assert_eq!(hung, Err(SolverAnswer::Timeout));
        assert_ne!(ask(&solver, "(check-sat)", 0).expect("an answer"), first);
        assert_eq!(ask(&solver, "compute", 0), Err(SolverAnswer::Timeout));
    }

    /// Nothing that an earlier query has declared or asserted is left, and limits are those of each query.
    #[test]
    fn queries_do_not_see_each_other() {
        let Some(z3) = Solver::installed().into_iter().find(|solver| solver.name() == "z3") else { return };
        let query = |bound: &str| format!("(declare-const x Int)\n(assert (and (> x 3) {bound}))\n(check-sat)\n");
        let long =
            "(declare-fun f (Int) Int)\n(assert (forall ((a Int)) (= (f (f a)) (+ a (* a a a)))))\n(check-sat)\n";
        let answers = [query("(< x 2)"), query("(< x 9)"), long.into(), query("(< x 2)"), "nonsense\n".into()];
        let attempt = Attempt { tactic: "", steps: 100_000 };
        let answers = answers.map(|query| asked(&z3, &query, &attempt, Effort::seconds(2), Duration::from_secs(60)));
        let word =
            |i: usize| answers[i].as_ref().map(|text| text.split_whitespace().next().unwrap_or("").to_string());
        assert_eq!([word(0), word(1), word(3)], [Ok("unsat".into()), Ok("sat".into()), Ok("unsat".into())]);
        assert_eq!(word(2), Ok("unknown".into()));
        assert!(word(4).is_ok_and(|word| word.starts_with("(error")), "{:?}", answers[4]);
    }
}
