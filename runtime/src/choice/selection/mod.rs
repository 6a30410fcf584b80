//! Which algorithm a call uses: by a file of rules, by the environment, or by default.
//!
//! A choice is a pure function of the [`Call`], whose values are equal on all ranks, and of the settings, whose
//! [fingerprint](Settings::fingerprint) ranks compare. So ranks choose alike without communication. Every rule is
//! checked against the proofs when it is read: a chosen algorithm is always proved for the call.
//!
//! - [`Selection`]: rules; `docs/selection.md` describes the file
//! - [`Settings`]: the settings in the environment
//! - [`Call`], [`Chosen`]: question and answer
//! - [`DefaultRule`]: the choice if no rule matches
//!
//! ```
//! use roundel::selection::{Call, Selection};
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
//! let chosen = selection.choose(&Call::new(Kind::Allreduce, 64, 4, 8));
//! assert_eq!(chosen.implementation.algorithm(), Some("allreduce/nap"));
//! assert_eq!(chosen.reason.to_string(), "by the rule at line 5");
//! # Ok::<(), roundel::selection::Error>(())
//! ```

mod algorithm;
mod call;
mod chosen;
mod default_rule;
mod device;
mod fingerprint;
mod force;
mod implementation;
mod kind;
mod parameter;
mod rules;
mod settings;

pub use algorithm::Algorithm;
pub use call::{ANY, Call, NodeSizes};
pub use chosen::{Chosen, Explanations, Reason};
pub use default_rule::DefaultRule;
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

use crate::choice::profile::Profile;

/// The version of the file format.
pub const VERSION: i64 = 1;

/// The JSON Schema of the file, for editors.
pub const SCHEMA: &str = include_str!("schema.json");

/// Rules, forced implementations that take precedence, and a default rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    rules: Vec<Rule>,
    forced: Vec<Force>,
    usual: DefaultRule,
}

impl Selection {
    /// The rules, in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The same, with forced implementations that take precedence where they serve.
    pub fn forcing(mut self, forced: Vec<Force>) -> Self {
        self.forced = forced;
        self
    }

    /// The same, with the default rule for a machine. All ranks must pass the same profile.
    pub fn with_profile(mut self, profile: &Profile) -> Self {
        let catalogue = self.usual.catalogue;
        self.usual = DefaultRule::from(profile);
        self.usual.catalogue = catalogue;
        self
    }

    /// The same, but the default rule uses MPI only as the last choice, even where it is faster.
    pub fn preferring_the_catalogue(mut self) -> Self {
        self.usual.catalogue = true;
        self
    }

    /// Chooses how a call runs: as forced, or by the first rule that matches, or by the default rule.
    pub fn choose(&self, call: &Call) -> Chosen {
        let forced = self.forced.iter().filter(|force| force.kind == call.kind);
        let forced = forced.map(|force| (&force.implementation, Reason::Forced, false));
        let rules = self.rules.iter().filter(|rule| rule.kind == call.kind && rule.region.contains(call));
        let rules = rules.map(|rule| (&rule.implementation, Reason::Rule { line: rule.line }, rule.knowing));
        let mut passed = Vec::new();
        for (implementation, reason, knowing) in forced.chain(rules) {
            match implementation.serves(&Call { identical: call.identical && !knowing, ..*call }) {
                Ok(()) => return Chosen { call: *call, implementation: implementation.clone(), reason, passed },
                Err(refusal) => passed.push(format!("not {implementation}, {reason}, because {refusal}")),
            }
        }
        let (implementation, reason) = self.usual.choose(call);
        Chosen { call: *call, implementation, reason, passed }
    }

    /// The ports that are forced or set by a rule for a persistent request; none if the profile decides.
    pub fn ports(&self, call: &Call) -> Option<Chosen> {
        let chosen = self.choose(&Call { request: true, ..*call });
        matches!(chosen.implementation, Implementation::Ports(_)).then_some(chosen)
    }
}
