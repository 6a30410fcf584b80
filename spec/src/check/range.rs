//! The range of calls for which a collective is checked or proved.

use crate::schedule::Schedule;
use std::fmt;

/// The placements for which a collective that depends on placement is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "syntax", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Placements {
    /// Every node has equally many ranks, or the last one fewer; plus all placements of few ranks.
    Regular {
        /// The largest number of ranks for which every placement is proved.
        all_up_to: i64,
    },
    /// Nodes of any sizes, and ranks on them in any order.
    Every,
}

impl fmt::Display for Placements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placements::Regular { all_up_to } => {
                write!(f, "nodes of equal size (the last may be smaller), all placements of p <= {all_up_to}")
            }
            Placements::Every => f.write_str("every placement"),
        }
    }
}

/// The calls for which a collective is proved, as upper limits; `None` stands for all values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "syntax", derive(serde::Serialize, serde::Deserialize))]
pub struct ProvedRange {
    /// The largest p.
    pub p: Option<i64>,
    /// The largest value of each number parameter.
    pub numbers: Vec<Option<i64>>,
    /// The maximum length of each list parameter, and the largest value of its elements.
    pub lists: Vec<Option<(i64, i64)>>,
    /// The placements, if the schedule depends on them.
    #[cfg_attr(feature = "syntax", serde(default, skip_serializing_if = "Option::is_none"))]
    pub placements: Option<Placements>,
}

impl ProvedRange {
    /// All calls in the domain, which an induction covers: if nodes matter, they have any sizes.
    pub fn all(schedule: &Schedule) -> Self {
        ProvedRange {
            p: None,
            numbers: vec![None; schedule.numbers.len()],
            lists: vec![None; schedule.lists.len()],
            placements: schedule.uses_placement().then_some(Placements::Every),
        }
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

impl ProvedRange {
    /// Whether this range contains every call of another.
    pub fn covers(&self, other: &ProvedRange) -> bool {
        let lists = self.lists.iter().zip(&other.lists).all(|(mine, theirs)| match (mine, theirs) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((len, value)), Some((other_len, other_value))) => len >= other_len && value >= other_value,
        });
        let numbers = self.numbers.iter().zip(&other.numbers).all(|(mine, theirs)| reaches(*mine, *theirs));
        let same = self.numbers.len() == other.numbers.len() && self.lists.len() == other.lists.len();
        let placements = match (self.placements, other.placements) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => mine.parts(self.p).covers(&theirs.parts(other.p)),
            _ => false,
        };
        same && numbers && lists && placements && reaches(self.p, other.p)
    }
}

/// Whether a limit is at least as high as another, where `None` is no limit.
fn reaches(mine: Option<i64>, other: Option<i64>) -> bool {
    match (mine, other) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(mine), Some(other)) => mine >= other,
    }
}

/// The largest number of ranks for which each kind of placement is proved; `None` for all.
struct ProvedSizes {
    regular: Option<i64>,
    any: Option<i64>,
}

impl ProvedSizes {
    fn covers(&self, other: &ProvedSizes) -> bool {
        reaches(self.regular, other.regular) && reaches(self.any, other.any)
    }
}

impl Placements {
    fn parts(self, p: Option<i64>) -> ProvedSizes {
        match self {
            Placements::Regular { all_up_to } => ProvedSizes { regular: p, any: Some(all_up_to) },
            Placements::Every => ProvedSizes { regular: p, any: p },
        }
    }
}
