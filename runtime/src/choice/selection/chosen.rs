//! A choice and its reason.

use super::call::Call;
use super::implementation::Implementation;
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
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Forced => f.write_str("forced by ROUNDEL_FORCE"),
            Reason::Rule { line } => write!(f, "by the rule at line {line}"),
            Reason::Device(reason) => f.write_str(reason),
            Reason::Default(reason) => write!(f, "by default: {reason}"),
        }
    }
}

/// The implementation chosen for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The call.
    pub call: Call,
    /// The implementation.
    pub implementation: Implementation,
    /// The reason.
    pub reason: Reason,
    /// The earlier choices that do not serve the call, and why not.
    pub passed: Vec<String>,
}

impl Chosen {
    /// Why it is correct.
    pub fn proof(&self) -> String {
        self.implementation.proof()
    }

    /// One line: the call, its implementation, the reason, and the proof.
    ///
    /// ```
    /// use roundel::selection::{Call, Selection};
    /// use roundel_spec::Kind;
    /// let chosen = Selection::default().preferring_the_catalogue().choose(&Call::new(Kind::Allgather, 6, 6, 8));
    /// let line = "allgather p=6 nodes=1 ppn=6 bytes=8: allgather/bruck, by default: few rounds, because it is short; \
    ///             proved for all p (proofs/Bruck.json)";
    /// assert_eq!(chosen.explain(), line);
    /// ```
    pub fn explain(&self) -> String {
        let Chosen { call, implementation, reason, passed } = self;
        let passed: String = passed.iter().map(|passed| format!("; {passed}")).collect();
        format!("{call}: {implementation}, {reason}; {}{passed}", self.proof())
    }
}

/// The explanations so far, so that every distinct call is explained once; again if its implementation changes.
#[derive(Clone, Debug, Default)]
pub struct Explanations(HashSet<(Call, String)>);

impl Explanations {
    /// The explanation, unless the same call was explained before.
    ///
    /// ```
    /// use roundel::selection::{Call, Explanations, Selection};
    /// use roundel_spec::Kind;
    /// let (mut told, chosen) = (Explanations::default(), Selection::default().choose(&Call::new(Kind::Gather, 4, 2, 8)));
    /// assert!(told.once(&chosen).is_some() && told.once(&chosen).is_none());
    /// ```
    pub fn once(&mut self, chosen: &Chosen) -> Option<String> {
        self.0.insert((chosen.call, chosen.implementation.to_string())).then(|| chosen.explain())
    }
}
