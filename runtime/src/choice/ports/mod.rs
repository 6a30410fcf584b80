//! Plans between nodes with several ports, and how the processes of a node cooperate: the
//! [clock](crate::choice::clock) estimates every candidate, and the fastest comes first.
//!
//! A ranking is a pure function of the question and the profile, so ranks with the same question get the same answer
//! without communication; [`Profile::fingerprint`] tells whether they have the same profile.
//!
//! ```
//! use roundel::choice::{Question, ports};
//! use roundel::profile::Profile;
//! use roundel_spec::Kind;
//!
//! let profile = Profile::default();
//! let best = |bytes| {
//!     let all = ports::rank(&profile, &Question::new(Kind::Allreduce, 16, 1, bytes))?;
//!     Ok::<String, ports::Error>(all[0].notation.to_string())
//! };
//! // Short vectors: few rounds. Long ones: every byte is combined once.
//! assert_eq!(best(8)?, "16(3 3)");
//! assert!(best(1 << 24)?.starts_with("16(-"));
//! # Ok::<(), ports::Error>(())
//! ```

mod candidates;
mod lanes;
mod lists;
mod notation;
mod shape;

pub use lanes::{Error, check};
pub use shape::shape;

use crate::choice::clock::{Clock, RoundCost};
use crate::choice::profile::Profile;
use crate::choice::question::{Question, RequiredOrder};
use crate::plan::ports::Ports;
use crate::program::build::Scheme;
use lanes::LaneShare;

/// Up to this many nodes, every plan was replayed and checked against its specification.
pub const REPLAYED: usize = 64;

/// Why a plan is correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanEvidence {
    /// It was replayed and checked, like all plans of up to [`REPLAYED`] nodes.
    Replayed,
    /// It is checked when it is created, before anything is sent.
    AtInitialisation,
}

/// The evidence for plans of this many nodes.
pub const fn proved(nodes: usize) -> PlanEvidence {
    if nodes <= REPLAYED { PlanEvidence::Replayed } else { PlanEvidence::AtInitialisation }
}

/// A candidate and its modelled cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledPorts {
    /// The ports between nodes.
    pub notation: Ports,
    /// The number of processes of every node that send.
    pub lanes: usize,
    /// How the processes of a node cooperate.
    pub scheme: Scheme,
    /// The number of rounds between nodes.
    pub rounds: usize,
    /// The bytes that a node sends.
    pub bytes: u64,
    /// The seconds between nodes.
    pub between: f64,
    /// The seconds within nodes.
    pub inside: f64,
    /// Why its plan is correct.
    pub proof: PlanEvidence,
}

impl ModelledPorts {
    /// The total time in seconds.
    pub fn seconds(&self) -> f64 {
        self.between + self.inside
    }

    /// Breaks ties: fewer rounds are better, and then fewer groups.
    fn simplicity(&self) -> (usize, usize) {
        (self.rounds, self.notation.groups.len())
    }
}

/// All candidates that serve the call, the fastest first. There are none if the order of ranks must be kept between
/// nodes: use `allreduce/recursive-doubling` of the catalogue then.
///
/// # Errors
/// If no plan with ports answers the question.
pub fn rank(profile: &Profile, question: &Question) -> Result<Vec<ModelledPorts>, Error> {
    check(question)?;
    let order = question.required_order();
    if order == RequiredOrder::RankOrder && question.nodes > 1 {
        return Ok(Vec::new());
    }
    let notations = candidates::candidates(question.kind, question.nodes, order != RequiredOrder::Any);
    let mut all = Vec::new();
    for lane in question.lanes(profile) {
        all.extend(notations.iter().map(|notation| modelled(profile, question, &lane, notation)));
    }
    // Notations and lanes come in a fixed order, which a stable sort keeps for ties.
    all.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()).then(a.simplicity().cmp(&b.simplicity())));
    Ok(all)
}

fn modelled(profile: &Profile, question: &Question, lane: &LaneShare, notation: &Ports) -> ModelledPorts {
    let rounds = shape(notation, question.kind, lane.bytes);
    let sent: u64 = rounds.iter().map(|round: &RoundCost| round.sent).sum();
    ModelledPorts {
        notation: notation.clone(),
        lanes: lane.lanes,
        scheme: lane.scheme,
        rounds: rounds.len(),
        bytes: sent.saturating_mul(lane.lanes as u64),
        between: Clock::with_lanes(profile, lane.lanes).rounds(&rounds),
        inside: lane.inside,
        proof: proved(question.nodes),
    }
}

#[cfg(test)]
mod tests;
