//! Solvers as processes: SMT-LIB text in, one word out.
//!
//! Only `unsat` proves anything. A solver that is missing, slow, killed or talks nonsense is said to be so, and never
//! counts.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use wait_timeout::ChildExt;

/// What a solver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is no model: a negated goal is refuted.
    Unsat,
    /// There is a model.
    Sat,
    /// It does not know, for its own reason.
    Unknown(String),
    /// It did not answer in time.
    Timeout,
    /// It could not be started.
    Missing(String),
    /// It ended without an answer.
    Crashed(String),
    /// It answered something that is no answer.
    Nonsense(String),
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Answer::Unsat => f.write_str("unsat"),
            Answer::Sat => f.write_str("sat"),
            Answer::Unknown(why) if why.is_empty() => f.write_str("the solver does not know"),
            Answer::Unknown(why) => write!(f, "the solver does not know: {why}"),
            Answer::Timeout => f.write_str("the solver did not answer in time"),
            Answer::Missing(why) => write!(f, "the solver could not be started: {why}"),
            Answer::Crashed(why) => write!(f, "the solver ended without an answer: {why}"),
            Answer::Nonsense(what) => write!(f, "the solver answered nonsense: `{what}`"),
        }
    }
}

/// A solver on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Its program.
    pub program: PathBuf,
    arguments: Vec<String>,
}

impl Solver {
    /// The solver at a path, called as its name suggests.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        let is_cvc5 = program.file_name().is_some_and(|name| name.to_string_lossy().contains("cvc5"));
        let arguments = if is_cvc5 { vec!["--lang=smt2.6".into()] } else { vec!["-in".into(), "-smt2".into()] };
        Solver { program, arguments }
    }

    /// The solvers of this machine, z3 first.
    pub fn installed() -> Vec<Self> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let find = |name: &str| std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|path| path.is_file());
        ["z3", "cvc5"].into_iter().filter_map(find).map(Solver::at).collect()
    }

    /// Whether there is such a program: where its path says, or a plain name in a folder of `PATH`.
    pub fn is_there(&self) -> bool {
        if self.program.components().count() > 1 {
            return self.program.is_file();
        }
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|folder| folder.join(&self.program).is_file())
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Asks a question.
    pub fn ask(&self, question: &str, limit: Duration) -> Answer {
        match self.talk(question, limit) {
            Ok(text) => classify(&text),
            Err(answer) => answer,
        }
    }

    /// Asks a question for values of its constants; `None` unless the answer is `sat`.
    pub fn model(&self, question: &str, limit: Duration) -> Option<Vec<(String, String)>> {
        let text = self.talk(&format!("{question}(get-model)\n"), limit).ok()?;
        (classify(&text) == Answer::Sat).then(|| parse_model(&text))
    }

    /// Values for a question, with as few ranks as the solver finds; `None` where it finds none.
    pub fn smallest_model(&self, question: &str, limit: Duration) -> Option<Vec<(String, String)>> {
        let up_to = |p: &i64| question.replace("(check-sat)", &format!("(assert (<= p {p}))\n(check-sat)"));
        let small = SMALL.iter().find_map(|p| self.model(&up_to(p), limit.min(Duration::from_secs(1))));
        small.or_else(|| self.model(question, limit))
    }

    fn talk(&self, question: &str, limit: Duration) -> Result<String, Answer> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Answer::Missing(format!("{}: {error}", self.program.display())))?;
        let output = converse(&mut child, question);
        let status = child.wait_timeout(limit).map_err(|error| Answer::Crashed(error.to_string()))?;
        let Some(status) = status else {
            end(&mut child);
            return Err(Answer::Timeout);
        };
        let text = output.recv_timeout(LAST_WORDS).map_err(|_| {
            Answer::Crashed(
                "it ended, but a process that it started keeps its output open; call the solver itself".into(),
            )
        })?;
        match (text.trim().is_empty(), status.success()) {
            (true, true) => Err(Answer::Nonsense("nothing".into())),
            (true, false) => Err(Answer::Crashed(status.to_string())),
            _ => Ok(text),
        }
    }
}

/// The numbers of ranks up to which a model is looked for, one after the other.
const SMALL: [i64; 6] = [1, 2, 3, 4, 6, 9];

/// How long the output of a solver that has ended may take to arrive. Its pipe is closed then, unless it left a process
/// behind that holds it.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Writes the question and reads the answer on a thread of its own, so that a solver which neither reads nor ends blocks
/// nobody. The thread is not joined: it ends with the pipe.
fn converse(child: &mut Child, question: &str) -> mpsc::Receiver<String> {
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let question = question.to_string();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        if let Some(mut input) = input {
            // A solver that ends early closes its end; what it said is read below.
            let _ = input.write_all(question.as_bytes());
        }
        let mut text = Vec::new();
        if let Some(mut output) = output {
            let _ = output.read_to_end(&mut text);
        }
        // Nobody listens any more after a time-out.
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    receiver
}

fn end(child: &mut Child) {
    // It may have ended in the meantime; there is nothing else to do then.
    let _ = child.kill();
    let _ = child.wait();
}

fn classify(text: &str) -> Answer {
    let word = text.split_whitespace().next().unwrap_or("");
    match word {
        "unsat" => Answer::Unsat,
        "sat" => Answer::Sat,
        "unknown" => Answer::Unknown(String::new()),
        "timeout" => Answer::Timeout,
        _ => Answer::Nonsense(text.lines().next().unwrap_or("").chars().take(120).collect()),
    }
}

/// The constants of a model: `(define-fun p () Int 5)`.
fn parse_model(text: &str) -> Vec<(String, String)> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let constants = flat.split("(define-fun ").skip(1).filter_map(|part| {
        let (name, rest) = part.split_once(" () Int ")?;
        let digits: String = rest.chars().take_while(|c| *c != ')').collect();
        let value = digits.replace(['(', ' '], "");
        (!name.contains(' ')).then(|| (name.to_string(), value))
    });
    constants.collect()
}

/// Seconds since `start`, for reports.
pub(crate) fn seconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        assert_eq!(classify("unsat\n"), Answer::Unsat);
        assert_eq!(classify("sat\n(model)"), Answer::Sat);
        assert_eq!(classify("unknown"), Answer::Unknown(String::new()));
        assert!(matches!(classify("(error \"line 1\")"), Answer::Nonsense(_)));
        assert!(matches!(classify("unsatisfied customer"), Answer::Nonsense(_)));
    }

    #[test]
    fn a_model_is_read() {
        let text = "sat\n(\n  (define-fun p () Int\n    5)\n  (define-fun x () Int\n    (- 2))\n (define-fun pow ((a Int)) Int 1))";
        assert_eq!(parse_model(text), [("p".into(), "5".into()), ("x".into(), "-2".into())]);
    }

    #[cfg(unix)]
    #[test]
    fn a_model_with_few_ranks_is_preferred() {
        let folder = tempfile::tempdir().expect("a folder");
        // Knows models with at least three ranks.
        let script = "q=$(cat)\ncase \"$q\" in *'(<= p 1)'*|*'(<= p 2)'*) echo unsat;; \
                      *'(<= p 3)'*) echo 'sat (define-fun p () Int 3)';; *) echo 'sat (define-fun p () Int 99)';; esac";
        let model = scripted(folder.path(), script).smallest_model("(check-sat)\n", Duration::from_secs(5));
        assert_eq!(model, Some(vec![("p".to_string(), "3".to_string())]));
    }

    /// A solver that does what a script says.
    #[cfg(unix)]
    fn scripted(folder: &std::path::Path, script: &str) -> Solver {
        use std::os::unix::fs::PermissionsExt;
        let program = folder.join("solver");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
        Solver::at(program)
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_a_solver_leaves_behind_blocks_nobody() {
        let folder = tempfile::tempdir().expect("a folder");
        let start = Instant::now();
        let answer = scripted(folder.path(), "sleep 30 &\necho unsat").ask("(check-sat)", Duration::from_secs(20));
        assert!(matches!(&answer, Answer::Crashed(why) if why.contains("keeps its output open")), "{answer:?}");
        let answer = scripted(folder.path(), "sleep 30 &\nsleep 30").ask("(check-sat)", Duration::from_secs(1));
        assert_eq!(answer, Answer::Timeout);
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    }

    #[cfg(unix)]
    #[test]
    fn an_answer_that_is_no_text_is_nonsense() {
        let folder = tempfile::tempdir().expect("a folder");
        let answer = scripted(folder.path(), "printf 'un\\377sat\\n'").ask("(check-sat)", Duration::from_secs(5));
        assert!(matches!(answer, Answer::Nonsense(_)), "{answer:?}");
    }

    #[test]
    fn a_missing_solver_is_said_to_be_missing() {
        let answer = Solver::at("/nonexistent/z3").ask("(check-sat)", Duration::from_secs(1));
        assert!(matches!(answer, Answer::Missing(_)));
    }
}
