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
    /// Every node has equally many ranks, at least two; plus those of `Regular` with few ranks.
    Even {
        /// The largest number of ranks for which the last node may have fewer ranks, or every node one.
        regular_up_to: i64,
        /// The largest number of ranks for which every placement is proved.
        all_up_to: i64,
    },
}

impl Placements {
    /// Combines what is proved for all p with what was checked up to `p`.
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
    /// All calls in the domain that an induction covers: if nodes matter, they have equally many ranks, at least two.
    pub fn all(schedule: &Schedule) -> Self {
        let even = Placements::Even { regular_up_to: 0, all_up_to: 0 };
        ProvedRange {
            p: None,
            numbers: vec![None; schedule.numbers.len()],
            lists: vec![None; schedule.lists.len()],
            placements: schedule.uses_placement().then_some(even),
        }
    }

    /// This range, which is for all p, extended by the placements of few ranks that a check covered. Only without
    /// parameters: a check covers only some of their values, and a range has one limit for each.
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
    even: Option<i64>,
    regular: Option<i64>,
    any: Option<i64>,
}

impl ProvedSizes {
    fn covers(&self, other: &ProvedSizes) -> bool {
        [(self.even, other.even), (self.regular, other.regular), (self.any, other.any)]
            .into_iter()
            .all(|(mine, theirs)| reaches(mine, theirs))
    }
}

impl Placements {
    fn parts(self, p: Option<i64>) -> ProvedSizes {
        match self {
            Placements::Regular { all_up_to } => ProvedSizes { even: p, regular: p, any: Some(all_up_to) },
            Placements::Even { regular_up_to, all_up_to } => {
                ProvedSizes { even: p, regular: Some(regular_up_to), any: Some(all_up_to) }
            }
        }
    }
}
