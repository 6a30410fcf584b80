//! An answer: an implementation, and the reason to choose it.

use super::between_nodes::BetweenNodes;
use super::implementation::Implementation;
use crate::choice::alltoalls::ModelledAlltoall;
use crate::choice::ports::ModelledPorts;
use crate::choice::question::Question;
use std::collections::HashSet;
use std::fmt;

/// Why an implementation was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `ROUNDEL_FORCE` forces it.
    Forced,
    /// The first rule that matches is at this line.
    Rule {
        /// The line, from 1.
        line: usize,
    },
    /// Buffers may be in device memory.
    Device(&'static str),
    /// No rule matches, and the default rule chose it for this reason.
    Default(&'static str),
    /// No rule matches, and a persistent request runs plans with ports, which the clock ranks.
    Clock,
}

/// A modelled cost.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimate {
    /// Of an all-to-all, from the counts of its messages.
    Alltoall(ModelledAlltoall),
    /// Of a plan with ports, by the clock.
    Ports(ModelledPorts),
}

impl Estimate {
    /// The total time in seconds.
    pub fn seconds(&self) -> f64 {
        match self {
            Estimate::Alltoall(modelled) => modelled.time.total(),
            Estimate::Ports(modelled) => modelled.seconds(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Forced => f.write_str("forced by ROUNDEL_FORCE"),
            Reason::Rule { line } => write!(f, "by the rule at line {line}"),
            Reason::Device(reason) => f.write_str(reason),
            Reason::Default(reason) => write!(f, "by default: {reason}"),
            Reason::Clock => f.write_str("by default: by the profile"),
        }
    }
}

/// An implementation that serves a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The call.
    pub question: Question,
    /// The implementation.
    pub implementation: Implementation,
    /// The reason.
    pub reason: Reason,
    /// Its modelled cost, if a model ranked it.
    pub estimate: Option<Estimate>,
    /// What runs between the nodes of a call in shared memory.
    pub between: Option<BetweenNodes>,
    /// Implementations that are forced or set by an earlier rule but do not serve the call, and why.
    pub passed: Vec<String>,
}

impl Answer {
    /// Why it is correct.
    pub fn proof(&self) -> String {
        match &self.between {
            Some(between) => format!("{}; between nodes {between}, {}", self.implementation.proof(), between.proof()),
            None => self.implementation.proof(),
        }
    }

    /// One line: the call, its implementation, the reason, and the proof.
    ///
    /// ```
    /// use roundel::selection::{Question, Selection};
    /// use roundel_spec::Kind;
    /// let chosen = Selection::default().preferring_the_catalogue().choose(&Question::new(Kind::Allgather, 6, 6, 8));
    /// let line = "allgather p=6 nodes=1 ppn=6 bytes=8: allgather/bruck, by default: few rounds, because it is short; \
    ///             proved for all p (proofs/Bruck.json)";
    /// assert_eq!(chosen.explain(), line);
    /// ```
    pub fn explain(&self) -> String {
        let Answer { question, implementation, reason, passed, .. } = self;
        let passed: String = passed.iter().map(|passed| format!("; {passed}")).collect();
        format!("{question}: {implementation}, {reason}; {}{passed}", self.proof())
    }
}

/// The explanations so far, so that every distinct call is explained once; again if its implementation changes.
#[derive(Clone, Debug, Default)]
pub struct Explanations(HashSet<(Question, String)>);

impl Explanations {
    /// The explanation, unless the same call was explained before.
    ///
    /// ```
    /// use roundel::selection::{Question, Explanations, Selection};
    /// use roundel_spec::Kind;
    /// let answer = Selection::default().choose(&Question::new(Kind::Gather, 4, 2, 8));
    /// let mut explanations = Explanations::default();
    /// assert!(explanations.once(&answer).is_some() && explanations.once(&answer).is_none());
    /// ```
    pub fn once(&mut self, answer: &Answer) -> Option<String> {
        // The text does not mention the buffers.
        let question = Question { owned_buffers: false, ..answer.question };
        self.0.insert((question, answer.implementation.to_string())).then(|| answer.explain())
    }
}
