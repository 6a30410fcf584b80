//! Which algorithm a call uses: by a file of rules, by the environment, or by default.
//!
//! A choice is a pure function of the [`Question`], whose values are equal on all ranks, and of the settings, whose
//! [fingerprint](Settings::fingerprint) ranks compare. So ranks choose alike without communication. Every rule is
//! checked against the proofs when it is read: a chosen algorithm is always proved for the call.
//!
//! - [`Selection`]: rules; `docs/selection.md` describes the file
//! - [`Settings`]: the settings in the environment
//! - [`Question`], [`Answer`]: question and answer
//! - [`DefaultRule`]: the choice if no rule matches
//!
//! ```
//! use roundel::selection::{Question, Selection};
//! use roundel_spec::Kind;
//!
//! let selection = Selection::parse(r#"
//!     format = "roundel-selection"
//!     version = 1
//!
//!     [[rule]]
//!     collective = "allreduce"
//!     p = "2..=96"
//!     ppn = ">=2"
//!     placement = "regular"
//!     bytes = "..2KiB"
//!     algorithm = "nap"
//! "#)?;
//! let chosen = selection.choose(&Question::new(Kind::Allreduce, 64, 4, 8));
//! assert_eq!(chosen.implementation.algorithm(), Some("allreduce/nap"));
//! assert_eq!(chosen.reason.to_string(), "by the rule at line 5");
//! # Ok::<(), roundel::selection::Error>(())
//! ```

mod algorithm;
mod answer;
mod between_nodes;
mod default_rule;
mod device;
mod fingerprint;
mod force;
mod implementation;
mod kind;
mod parameter;
mod rules;
mod settings;

pub use crate::choice::question::{ANY, CallForm, NodeSizes, Question, RequiredOrder};
pub use algorithm::Algorithm;
pub use answer::{Answer, Estimate, Explanations, Reason};
pub use between_nodes::BetweenNodes;
pub use default_rule::DefaultRule;
#[cfg(feature = "mpi")]
pub(crate) use default_rule::most_of_alltoallv;
pub use device::Device;
pub use force::{Force, ForceError};
pub use implementation::{Implementation, PortsPlan};
pub use parameter::Parameter;
pub use rules::error::Error;
pub use rules::range::NumberRange;
pub use rules::region::Region;
pub use rules::rule::Rule;
pub use rules::rule_error::RuleError;
pub use settings::{Settings, SettingsError};

use crate::choice::ports;
use crate::choice::profile::Profile;
use std::borrow::Cow;
use std::iter::once_with;
use std::sync::Arc;

/// The version of the file format.
pub const VERSION: i64 = 1;

/// The JSON Schema of the file, for editors.
pub const SCHEMA: &str = include_str!("schema.json");

/// Rules, forced implementations that take precedence, a default rule, and the profile that ranks plans with ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    rules: Vec<Rule>,
    forced: Vec<Force>,
    default_rule: DefaultRule,
    profile: Arc<Profile>,
}

/// An implementation that may serve a call.
struct Candidate<'a> {
    implementation: Cow<'a, Implementation>,
    reason: Reason,
    estimate: Option<Estimate>,
    /// The call that it must serve; `None` if it is known to serve it.
    unchecked: Option<Question>,
}

impl Selection {
    /// The rules, in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Sets forced implementations, which take precedence where they serve.
    pub fn forcing(mut self, forced: Vec<Force>) -> Self {
        self.forced = forced;
        self
    }

    /// Sets the default rule for a machine. All ranks must pass the same profile.
    pub fn with_profile(mut self, profile: &Profile) -> Self {
        let catalogue = self.default_rule.catalogue;
        self.default_rule = DefaultRule::from(profile);
        self.default_rule.catalogue = catalogue;
        self.profile = Arc::new(profile.clone());
        self
    }

    /// Makes the default rule use MPI only as the last choice, even where it is faster.
    pub fn preferring_the_catalogue(mut self) -> Self {
        self.default_rule.catalogue = true;
        self
    }

    /// All implementations that serve a call, the best first: forced ones, those of rules in their order, and defaults.
    /// The default for a persistent request is the ranking of plans with ports.
    ///
    /// ```
    /// use roundel::selection::{Question, Selection};
    /// use roundel_spec::Kind;
    /// let question = Question::new(Kind::Allreduce, 6, 6, 8);
    /// let names: Vec<String> =
    ///     Selection::default().answers(&question).iter().map(|answer| answer.implementation.to_string()).collect();
    /// assert_eq!(names, ["shared-memory", "library", "allreduce/recursive-doubling"]);
    /// ```
    pub fn answers(&self, question: &Question) -> Vec<Answer> {
        self.serving(question, &mut Vec::new()).collect()
    }

    /// The first of all [answers](Selection::answers), or MPI if there are none.
    pub fn choose(&self, question: &Question) -> Answer {
        let mut passed = Vec::new();
        let first = self.serving(question, &mut passed).next();
        first.unwrap_or(Answer {
            question: *question,
            implementation: Implementation::Library,
            reason: Reason::Default("the catalogue has nothing proved that suits it"),
            estimate: None,
            between: None,
            passed,
        })
    }

    /// The ports that are forced or set by a rule for a persistent request; `None` if the profile decides.
    pub fn ports(&self, question: &Question) -> Option<Answer> {
        let chosen = self.choose(&Question { request: true, ..*question });
        matches!(chosen.reason, Reason::Forced | Reason::Rule { .. }).then_some(chosen)
    }

    /// The candidates that serve a call, found one after the other. Implementations that are forced or set by a rule
    /// but do not serve it are noted in `passed`.
    fn serving<'a>(
        &'a self,
        question: &'a Question,
        passed: &'a mut Vec<String>,
    ) -> impl Iterator<Item = Answer> + 'a {
        self.candidates(question).filter_map(|Candidate { implementation, reason, estimate, unchecked }| {
            match unchecked.map_or(Ok(()), |question| implementation.serves(&question)) {
                Ok(()) => {
                    let (implementation, passed) = (implementation.into_owned(), passed.clone());
                    let between = self.between_nodes(&implementation, question);
                    return Some(Answer { question: *question, implementation, reason, estimate, between, passed });
                }
                Err(refusal) if !matches!(reason, Reason::Default(_)) => {
                    passed.push(format!("not {implementation}, {reason}, because {refusal}"));
                }
                Err(_) => {}
            }
            None
        })
    }

    /// What runs between the nodes of a call, if it runs in shared memory.
    pub(crate) fn between_nodes(&self, implementation: &Implementation, question: &Question) -> Option<BetweenNodes> {
        let in_memory = matches!(implementation, Implementation::SharedMemory(_));
        in_memory.then(|| question.between_nodes_on(self.default_rule.network())).flatten()
    }

    fn candidates<'a>(&'a self, question: &'a Question) -> impl Iterator<Item = Candidate<'a>> {
        let candidate = |implementation, reason, unchecked| Candidate {
            implementation: Cow::Borrowed(implementation),
            reason,
            estimate: None,
            unchecked: Some(unchecked),
        };
        let forced = self.forced.iter().filter(|force| force.kind == question.kind);
        let forced = forced.map(move |force| candidate(&force.implementation, Reason::Forced, *question));
        let rules = self.rules.iter().filter(|rule| rule.kind == question.kind && rule.region.contains(question));
        let rules = rules.map(move |rule| {
            let question = Question { identical: question.identical && !rule.knowing, ..*question };
            candidate(&rule.implementation, Reason::Rule { line: rule.line }, question)
        });
        // Defaults are computed only if they are needed.
        let of_request = question.request.then(|| once_with(|| self.by_the_clock(question)));
        let of_call = (!question.request).then(|| once_with(|| self.default_rule.answers(question)));
        let by_default = of_call.into_iter().flatten().flatten();
        forced.chain(rules).chain(of_request.into_iter().flatten().flatten()).chain(by_default)
    }

    /// The plans with ports for a request, the fastest first.
    fn by_the_clock<'a>(&self, question: &Question) -> impl Iterator<Item = Candidate<'a>> + use<'a> {
        let (nodes, ranked) = (question.nodes, ports::rank(&self.profile, question).unwrap_or_default());
        ranked.into_iter().map(move |modelled| Candidate {
            implementation: Cow::Owned(Implementation::Ports(PortsPlan::modelled(nodes, &modelled))),
            reason: Reason::Clock,
            estimate: Some(Estimate::Ports(modelled)),
            unchecked: None,
        })
    }
}
