//! Solvers as processes: SMT-LIB text in, one word out.
//!
//! Only `unsat` proves anything. A solver that is missing, too slow, killed or gives an unexpected answer is reported
//! as such, and never counts.

use super::answers::{AnswerCache, Heard};
use super::session;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use wait_timeout::ChildExt;

/// The answer of a solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SolverAnswer {
    /// There is no model: a negated goal is refuted.
    Unsat,
    /// There is a model.
    Sat,
    /// It does not know, for the given reason.
    Unknown(String),
    /// It did not answer in time.
    Timeout,
    /// It could not be started.
    Missing(String),
    /// It ended without an answer.
    Crashed(String),
    /// Its output is not a valid answer.
    Nonsense(String),
}

impl SolverAnswer {
    /// Of a process that has ended without one.
    pub(super) fn ended(status: ExitStatus) -> Self {
        if has_used_up_its_time(status) { SolverAnswer::Timeout } else { SolverAnswer::Crashed(status.to_string()) }
    }
}

impl std::fmt::Display for SolverAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SolverAnswer::Unsat => f.write_str("unsat"),
            SolverAnswer::Sat => f.write_str("sat"),
            SolverAnswer::Unknown(reason) if reason.is_empty() => f.write_str("the solver does not know"),
            SolverAnswer::Unknown(reason) => write!(f, "the solver does not know: {reason}"),
            SolverAnswer::Timeout => f.write_str("the solver did not answer in time"),
            SolverAnswer::Missing(reason) => write!(f, "the solver could not be started: {reason}"),
            SolverAnswer::Crashed(reason) => write!(f, "the solver ended without an answer: {reason}"),
            SolverAnswer::Nonsense(what) => write!(f, "the solver answered nonsense: `{what}`"),
        }
    }
}

/// How much work a solver may put into a query.
///
/// Solvers count their own steps, so that a limit gives the same answer on a busy machine and on an idle one: it is
/// given in seconds of processor time, and passed on in steps. In case steps are slow there is also a limit of
/// processor time, which the system enforces. The wall clock only ends a solver that waits without computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort {
    milliseconds: u64,
}

impl Effort {
    /// The work of an idle processor in this many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Effort { milliseconds: seconds.saturating_mul(1000) }
    }

    /// What most queries of the catalogue need. With more, those that need much take longer to be recognised.
    pub(super) const GLANCE: Effort = Effort { milliseconds: 30 };

    /// What nine of ten others need.
    pub(super) const QUICK: Effort = Effort { milliseconds: 400 };

    /// The number of steps that z3 does per second on a current processor: 2 million for easy queries, a third of a
    /// million for hard ones, whose steps are longer.
    const Z3_STEPS: u64 = 1_000_000;

    /// The same for cvc5, whose steps are larger.
    const CVC5_STEPS: u64 = 200_000;

    /// The seconds of processor time after which a solver is killed, however few steps it has made.
    pub(super) fn processor_seconds(self) -> u64 {
        self.milliseconds.div_ceil(1000).saturating_mul(3).saturating_add(1)
    }

    /// As steps, of which a solver does this many per second.
    const fn steps(self, each_second: u64) -> u64 {
        self.milliseconds.saturating_mul(each_second) / 1000
    }

    /// How long to wait for a solver that may get only a hundredth of a processor, or waits itself.
    fn patience(self) -> Duration {
        Duration::from_secs(self.processor_seconds().saturating_mul(100).saturating_add(60))
    }
}

impl std::ops::Mul<Effort> for u64 {
    type Output = Effort;

    fn mul(self, effort: Effort) -> Effort {
        Effort { milliseconds: self.saturating_mul(effort.milliseconds) }
    }
}

/// One attempt at a query.
///
/// z3 chooses a procedure by looking at the query. To set that up takes ten times as long as most queries need, and its
/// choice is not always the best: so its plain procedure gets the first, short attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    /// z3's procedure; its own choice if empty.
    pub(super) tactic: &'static str,
    /// The steps that it may make.
    pub(super) steps: u64,
}

/// A solver on this machine.
#[derive(Clone, Debug)]
pub struct Solver {
    /// Its program.
    pub program: PathBuf,
    is_cvc5: bool,
    /// Whether one process answers many queries.
    keeps_running: bool,
    /// How long to wait for one that neither computes nor exits.
    patience: Option<Duration>,
    /// Its name and version, determined on first use.
    version: Arc<OnceLock<String>>,
    /// Where its answers are kept, if anywhere.
    answers: Option<AnswerCache>,
    /// Its answers since the program began.
    heard: Heard,
}

impl Solver {
    /// The solver at a path; its name determines its options.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        let is_cvc5 = program.file_name().is_some_and(|name| name.to_string_lossy().contains("cvc5"));
        let (version, heard) = (Arc::default(), Heard::default());
        Solver { program, is_cvc5, keeps_running: false, patience: None, version, answers: None, heard }
    }

    /// The same, with one process for many queries. Only for z3 itself: a script may wait for the end of its input.
    pub(super) fn kept_running(self) -> Self {
        Solver { keeps_running: !self.is_cvc5, ..self }
    }

    /// The same, but waiting no longer than this, whatever the other limits.
    pub fn patient_for(self, patience: Duration) -> Self {
        Solver { patience: Some(patience), ..self }
    }

    /// The same, keeping its answers in a cache, or asking every query again.
    pub fn keeping(self, answers: Option<AnswerCache>) -> Self {
        Solver { answers, ..self }
    }

    /// The attempts at a query, one after another until one has an answer.
    fn attempts(&self, effort: Effort) -> Vec<Attempt> {
        let each = if self.is_cvc5 { Effort::CVC5_STEPS } else { Effort::Z3_STEPS };
        let attempt = |tactic, effort: Effort| Attempt { tactic, steps: effort.steps(each).min(u64::from(u32::MAX)) };
        match (self.is_cvc5, effort <= Effort::GLANCE) {
            (true, _) => vec![attempt("", effort)],
            (false, true) => vec![attempt("smt", effort)],
            (false, false) => vec![attempt("smt", Effort::GLANCE), attempt("", effort)],
        }
    }

    /// Its arguments.
    fn arguments(&self, attempt: &Attempt) -> Vec<String> {
        let Attempt { tactic, steps } = attempt;
        match self.is_cvc5 {
            true => vec!["--lang=smt2.6".into(), format!("--rlimit={steps}")],
            false => {
                vec![
                    "-in".into(),
                    "-smt2".into(),
                    format!("rlimit={steps}"),
                    format!("tactic.default_tactic={tactic}"),
                ]
            }
        }
    }

    /// Its name and version, as stored in records.
    pub fn version(&self) -> String {
        let ask = || {
            let effort = Effort::seconds(1);
            let said = self.spoken("", &["--version".into()], effort, effort.patience()).unwrap_or_default();
            let is_number = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
            let number = said.split_whitespace().find(is_number).unwrap_or("of unknown version");
            format!("{} {number}", self.name())
        };
        self.version.get_or_init(ask).clone()
    }

    /// The solvers of this machine, z3 first.
    pub fn installed() -> Vec<Self> {
        ["z3", "cvc5"]
            .into_iter()
            .filter_map(|name| find_in_path(Path::new(name)))
            .map(|found| Solver::at(found).kept_running())
            .collect()
    }

    /// Whether the program exists: at its path or, for a plain name, in a folder of `PATH`.
    pub fn is_there(&self) -> bool {
        self.found().is_some()
    }

    /// The file of the program.
    pub(super) fn found(&self) -> Option<PathBuf> {
        if self.program.components().count() > 1 {
            return Some(self.program.clone()).filter(|program| program.is_file());
        }
        find_in_path(&self.program)
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Asks a query.
    pub fn ask(&self, question: &str, limit: Effort) -> SolverAnswer {
        match self.talk(question, limit) {
            Ok(text) => classify(&text),
            Err(answer) => answer,
        }
    }

    /// The values of a query's constants; `None` unless the answer is `sat`.
    pub fn model(&self, question: &str, limit: Effort) -> Option<Vec<(String, String)>> {
        let text = self.talk(&format!("{question}(get-model)\n"), limit).ok()?;
        (classify(&text) == SolverAnswer::Sat).then(|| parse_model(&text))
    }

    /// A model of a query, with as few ranks as the solver finds; `None` if it finds none.
    pub fn smallest_model(&self, question: &str, limit: Effort) -> Option<Vec<(String, String)>> {
        let up_to = |p: &i64| question.replace("(check-sat)", &format!("(assert (<= p {p}))\n(check-sat)"));
        let small = SMALL.iter().find_map(|p| self.model(&up_to(p), limit.min(Effort::seconds(1))));
        small.or_else(|| self.model(question, limit))
    }

    fn talk(&self, question: &str, limit: Effort) -> Result<String, SolverAnswer> {
        let attempts = self.attempts(limit);
        let arguments: Vec<_> = attempts.iter().flat_map(|attempt| self.arguments(attempt)).collect();
        let entry = self.answers.as_ref().and_then(|answers| answers.entry(self, &arguments, question));
        if let Some(text) = entry.as_ref().and_then(|entry| entry.read()) {
            return Ok(text);
        }
        let mut text = String::new();
        for attempt in &attempts {
            text = self.attempt_once(question, attempt, limit)?;
            if !matches!(classify(&text), SolverAnswer::Unknown(_)) {
                break;
            }
        }
        if let Some(entry) = entry.filter(|_| is_answer(&text)) {
            entry.write(&text);
        }
        Ok(text)
    }

    /// The same as [`attempt`](Solver::attempt), made once: obligations share hypotheses, and a query that gets more
    /// effort has had its first attempt.
    fn attempt_once(&self, question: &str, attempt: &Attempt, limit: Effort) -> Result<String, SolverAnswer> {
        let name = Heard::name(&self.arguments(attempt), question);
        if let Some(text) = self.heard.recall(&name) {
            return Ok(text);
        }
        let text = self.attempt(question, attempt, limit)?;
        if is_answer(&text) {
            self.heard.remember(name, &text);
        }
        Ok(text)
    }

    /// Its output for a query, in one attempt.
    fn attempt(&self, question: &str, attempt: &Attempt, limit: Effort) -> Result<String, SolverAnswer> {
        let patience = self.patience.unwrap_or_else(|| limit.patience());
        match self.keeps_running {
            true => session::asked(self, question, attempt, limit, patience),
            false => self.spoken(question, &self.arguments(attempt), limit, patience),
        }
    }

    /// The output of the program for some input.
    fn spoken(
        &self,
        input: &str,
        arguments: &[String],
        limit: Effort,
        patience: Duration,
    ) -> Result<String, SolverAnswer> {
        if !self.is_there() {
            return Err(SolverAnswer::Missing(format!("{}: there is no such file", self.program.display())));
        }
        let mut child = self
            .command(limit.processor_seconds())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| SolverAnswer::Missing(format!("{}: {error}", self.program.display())))?;
        let output = converse(&mut child, input);
        let status = child.wait_timeout(patience).map_err(|error| SolverAnswer::Crashed(error.to_string()))?;
        let Some(status) = status else {
            end(&mut child);
            return Err(SolverAnswer::Timeout);
        };
        if has_used_up_its_time(status) {
            return Err(SolverAnswer::Timeout);
        }
        let text = output.recv_timeout(LAST_WORDS).map_err(|_| {
            SolverAnswer::Crashed(
                "it ended, but a process that it started keeps its output open; call the solver itself".into(),
            )
        })?;
        match (text.trim().is_empty(), status.success()) {
            (true, true) => Err(SolverAnswer::Nonsense("nothing".into())),
            (true, false) => Err(SolverAnswer::ended(status)),
            _ => Ok(text),
        }
    }

    /// The program with a limit of processor time. The shell sets the limit, because doing so for another process would
    /// need unsafe code.
    #[cfg(unix)]
    pub(super) fn command(&self, seconds: u64) -> Command {
        let mut command = Command::new("/bin/sh");
        // A solver that ignores the soft limit is killed by the hard one; no core file is written.
        let script = "ulimit -c 0; ulimit -S -t \"$1\" && ulimit -H -t \"$2\"; shift 2; exec \"$@\"";
        command.args(["-c", script, "sh", &seconds.to_string(), &(seconds + 5).to_string()]).arg(&self.program);
        command
    }

    #[cfg(not(unix))]
    pub(super) fn command(&self, _: u64) -> Command {
        Command::new(&self.program)
    }
}

/// A program in a folder of `PATH`.
fn find_in_path(name: &Path) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Whether the system killed a process because of its processor time.
#[cfg(unix)]
fn has_used_up_its_time(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGXCPU: i32 = 24;
    status.signal() == Some(SIGXCPU)
}

#[cfg(not(unix))]
fn has_used_up_its_time(_: ExitStatus) -> bool {
    false
}

/// The numbers of ranks up to which a model is searched for, one after another.
const SMALL: [i64; 6] = [1, 2, 3, 4, 6, 9];

/// How long to wait for the output of a solver that has exited. Its pipe is closed by then, unless it left a child
/// process that holds it open.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Writes the query and reads the answer on a separate thread, so that a solver that neither reads nor exits blocks
/// nobody. The thread is not joined: it ends with the pipe.
fn converse(child: &mut Child, question: &str) -> mpsc::Receiver<String> {
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let question = question.to_string();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        if let Some(mut input) = input {
            // A solver that exits early closes its end; its output is read below.
            let _ = input.write_all(question.as_bytes());
        }
        let mut text = Vec::new();
        if let Some(mut output) = output {
            let _ = output.read_to_end(&mut text);
        }
        // After a timeout there is no receiver.
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    receiver
}

fn end(child: &mut Child) {
    // It may have exited in the meantime, so errors are ignored.
    let _ = child.kill();
    let _ = child.wait();
}

fn classify(text: &str) -> SolverAnswer {
    let word = text.split_whitespace().next().unwrap_or("");
    match word {
        "unsat" => SolverAnswer::Unsat,
        "sat" => SolverAnswer::Sat,
        "unknown" => SolverAnswer::Unknown(String::new()),
        "timeout" => SolverAnswer::Timeout,
        _ => SolverAnswer::Nonsense(text.lines().next().unwrap_or("").chars().take(120).collect()),
    }
}

/// Whether it will answer the same next time. Limits are steps of the solver, so that this is true of `unknown`, too.
fn is_answer(text: &str) -> bool {
    matches!(classify(text), SolverAnswer::Sat | SolverAnswer::Unsat | SolverAnswer::Unknown(_))
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
        assert_eq!(classify("unsat\n"), SolverAnswer::Unsat);
        assert_eq!(classify("sat\n(model)"), SolverAnswer::Sat);
        assert_eq!(classify("unknown"), SolverAnswer::Unknown(String::new()));
        assert!(matches!(classify("(error \"line 1\")"), SolverAnswer::Nonsense(_)));
        assert!(matches!(classify("unsatisfied customer"), SolverAnswer::Nonsense(_)));
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
        // Has models with at least three ranks only.
        let script = "q=$(cat)\ncase \"$q\" in *'(<= p 1)'*|*'(<= p 2)'*) echo unsat;; \
                      *'(<= p 3)'*) echo 'sat (define-fun p () Int 3)';; *) echo 'sat (define-fun p () Int 99)';; esac";
        let model = scripted(folder.path(), script).smallest_model("(check-sat)\n", Effort::seconds(5));
        assert_eq!(model, Some(vec![("p".to_string(), "3".to_string())]));
    }

    /// A solver that runs a script.
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
        let answer = scripted(folder.path(), "sleep 30 &\necho unsat").ask("(check-sat)", Effort::seconds(20));
        assert!(
            matches!(&answer, SolverAnswer::Crashed(reason) if reason.contains("keeps its output open")),
            "{answer:?}"
        );
        let answer = scripted(folder.path(), "sleep 30 &\nsleep 30")
            .patient_for(Duration::from_secs(1))
            .ask("(check-sat)", Effort::seconds(1));
        assert_eq!(answer, SolverAnswer::Timeout);
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    }

    /// Only processor time counts: a solver that waits is not stopped, one that computes is.
    #[cfg(unix)]
    #[test]
    fn limits_are_processor_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let limit = Effort::seconds(0);
        let waits = scripted(folder.path(), "sleep 3; echo unsat").ask("(check-sat)", limit);
        assert_eq!(waits, SolverAnswer::Unsat);
        let computes = scripted(folder.path(), "while :; do :; done").ask("(check-sat)", limit);
        assert_eq!(computes, SolverAnswer::Timeout);
    }

    /// The plain procedure comes first; z3's own choice where that does not know.
    #[cfg(unix)]
    #[test]
    fn a_second_attempt_follows_one_without_an_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = |plain: &str| {
            format!(
                "case \"$*\" in *default_tactic=smt*) echo {plain};; *'rlimit=7000000 '*) echo sat;; *) echo bad;; esac"
            )
        };
        let ask = |plain: &str| scripted(folder.path(), &script(plain)).ask("(check-sat)", Effort::seconds(7));
        assert_eq!(ask("unsat"), SolverAnswer::Unsat);
        assert_eq!(ask("unknown"), SolverAnswer::Sat);
        assert!(matches!(ask("garbage"), SolverAnswer::Nonsense(_)));
    }

    /// Both are options that z3 accepts.
    #[test]
    fn z3_knows_its_attempts() {
        let Some(z3) = Solver::installed().into_iter().find(|solver| solver.name() == "z3") else { return };
        let attempts = z3.attempts(Effort::seconds(1));
        assert_eq!(attempts.iter().map(|attempt| attempt.steps).collect::<Vec<_>>(), [30_000, 1_000_000]);
        let query = "(declare-const x Int)\n(assert (and (> x 3) (< x 9)))\n(check-sat)\n";
        for attempt in &attempts {
            let text = z3.attempt(query, attempt, Effort::seconds(1)).expect("an answer");
            assert_eq!(classify(&text), SolverAnswer::Sat);
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_answer_that_is_no_text_is_nonsense() {
        let folder = tempfile::tempdir().expect("a folder");
        let answer = scripted(folder.path(), "printf 'un\\377sat\\n'").ask("(check-sat)", Effort::seconds(5));
        assert!(matches!(answer, SolverAnswer::Nonsense(_)), "{answer:?}");
    }

    #[test]
    fn a_missing_solver_is_said_to_be_missing() {
        let answer = Solver::at("/nonexistent/z3").ask("(check-sat)", Effort::seconds(1));
        assert!(matches!(answer, SolverAnswer::Missing(_)));
    }
}
