//! `roundel explore`: a page about collectives, served to a browser on the same machine.
//!
//! The page draws; everything that it draws is computed here, by the same code as the other commands: no schedule is
//! interpreted in the browser. Answers are JSON, and each is determined by its address (and the text of a declaration
//! that is being edited), so a file with the answers of one collective works without a server.
//!
//! - `http`, `server`: requests and answers; only pages of this server are answered
//! - `ask`: addresses as questions; `refusal`: why there is no answer
//! - `subject`, `recording`: the collective that is asked about, and its rounds
//! - `view`, `step`, `rank`, `cell`: a call as a whole, after a step, as one rank sees it, and one slot of it
//! - `outline`: calls too large to keep every message
//! - `edit`, `proof`, `cost`, `traced`: checks of edited text, proofs, predicted times, traces of programs
//! - `page`: the page itself, also as one file

pub mod ask;
mod cell;
mod cost;
mod edit;
pub mod http;
mod outline;
pub mod page;
mod proof;
mod rank;
mod recording;
mod refusal;
pub mod server;
mod step;
mod subject;
mod traced;
mod view;

pub use refusal::Refusal;

use crate::error::Error;
use crate::source::Source;
use ask::{ExploredCall, PageQuestion};
use proof::ProofJobs;
use recording::Recording;
use roundel::algorithms;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use subject::ExploredCollective;

/// How many recorded calls are kept, so that stepping through one is fast.
const KEPT: usize = 4;

/// What the page can ask.
#[derive(Debug)]
pub struct Explorer {
    /// The declarations of a file that the command line names: `FILE.rs:Type`.
    files: Vec<(String, PathBuf)>,
    kept: Mutex<Vec<(String, Arc<Recording>)>>,
    proofs: ProofJobs,
}

impl Explorer {
    /// Explores the catalogue, and a file if there is one. The file is only ever read.
    pub fn new(file: Option<&Path>) -> Result<Self, Error> {
        let mut files = Vec::new();
        if let Some(path) = file {
            let source = Source::read(path)?;
            let declared =
                source.declarations().map_err(|errors| crate::error::Diagnosed::malformed(&source, errors))?;
            files.extend(declared.iter().map(|one| (format!("{}:{}", path.display(), one.name), path.into())));
            if files.is_empty() {
                return Err(Error::NothingDeclared { path: path.into() });
            }
        }
        Ok(Explorer { files, kept: Mutex::default(), proofs: ProofJobs::default() })
    }

    /// The name of the first declaration of the file.
    pub fn first_of_file(&self) -> Option<&str> {
        self.files.first().map(|(name, _)| name.as_str())
    }

    /// Answers a question; `text` is a declaration that replaces the one of the collective.
    pub fn answer(&self, question: &PageQuestion, text: Option<&str>) -> Result<Value, Refusal> {
        Ok(match question {
            PageQuestion::Catalogue => self.catalogue(),
            PageQuestion::View(call) => match self.subject(call, text)? {
                large if outline::is_needed(&large, call)? => outline::outline(&large, call)?,
                _ => view::view(&*self.recorded(call, text)?)?,
            },
            PageQuestion::Step(call, step) => step::step(&*self.recorded(call, text)?, *step)?,
            PageQuestion::Rank(call, rank) => match self.subject(call, text)? {
                large if outline::is_needed(&large, call)? => outline::rank(&large, call, *rank)?,
                _ => rank::rank(&*self.recorded(call, text)?, *rank)?,
            },
            PageQuestion::Cell(call, rank, row) => cell::cell(&*self.recorded(call, text)?, *rank, *row)?,
            PageQuestion::Route(call, block) => cell::route(&*self.recorded(call, text)?, *block)?,
            PageQuestion::Cost(call, machine) => cost::cost(&self.subject(call, text)?, call, machine.as_deref())?,
            PageQuestion::Check(call) => edit::check(&self.subject_name(call)?, text.ok_or(Refusal::NoText)?),
            PageQuestion::Prove(call) => self.proofs.start(self.subject(call, text)?)?,
            PageQuestion::Proof(job) => self.proofs.progress(*job)?,
            PageQuestion::Trace => traced::trace(text.ok_or(Refusal::NoText)?)?,
            PageQuestion::Placement => ask::placement(text.ok_or(Refusal::NoText)?)?,
        })
    }

    /// The picture of a call as a figure for a document.
    pub fn figure(&self, call: &ExploredCall, text: Option<&str>) -> Result<String, Refusal> {
        view::figure(&*self.recorded(call, text)?)
    }

    fn catalogue(&self) -> Value {
        let files = self.files.iter().filter_map(|(name, _)| ExploredCollective::find(name, &self.files, None).ok());
        let all = algorithms::catalogue()
            .iter()
            .filter_map(|entry| ExploredCollective::find(entry.name, &self.files, None).ok());
        let listed: Vec<Value> = files.chain(all).map(|subject| subject.listed()).collect();
        serde_json::json!({ "collectives": listed, "version": env!("CARGO_PKG_VERSION") })
    }

    fn subject(&self, call: &ExploredCall, text: Option<&str>) -> Result<ExploredCollective, Refusal> {
        ExploredCollective::find(&call.collective, &self.files, text)
            .map(|subject| subject.with_inners(!call.contract))
    }

    /// The name of a collective that exists, its type and its file, for text that need not have it.
    fn subject_name(&self, call: &ExploredCall) -> Result<subject::NamedText, Refusal> {
        subject::NamedText::find(&call.collective, &self.files)
    }

    /// The rounds of a call, which are kept for the next question.
    fn recorded(&self, call: &ExploredCall, text: Option<&str>) -> Result<Arc<Recording>, Refusal> {
        let key = format!("{}\n{}", call.address(), text.unwrap_or(""));
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = kept().iter().find(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let recording = Arc::new(Recording::new(self.subject(call, text)?, call)?);
        let mut all = kept();
        all.insert(0, (key, recording.clone()));
        all.truncate(KEPT);
        Ok(recording)
    }
}
