//! Rules, and checks that they do not contradict each other.

use super::error::Error;
use super::range::NumberRange;
use super::region::{CallAxis, Region};
use super::rule_error::RuleError;
use crate::choice::selection::implementation::Implementation;
use roundel_spec::Kind;
use std::fmt;

/// The order that a rule requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::choice::selection) enum Wanted {
    /// The orders that the algorithm keeps.
    Kept,
    /// No order.
    Any,
    /// Bitwise equal results on all ranks.
    SameTree,
    /// Operands in the order of ranks.
    RankOrder,
}

/// A rule: some calls and their implementation.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The line where it begins, from 1.
    pub line: usize,
    /// The collective.
    pub kind: Kind,
    /// The calls.
    pub region: Region,
    /// The implementation.
    pub implementation: Implementation,
    /// Whether it sets `order = "any"`: ranks may then get different results, although MPI requires identical ones.
    pub knowing: bool,
}

impl Wanted {
    /// Restricts the region to the orders for which a rule applies.
    pub(in crate::choice::selection) fn restrict(
        self,
        kind: Kind,
        implementation: &Implementation,
        region: &mut Region,
    ) -> Result<(), RuleError> {
        let (tree, orders) = (implementation.keeps_tree(kind), implementation.orders(kind));
        let lacks = |order| Err(RuleError::Order { algorithm: implementation.to_string(), order });
        let (tree, orders) = match self {
            Wanted::SameTree | Wanted::RankOrder if !kind.reduces() => {
                return Err(RuleError::ReducesNothing { kind });
            }
            Wanted::SameTree if !tree => return lacks("same-tree"),
            Wanted::RankOrder if orders.to == 0 => return lacks("rank-order"),
            Wanted::Any if kind.reduces() => (kind != Kind::Allreduce, NumberRange::only(0)),
            Wanted::SameTree => (true, NumberRange::only(0)),
            Wanted::Kept | Wanted::Any | Wanted::RankOrder => (tree, orders),
        };
        region.set(CallAxis::Tree, NumberRange::up_to(u64::from(tree)));
        region.set(CallAxis::Order, orders);
        Ok(())
    }
}

/// Returns an error unless each rule is the first to match some call.
pub(in crate::choice::selection) fn consistent(rules: &[Rule]) -> Result<(), Error> {
    rules.iter().enumerate().try_for_each(|(number, rule)| {
        // Rules with ports and other rules match different calls.
        let sort = |rule: &Rule| (rule.kind, rule.implementation.is_for_requests());
        let same: Vec<&Rule> = rules[..number].iter().filter(|earlier| sort(earlier) == sort(rule)).collect();
        matches_first(rule, &same)
    })
}

fn matches_first(rule: &Rule, earlier: &[&Rule]) -> Result<(), Error> {
    let line = rule.line;
    if let Some(twin) = earlier.iter().find(|other| other.region.tightened() == rule.region.tightened()) {
        let (by, other) = (twin.line, twin.implementation.to_string());
        return Err(match twin.implementation == rule.implementation {
            true => Error::Repeated { line, by },
            false => Error::Contradiction { line, by, other },
        });
    }
    let regions: Vec<Region> = earlier.iter().map(|other| other.region).collect();
    let Some(by) = rule.region.covered_by(&regions) else { return Ok(()) };
    Err(Error::Covered { line, by: by.into_iter().map(|number| earlier[number].line).collect() })
}

impl Rule {
    /// The strictest order of reduction among its calls.
    pub fn order(&self) -> &'static str {
        match (self.kind.reduces(), self.region.has_order(), self.region.has_tree()) {
            (false, _, _) | (true, false, false) => "any",
            (true, true, _) => "rank-order",
            (true, false, true) if self.kind == Kind::Allreduce => "same-tree",
            (true, false, true) => "any",
        }
    }

    /// The calls that it matches, as a text.
    pub fn calls(&self) -> String {
        let (region, all) = (&self.region, Region::all());
        let ranges = [
            ("p", region.p(), all.p()),
            ("nodes", region.nodes(), all.nodes()),
            ("ppn", region.ppn(), all.ppn()),
            ("bytes", region.bytes(), all.bytes()),
        ];
        let mut said = vec![self.kind.to_string()];
        said.extend(ranges.into_iter().filter(|(_, range, all)| range != all).map(|(name, range, all)| {
            let to = if range.to == all.to { u64::MAX } else { range.to };
            format!("{name}={}", NumberRange { to, ..range })
        }));
        if region.shape() != all.shape() {
            said.push(format!("placement={}", region.shape().name()));
        }
        if self.kind.reduces() {
            let knowing = if self.knowing && !self.implementation.keeps_tree(self.kind) { " knowingly" } else { "" };
            said.push(format!("order={}{knowing}", self.order()));
        }
        said.join(" ")
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.calls(), self.implementation)
    }
}
