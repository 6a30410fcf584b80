//! What has been proved of a collective, and for which calls.
//!
//! A record lies at `proofs/NAME.json` in the crate that declares the collective. `roundel prove` writes it; the derive
//! embeds the range it states when its fingerprint and prover are those of the declaration at hand. Otherwise the range is
//! what the check at compile time covered.

use crate::check::Checked;
use crate::schedule::Schedule;
use std::fmt;

/// The version of the prover. It changes when the obligations or their encoding change, so that old records lapse.
pub const PROVER: &str = "4";

/// The largest p, and the largest parameter, for which index arithmetic is proved to fit the machine. Larger ones are refused.
pub const MAX_P: i64 = (1 << 31) - 1;

/// The placements for which a collective that depends on placement is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "syntax", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Placements {
    /// Every node has equally many ranks, or the last one fewer; and all placements of few ranks.
    Regular {
        /// The largest number of ranks with which every placement is proved.
        all_up_to: i64,
    },
    /// Every node has equally many ranks, at least two; and, of few ranks, those of `Regular`.
    Even {
        /// The largest number of ranks with which the last node may have fewer ranks, or every node one.
        regular_up_to: i64,
        /// The largest number of ranks with which every placement is proved.
        all_up_to: i64,
    },
}

impl Placements {
    /// What is proved for all p, and what was checked up to `p`.
    fn joined(self, checked: Option<Placements>, p: Option<i64>) -> Placements {
        match (self, checked, p) {
            (Placements::Even { .. }, Some(Placements::Regular { all_up_to }), Some(p)) => {
                Placements::Even { regular_up_to: p, all_up_to }
            }
            _ => self,
        }
    }
}

impl fmt::Display for Placements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placements::Regular { all_up_to } => {
                write!(f, "nodes of equal size (the last may be smaller), all placements of p <= {all_up_to}")
            }
            Placements::Even { regular_up_to, all_up_to } => {
                f.write_str("nodes of equal size with two ranks or more")?;
                match regular_up_to {
                    0 => Ok(()),
                    p => write!(f, " (up to p = {p} also with one rank, and a smaller last node)"),
                }?;
                match all_up_to {
                    0 => Ok(()),
                    p => write!(f, ", all placements of p <= {p}"),
                }
            }
        }
    }
}

/// The calls for which a collective is proved: upper limits, `None` for all values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "syntax", derive(serde::Serialize, serde::Deserialize))]
pub struct ProvedRange {
    /// Every p up to this one.
    pub p: Option<i64>,
    /// For each number parameter, its values up to this one.
    pub numbers: Vec<Option<i64>>,
    /// For each list parameter: lists up to this length, elements up to this value.
    pub lists: Vec<Option<(i64, i64)>>,
    /// The placements, if the schedule depends on them.
    #[cfg_attr(feature = "syntax", serde(default, skip_serializing_if = "Option::is_none"))]
    pub placements: Option<Placements>,
}

impl ProvedRange {
    /// All calls in the domain that an induction speaks of: where nodes matter, they have equally many ranks, at least two.
    pub fn all(schedule: &Schedule) -> Self {
        let even = Placements::Even { regular_up_to: 0, all_up_to: 0 };
        ProvedRange {
            p: None,
            numbers: vec![None; schedule.numbers.len()],
            lists: vec![None; schedule.lists.len()],
            placements: schedule.uses_placement().then_some(even),
        }
    }

    /// This range, which is for all p, and with it the placements of few ranks that a check covered. Only without
    /// parameters: a check covers few values of them, and a range says one thing of each.
    pub fn and_checked(mut self, checked: &ProvedRange) -> Self {
        if self.numbers.is_empty() && self.lists.is_empty() {
            self.placements = self.placements.map(|placements| placements.joined(checked.placements, checked.p));
        }
        self
    }

    /// No call at all.
    pub fn nothing(schedule: &Schedule) -> Self {
        let placements = schedule.uses_placement().then_some(Placements::Regular { all_up_to: 0 });
        ProvedRange { p: Some(0), placements, ..ProvedRange::all(schedule) }
    }

    /// The range in words.
    pub fn text(&self, schedule: &Schedule) -> String {
        let mut parts = vec![match self.p {
            Some(p) => format!("p <= {p}"),
            None => "all p".into(),
        }];
        for (number, limit) in schedule.numbers.iter().zip(&self.numbers) {
            parts.push(match limit {
                Some(limit) => format!("{} <= {limit}", number.var.name),
                None => format!("all {}", number.var.name),
            });
        }
        for (list, limit) in schedule.lists.iter().zip(&self.lists) {
            let name = &list.var.name;
            parts.push(match limit {
                Some((len, value)) => format!("len({name}) <= {len} with elements up to {value}"),
                None => format!("all {name}"),
            });
        }
        parts.extend(self.placements.map(|placements| placements.to_string()));
        parts.join(", ")
    }
}

/// One engine's part in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "syntax", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// `exhaustive`, `smt`.
    pub engine: String,
    /// The calls it covered, in words.
    pub range: String,
    /// What it showed.
    pub properties: Vec<String>,
    /// How many points or obligations.
    pub cases: usize,
    /// What it could not show, and why.
    #[cfg_attr(feature = "syntax", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub gaps: Vec<String>,
}

/// The record of what was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "syntax", derive(serde::Serialize, serde::Deserialize))]
pub struct Record {
    /// The declared type.
    pub collective: String,
    /// The fingerprint of its schedule.
    pub schedule: String,
    /// The version of the prover.
    pub prover: String,
    /// The calls for which every property is proved.
    pub range: ProvedRange,
    /// By what.
    pub evidence: Vec<Evidence>,
}

/// Why a record does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// It cannot be read.
    Malformed(String),
    /// It is about another declaration.
    Declaration,
    /// Another version of the prover wrote it.
    Prover(String),
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stale::Malformed(why) => write!(f, "the record cannot be read: {why}"),
            Stale::Declaration => f.write_str("the declaration has changed since it was proved"),
            Stale::Prover(found) => write!(f, "prover version {found} wrote it, this is version {PROVER}"),
        }
    }
}

impl Record {
    /// Whether the record is about this schedule and this prover.
    pub fn current(&self, schedule: &Schedule) -> Result<(), Stale> {
        if self.schedule != schedule.fingerprint() || self.collective != schedule.name {
            return Err(Stale::Declaration);
        }
        if self.prover != PROVER {
            return Err(Stale::Prover(self.prover.clone()));
        }
        let fits =
            self.range.numbers.len() == schedule.numbers.len() && self.range.lists.len() == schedule.lists.len();
        match self.range.placements.is_some() == schedule.uses_placement() {
            _ if !fits => Err(Stale::Malformed("it has other parameters".into())),
            false => Err(Stale::Malformed("it does not say for which placements".into())),
            true => Ok(()),
        }
    }

    /// Where the record of a collective lies in the crate that declares it.
    pub fn path(crate_root: &std::path::Path, schedule: &Schedule) -> std::path::PathBuf {
        crate_root.join("proofs").join(format!("{}.json", schedule.name))
    }

    /// Reads a record and checks that it is current.
    #[cfg(feature = "syntax")]
    pub fn read(text: &str, schedule: &Schedule) -> Result<Self, Stale> {
        let record: Record = serde_json::from_str(text).map_err(|error| Stale::Malformed(error.to_string()))?;
        record.current(schedule).map(|()| record)
    }
}

impl ProvedRange {
    /// The range that the crate's record states if it is current, else what was checked.
    #[cfg(feature = "syntax")]
    pub fn in_crate(crate_root: &std::path::Path, schedule: &Schedule, checked: &Checked) -> Self {
        let text = std::fs::read_to_string(Record::path(crate_root, schedule)).unwrap_or_default();
        Record::read(&text, schedule).map_or_else(|_| ProvedRange::of(schedule, checked), |record| record.range)
    }

    /// The calls that a check covered.
    pub fn of(schedule: &Schedule, checked: &Checked) -> Self {
        checked.range().cloned().unwrap_or_else(|| ProvedRange::nothing(schedule))
    }
}
