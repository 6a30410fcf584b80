//! Mutants: schedules with one small fault each, to measure what the checker notices.
//!
//! A first-order mutant changes exactly one node of a schedule, like a typing mistake. Each is checked like any
//! declaration, and most are killed. A survivor is compared with its original and judged by the [`oracle`], which does
//! not trust the checker: a survivor that the oracle finds wrong has *escaped*, and a kill that the oracle finds
//! correct is a *false alarm*. Both are bugs in the checker.

pub mod beyond;
pub mod harness;
pub mod induction;
mod reductions;

use crate::attack::oracle::{self, OracleRounds};
use roundel_spec::Direction;
use roundel_spec::blocks::BlockSet;
use roundel_spec::check::{self, Point, Points};
use roundel_spec::expr::{BUILTIN_VARS, Binary, Builtin, Expr, Unary, Var, slot};
use roundel_spec::harness::claims::has_steps;
use roundel_spec::schedule::{Field, Group, Hold, Schedule, SchedulePart, Within};
use roundel_spec::{Action, Violation};
use std::collections::{BTreeSet, HashSet};

/// A schedule with one change.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its number among the mutants of its original; the same in every run.
    pub id: usize,
    /// The change.
    pub description: String,
    /// The changed schedule.
    pub schedule: Schedule,
}

/// All first-order mutants of a schedule, each different from the original and from the others.
pub fn mutants(original: &Schedule) -> Vec<Mutant> {
    let mut nursery = Nursery { original, seen: HashSet::from([original.clone()]), all: Vec::new() };
    expressions(&mut nursery);
    dropped_domain(&mut nursery);
    transfers(&mut nursery);
    groups(&mut nursery);
    dropped_filters(&mut nursery);
    shifted_bounds(&mut nursery);
    reductions::actions(&mut nursery);
    reductions::claims(&mut nursery);
    nursery.all
}

/// At most `n` of `all`, evenly spread; the same in every run.
pub fn sample(all: Vec<Mutant>, n: usize) -> Vec<Mutant> {
    let total = all.len();
    if total <= n {
        return all;
    }
    let mut chosen = (0..n).map(|k| k * total / n).peekable();
    all.into_iter().enumerate().filter(|(i, _)| chosen.next_if_eq(i).is_some()).map(|(_, mutant)| mutant).collect()
}

/// `n` second-order mutants, which differ from the original in two places; the same in every run. There may be fewer,
/// because two changes may cancel out, or give the same schedule as two others.
pub fn pairs(original: &Schedule, n: usize) -> Vec<Mutant> {
    let first = mutants(original);
    let mut seen: HashSet<Schedule> = first.iter().map(|mutant| mutant.schedule.clone()).collect();
    seen.insert(original.clone());
    let mut all = Vec::new();
    for k in 0..n {
        let Some(one) = first.get(scattered(2 * k) % first.len().max(1)) else { break };
        let second = mutants(&one.schedule);
        let Some(two) = second.get(scattered(2 * k + 1) % second.len().max(1)) else { continue };
        if seen.insert(two.schedule.clone()) {
            let description = format!("{}; then {}", one.description, two.description);
            all.push(Mutant { id: all.len(), description, schedule: two.schedule.clone() });
        }
    }
    all
}

/// A pseudorandom number that is the same in every run.
fn scattered(k: usize) -> usize {
    let mixed = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize
}

struct Nursery<'a> {
    original: &'a Schedule,
    seen: HashSet<Schedule>,
    all: Vec<Mutant>,
}

impl Nursery<'_> {
    fn add(&mut self, description: String, change: impl FnOnce(&mut Schedule)) {
        let mut schedule = self.original.clone();
        change(&mut schedule);
        if self.seen.insert(schedule.clone()) {
            self.all.push(Mutant { id: self.all.len(), description, schedule });
        }
    }
}

/// Whether an expression is in the declaration: the number of blocks is not, if each rank has its own, nor are the
/// usual blocks of a stage.
fn declared(original: &Schedule, spot: SchedulePart) -> bool {
    let usual = |within: &Within| original.is_stage(within) && within.brings == usual_blocks(original, within);
    match spot {
        SchedulePart::Blocks => original.reverse_of.map_or(original.kind, |reverse| reverse.kind).is_divided(),
        SchedulePart::Transfer(site, Field::Blocks) => {
            !original.within().any(|within| within.site == site && usual(within))
        }
        _ => true,
    }
}

/// The blocks of a clause that says nothing about them.
fn usual_blocks(original: &Schedule, within: &Within) -> BlockSet {
    Within::usual_blocks(original.kind, original.inners[within.inner].kind, &within.group)
}

/// Changes inside expressions.
fn expressions(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    let mut found = Vec::new();
    original.for_each_expr(&mut |spot, e| found.push((spot, e.clone())));
    for (number, (spot, old)) in found.iter().enumerate().filter(|(_, (spot, _))| declared(original, *spot)) {
        let place = place(original, *spot);
        for new in variants(old, &MutantScope::of(original, *spot, old)) {
            nursery.add(format!("{place}: `{old}` -> `{new}`"), |schedule| {
                let mut count = 0;
                schedule.for_each_expr_mut(&mut |_, e| {
                    if count == number {
                        *e = new.clone();
                    }
                    count += 1;
                });
            });
        }
    }
}

/// The index and state variables that may occur in an expression.
struct MutantScope(Vec<Var>);

impl MutantScope {
    /// The variables that occur in it and, if it belongs to a round, those of the round. Ranges of the round itself
    /// only see earlier variables, so nothing is added for them.
    fn of(schedule: &Schedule, spot: SchedulePart, e: &Expr) -> Self {
        let mut vars: Vec<Var> = Vec::new();
        e.walk(&mut |e| {
            if let Expr::Var(var) = e {
                vars.push(var.clone());
            }
        });
        let inside = match spot {
            SchedulePart::Transfer(site, _) => {
                schedule.loops.iter().position(|l| l.transfers.iter().any(|transfer| transfer.site == site))
            }
            SchedulePart::Hold(n, _) | SchedulePart::Hint(n, _) | SchedulePart::EndsWith(n, _) => Some(n),
            _ => None,
        };
        if let Some(l) = inside.map(|n| &schedule.loops[n]) {
            vars.extend(l.indices.iter().map(|index| index.var.clone()));
            vars.extend(l.states.iter().map(|state| state.var.clone()));
        }
        let mut seen = BTreeSet::new();
        let is_parameter = |var: &Var| schedule.numbers.iter().any(|number| number.var.slot == var.slot);
        vars.retain(|var| var.slot >= BUILTIN_VARS.len() && !is_parameter(var) && seen.insert(var.slot));
        MutantScope(vars)
    }
}

/// All expressions that differ from `e` in one node.
fn variants(e: &Expr, scope: &MutantScope) -> Vec<Expr> {
    e.with_one_node_changed(&|node| replacements(node, scope))
}

/// The possible replacements of one node.
fn replacements(e: &Expr, scope: &MutantScope) -> Vec<Expr> {
    match e {
        Expr::Int(n) => [n.checked_add(1), n.checked_sub(1)].into_iter().flatten().map(Expr::Int).collect(),
        Expr::Bool(truth) => vec![Expr::Bool(!truth)],
        Expr::Var(var) => other_variables(var, scope),
        Expr::Unary(Unary::Neg | Unary::Not, a) => vec![(**a).clone()],
        Expr::Binary(op, a, b) => {
            swapped(*op).into_iter().map(|other| Expr::Binary(other, a.clone(), b.clone())).collect()
        }
        Expr::Builtin(Builtin::CeilDiv, args) => match args.as_slice() {
            [a, b] => vec![Expr::binary(Binary::Div, a.clone(), b.clone())],
            _ => vec![],
        },
        Expr::Builtin(function, args) => {
            function.confused_with().into_iter().map(|other| Expr::Builtin(other, args.clone())).collect()
        }
        Expr::If(_, then, otherwise) => vec![(**then).clone(), (**otherwise).clone()],
        Expr::Element(..) | Expr::Length(_) | Expr::Product(..) | Expr::Call(..) => vec![],
    }
}

fn other_variables(var: &Var, scope: &MutantScope) -> Vec<Expr> {
    let same = || Expr::Var(var.clone());
    match BUILTIN_VARS.get(var.slot) {
        Some(&"rank") => vec![Expr::Int(0)],
        Some(&"p") => [Binary::Sub, Binary::Add].map(|op| Expr::binary(op, same(), Expr::Int(1))).to_vec(),
        Some(_) => vec![],
        None if scope.0.iter().any(|known| known.slot == var.slot) => {
            scope.0.iter().filter(|other| other.slot != var.slot).cloned().map(Expr::Var).collect()
        }
        None => vec![],
    }
}

/// The operators that a mutant has instead.
fn swapped(op: Binary) -> Vec<Binary> {
    match op {
        Binary::Div => vec![Binary::Rem],
        Binary::Rem => vec![Binary::Div],
        Binary::BitAnd => vec![Binary::BitOr, Binary::BitXor],
        Binary::BitOr => vec![Binary::BitAnd, Binary::BitXor],
        Binary::BitXor => vec![Binary::BitAnd, Binary::BitOr],
        Binary::Shl => vec![Binary::Shr],
        Binary::Shr => vec![Binary::Shl],
        Binary::And => vec![Binary::Or],
        Binary::Or => vec![Binary::And],
        other => other.confused_with().into_iter().collect(),
    }
}

/// Removes `requires` clauses, one at a time.
fn dropped_domain(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    for (i, clause) in original.requires.iter().enumerate() {
        nursery.add(format!("{}: `{clause}` dropped", place(original, SchedulePart::Requires(i))), |schedule| {
            schedule.requires.remove(i);
        });
    }
    for (n, l) in original.loops.iter().enumerate() {
        for (i, clause) in l.ends_with.iter().enumerate() {
            nursery.add(
                format!("{}: `{clause}` dropped", place(original, SchedulePart::EndsWith(n, i))),
                |schedule| {
                    schedule.loops[n].ends_with.remove(i);
                },
            );
        }
    }
}

/// Transfers without their guard, with the direction reversed, or removed.
fn transfers(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    // All messages have the same effect in the reverse of a collective.
    let receives = original.transfers().find(|transfer| transfer.direction == Direction::Recv);
    let received = receives.filter(|_| original.reverse_of.is_some()).map_or(Action::Copy, |recv| recv.site.action);
    for (n, l) in original.loops.iter().enumerate() {
        for (i, transfer) in l.transfers.iter().enumerate() {
            let whole = place(original, SchedulePart::Transfer(transfer.site, Field::Whole));
            if let Some(when) = &transfer.when {
                let description = format!("{whole}: `when = {when}` dropped");
                nursery.add(description, |schedule| schedule.loops[n].transfers[i].when = None);
            }
            nursery.add(format!("{whole}: direction swapped"), |schedule| {
                let transfer = &mut schedule.loops[n].transfers[i];
                (transfer.direction, transfer.site.action) = match transfer.direction {
                    Direction::Send => (Direction::Recv, received),
                    // A send has no effect on the line it reads.
                    Direction::Recv => (Direction::Send, Action::Copy),
                };
            });
            nursery.add(format!("{whole}: removed"), |schedule| {
                schedule.loops[n].transfers.remove(i);
            });
        }
    }
}

/// Inner collectives without their condition, or removed.
fn groups(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    for (n, l) in original.loops.iter().enumerate() {
        for (i, within) in l.within.iter().enumerate() {
            let whole = place(original, SchedulePart::Transfer(within.site, Field::Whole));
            if let Some(when) = &within.when {
                let description = format!("{whole}: `when = {when}` dropped");
                nursery.add(description, |schedule| schedule.loops[n].within[i].when = None);
            }
            nursery.add(format!("{whole}: removed"), |schedule| {
                schedule.loops[n].within.remove(i);
            });
            for (name, group) in other_groups(&within.group).into_iter().filter(|_| original.is_sequence()) {
                nursery.add(format!("{whole}: group -> `{name}`"), |schedule| {
                    schedule.loops[n].within[i].group = group;
                });
            }
            let usual = usual_blocks(original, within);
            if original.is_sequence() && within.brings != usual {
                nursery.add(format!("{whole}: `blocks = {}` dropped", within.brings), |schedule| {
                    schedule.loops[n].within[i].brings = usual;
                });
            }
            for root in within.root.iter().flat_map(other_roots) {
                let description = format!("{whole}: `root = {}` -> `{root}`", within.root.as_ref().unwrap_or(&root));
                nursery.add(description, |schedule| schedule.loops[n].within[i].root = Some(root));
            }
        }
    }
    // Stages in another order.
    let stages =
        || original.within().map(|within| place(original, SchedulePart::Transfer(within.site, Field::Whole)));
    for (i, (one, next)) in stages().zip(stages().skip(1)).enumerate().filter(|_| original.is_sequence()) {
        nursery.add(format!("{one}: exchanged with {next}"), |schedule| exchange_stages(schedule, i));
    }
}

/// Other groups than nodes or lanes.
fn other_groups(group: &Group) -> Vec<(&'static str, Group)> {
    match group {
        Group::Node => vec![("lane", Group::Lane), ("all", Group::All)],
        Group::Lane => vec![("node", Group::Node), ("all", Group::All)],
        _ => Vec::new(),
    }
}

/// Other roots than this one: the first rank, and the next.
fn other_roots(root: &Expr) -> [Expr; 2] {
    let p = Expr::built_in(slot::P);
    let next = Expr::binary(Binary::Rem, Expr::binary(Binary::Add, root.clone(), 1.into()), p);
    [0.into(), next].map(|other: Expr| if other == *root { 1.into() } else { other })
}

/// Exchanges a clause of a sequence with the next one.
fn exchange_stages(schedule: &mut Schedule, i: usize) {
    let mut clauses: Vec<&mut Within> = schedule.loops.iter_mut().flat_map(|l| &mut l.within).collect();
    let [one, next] = &mut clauses[i..i + 2] else { return };
    std::mem::swap(*one, *next);
    // Clauses are numbered in order.
    std::mem::swap(&mut one.site.number, &mut next.site.number);
}

/// Comprehensions without their condition.
fn dropped_filters(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    for (n, l) in original.loops.iter().enumerate() {
        for (i, transfer) in l.transfers.iter().enumerate() {
            let place = place(original, SchedulePart::Transfer(transfer.site, Field::Blocks));
            for (k, filter) in
                transfer.blocks.parts.iter().enumerate().filter_map(|(k, p)| Some((k, p.filter.as_ref()?)))
            {
                nursery.add(format!("{place}: condition `{filter}` dropped"), |schedule| {
                    schedule.loops[n].transfers[i].blocks.parts[k].filter = None;
                });
            }
        }
        for (i, hold) in l.holds.iter().enumerate() {
            let (Hold::Blocks(set) | Hold::Contributors { ranks: set, .. }) = hold else { continue };
            let place = place(original, SchedulePart::Hold(n, i));
            for (k, filter) in set.parts.iter().enumerate().filter_map(|(k, p)| Some((k, p.filter.as_ref()?))) {
                nursery.add(format!("{place}: condition `{filter}` dropped"), |schedule| {
                    let hold = &mut schedule.loops[n].holds[i];
                    if let Hold::Blocks(set) | Hold::Contributors { ranks: set, .. } = hold {
                        set.parts[k].filter = None;
                    }
                });
            }
        }
    }
}

/// Exact bounds that are off by one.
fn shifted_bounds(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    for (i, bound) in original.bounds.iter().enumerate().filter(|(_, bound)| bound.exact) {
        for op in [Binary::Add, Binary::Sub] {
            let value = Expr::binary(op, bound.value.clone(), Expr::Int(1));
            let description = format!("{}: `{}` -> `{value}`", place(original, SchedulePart::Bound(i)), bound.value);
            nursery.add(description, |schedule| schedule.bounds[i].value = value);
        }
    }
}

/// The name of a part of a schedule, for descriptions.
fn place(schedule: &Schedule, spot: SchedulePart) -> String {
    match spot {
        SchedulePart::Declaration => "declaration".into(),
        SchedulePart::Define(i) => format!("define `{}`", schedule.functions[i].name),
        SchedulePart::Requires(i) => format!("requires #{i}"),
        SchedulePart::Round(n) => format!("round #{n}"),
        SchedulePart::State(n, i) => format!("state `{}`", schedule.loops[n].states[i].var.name),
        SchedulePart::Transfer(site, field) => {
            let direction = schedule.transfers().find(|t| t.site == site).map(|t| t.direction);
            let (clause, peer) = match direction {
                Some(Direction::Recv) => ("recv", " from"),
                Some(Direction::Send) => ("send", " to"),
                None => ("within", " group"),
            };
            let field = match field {
                Field::Whole => "",
                Field::Each => " for",
                Field::When => " when",
                Field::Peer => peer,
                Field::Blocks => " blocks",
            };
            format!("{clause} #{}{field}", site.number)
        }
        SchedulePart::Hold(n, i) => format!("holds #{i} of round #{n}"),
        SchedulePart::Hint(n, i) => format!("hint #{i} of round #{n}"),
        SchedulePart::EndsWith(n, i) => format!("requires(final) #{i} of round #{n}"),
        SchedulePart::Bound(i) => format!("bound #{i} ({})", schedule.bounds[i].metric),
        SchedulePart::Layout => "layout".into(),
        SchedulePart::Blocks => "split".into(),
        SchedulePart::SameTree | SchedulePart::RankOrder => "order".into(),
    }
}

/// The fate of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The checker found it wrong: the violation's code.
    Killed(&'static str),
    /// The checker found it correct, and the oracle agrees.
    Survived(Class),
    /// The checker found it correct, but the oracle did not: why.
    Escaped(String),
    /// The checker found it wrong, but the oracle did not: what.
    FalseAlarm(String),
    /// It is correct in the range, but the prover does not prove it for all p.
    Unproved(Class),
    /// It is wrong in a way that the engine does not claim to detect: the violation's code.
    Unclaimed(&'static str),
}

/// How a survivor compares with its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The same domain and the same messages.
    Identical,
    /// A smaller domain, with the same messages there.
    Narrower,
    /// A domain beyond the original's; the same messages where both are defined.
    OtherDomain,
    /// Other messages, which are also correct.
    Different,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 4] = [Class::Identical, Class::Narrower, Class::OtherDomain, Class::Different];

    /// A name, for people and machines.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Identical => "identical",
            Class::Narrower => "narrower",
            Class::OtherDomain => "other-domain",
            Class::Different => "different-but-correct",
        }
    }
}

/// The relevant messages, by round and rank.
type Essence = Vec<Vec<Vec<oracle::OracleMessage>>>;

/// A schedule and its behaviour at each point of a range: the reference for its mutants.
#[derive(Debug)]
pub struct Original {
    points: Vec<(Point, Option<Essence>)>,
    /// Whether it has the harnesses for single rounds.
    steps: bool,
}

impl Original {
    /// Records the behaviour of a schedule; the error says where the schedule itself is wrong.
    pub fn new(schedule: &Schedule, points: &Points) -> Result<Self, String> {
        let mut all = Vec::new();
        for point in points.iter() {
            let essence =
                opinion(schedule, &point).map_err(|reason| format!("with {}, {reason}", point.case(schedule)))?;
            all.push((point, essence));
        }
        Ok(Original { points: all, steps: has_steps(schedule) })
    }

    /// Whether no point lies in the domain: then mutants cannot be compared with anything.
    pub fn is_empty(&self) -> bool {
        self.points.iter().all(|(_, essence)| essence.is_none())
    }

    /// Checks a mutant and lets the oracle judge the result.
    pub fn fate(&self, mutant: &Schedule) -> Fate {
        let mut checked = 0;
        for (point, _) in &self.points {
            match check::at_point(mutant, point) {
                Ok(passed) => checked += passed.is_some() as usize,
                Err(violation) => {
                    return match opinion(mutant, point) {
                        Err(_) => Fate::Killed(violation.code()),
                        Ok(_) => Fate::FalseAlarm(violation.to_string()),
                    };
                }
            }
        }
        match checked {
            0 => Fate::Killed("nothing-checked"),
            _ => self.compare(mutant).map_or_else(Fate::Escaped, Fate::Survived),
        }
    }

    /// The first violation that the checker finds in a mutant.
    pub fn violation(&self, mutant: &Schedule) -> Option<Violation> {
        self.points.iter().find_map(|(point, _)| check::at_point(mutant, point).err())
    }

    fn compare(&self, mutant: &Schedule) -> Result<Class, String> {
        let (mut fewer, mut more, mut different) = (false, false, false);
        for (point, expected) in &self.points {
            let found = opinion(mutant, point).map_err(|reason| format!("with {}, {reason}", point.case(mutant)))?;
            match (expected, found) {
                (Some(_), None) => fewer = true,
                (None, Some(_)) => more = true,
                (expected, found) => different |= *expected != found,
            }
        }
        Ok(match (different, more, fewer) {
            (true, _, _) => Class::Different,
            (false, true, _) => Class::OtherDomain,
            (false, false, true) => Class::Narrower,
            (false, false, false) => Class::Identical,
        })
    }
}

/// The behaviour of a schedule at a point, `None` outside its domain; or its fault, according to the oracle.
fn opinion(schedule: &Schedule, point: &Point) -> Result<Option<Essence>, String> {
    let (args, placement) = (&point.args, &point.placement);
    if !oracle::admits(schedule, args, placement)? {
        return Ok(None);
    }
    let tape = OracleRounds::of(schedule, args, placement)?;
    oracle::judge(schedule, args, placement, &tape)?;
    Ok(Some(tape.essence()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::of_entry;

    fn ring() -> Schedule {
        of_entry(crate::catalogue::find("allgather/ring").expect("in the catalogue"))
    }

    #[test]
    fn mutants_are_the_same_in_every_run_and_all_different() {
        let (one, two) = (mutants(&ring()), mutants(&ring()));
        assert!(one.len() > 20, "{}", one.len());
        let text = |all: &[Mutant]| all.iter().map(|m| (m.id, m.description.clone())).collect::<Vec<_>>();
        assert_eq!(text(&one), text(&two));
        let schedules: HashSet<&Schedule> = one.iter().map(|mutant| &mutant.schedule).collect();
        assert_eq!(schedules.len(), one.len());
        assert!(!schedules.contains(&ring()));
    }

    #[test]
    fn every_mutant_has_its_own_fingerprint() {
        for entry in roundel::algorithms::catalogue() {
            let original = of_entry(entry);
            let mut seen = HashSet::from([original.fingerprint()]);
            for mutant in mutants(&original) {
                assert!(seen.insert(mutant.schedule.fingerprint()), "{}: {}", entry.name, mutant.description);
            }
        }
    }

    #[test]
    fn samples_and_pairs_are_the_same_in_every_run() {
        let all = mutants(&ring());
        let some = sample(all.clone(), 10);
        assert_eq!(some.len(), 10);
        assert!(some.windows(2).all(|two| two[0].id < two[1].id));
        assert_eq!(sample(all.clone(), 1000).len(), all.len());
        assert!(sample(all.clone(), 0).is_empty());
        let (one, two) = (pairs(&ring(), 30), pairs(&ring(), 30));
        assert!(one.len() > 20, "{}", one.len());
        assert!(one.iter().zip(&two).all(|(a, b)| a.description == b.description));
        let firsts: HashSet<Schedule> = all.into_iter().map(|mutant| mutant.schedule).collect();
        assert!(one.iter().all(|pair| !firsts.contains(&pair.schedule) && pair.schedule != ring()));
    }

    #[test]
    fn one_node_changes() {
        let (rank, p, d) = (Expr::var("rank", 0), Expr::var("p", 1), Expr::var("D", 9));
        let e = Expr::binary(Binary::Sub, rank, Expr::Builtin(Builtin::Min, vec![p, d.clone()]));
        let scope = MutantScope(vec![Var { name: "D".into(), slot: 9 }, Var { name: "s".into(), slot: 8 }]);
        let texts: Vec<String> = variants(&e, &scope).iter().map(ToString::to_string).collect();
        let expected = [
            "rank + min(p, D)",
            "0 - min(p, D)",
            "rank - max(p, D)",
            "rank - min(p - 1, D)",
            "rank - min(p + 1, D)",
            "rank - min(p, s)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_weaker_checker_would_be_found_out() {
        // Judged only where the fault does not show (p = 1), a broken ring survives; the oracle finds it at p = 2.
        let schedule = ring();
        let broken =
            mutants(&schedule).into_iter().find(|m| m.description.ends_with("removed")).expect("there is one");
        let small = Original::new(&schedule, &Points::new(&schedule, 1..=1)).expect("right");
        assert_eq!(small.fate(&broken.schedule), Fate::Survived(Class::Identical));
        let large = Original::new(&schedule, &Points::new(&schedule, 1..=4)).expect("right");
        assert!(matches!(large.fate(&broken.schedule), Fate::Killed(_)));
        assert!(large.compare(&broken.schedule).is_err());
    }

    #[test]
    fn a_wrong_original_is_said() {
        let mut wrong = ring();
        wrong.loops[0].transfers.pop();
        assert!(Original::new(&wrong, &Points::new(&wrong, 1..=4)).is_err());
    }
}
