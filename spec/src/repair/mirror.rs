//! The receive that a send asks for, and the send that a receive asks for.
//!
//! Where rank r sends the blocks B(r) to r + e, a rank receives from rank - e, and what arrives there is B(rank - e).
//! So the one clause follows from the other.

use super::algebra::{blocks_of, inverse, renamed, seen_by};
use super::words::clause;
use super::{Candidate, words};
use crate::check::violation::{Problem, Violation};
use crate::schedule::expr::Expr;
use crate::schedule::message::{Action, Direction, Site};
use crate::schedule::{Field, Schedule, SchedulePart, Transfer};

/// All candidates for a violation, the most likely first; none unless sends and receives do not match.
pub(super) fn candidates(schedule: &Schedule, violation: &Violation) -> Vec<Candidate> {
    let matching = matches!(
        violation.problem,
        Problem::UnmatchedSend { .. }
            | Problem::UnmatchedRecv { .. }
            | Problem::DifferentBlocks { .. }
            | Problem::Confused { .. }
    );
    let SchedulePart::Transfer(site, _) = violation.spot else { return Vec::new() };
    let Some(n) = loop_of(schedule, site).filter(|_| matching) else { return Vec::new() };
    let mut mirrors = Mirrors { schedule, n, all: Vec::new(), single: false };
    mirrors.add_missing();
    // A receive is adapted to its send rather than the other way round, unless it is the send that has no partner.
    for changed in [Direction::Recv, Direction::Send] {
        mirrors.adapt(changed);
    }
    mirrors.swap_receives();
    mirrors.all
}

/// Edits of a message together with its partner: the receive that the changed send asks for, or the reverse.
pub(super) fn edited_pairs(original: &Schedule, edits: &[Candidate]) -> Vec<Candidate> {
    let mut all = Vec::new();
    for edit in edits {
        for (n, l) in edit.schedule.loops.iter().enumerate() {
            let before = &original.loops[n].transfers;
            let Some(i) = (0..l.transfers.len()).find(|&i| before.get(i) != Some(&l.transfers[i])) else { continue };
            let partner = opposite(l.transfers[i].direction);
            let mut mirrors = Mirrors { schedule: &edit.schedule, n, all: Vec::new(), single: true };
            mirrors.adapt(partner);
            let also = |also: Candidate| Candidate { order: format!("{}, and {}", edit.order, also.order), ..also };
            all.extend(mirrors.all.into_iter().map(also));
        }
    }
    all
}

/// The loop that a clause belongs to.
pub(super) fn loop_of(schedule: &Schedule, site: Site) -> Option<usize> {
    schedule.loops.iter().position(|l| l.transfers.iter().any(|t| t.site.number == site.number))
}

struct Mirrors<'a> {
    schedule: &'a Schedule,
    n: usize,
    all: Vec<Candidate>,
    /// Whether a candidate may change only one field of a clause: two changes are rarely what the user meant.
    single: bool,
}

impl Mirrors<'_> {
    fn transfers(&self) -> &[Transfer] {
        &self.schedule.loops[self.n].transfers
    }

    /// The positions of the clauses of one direction.
    fn directed(&self, direction: Direction) -> Vec<usize> {
        let all = self.transfers().iter().enumerate();
        all.filter(|(_, t)| t.direction == direction).map(|(i, _)| i).collect()
    }

    fn change(&mut self, i: usize, fields: &[Field], new: Transfer) {
        let mut schedule = self.schedule.clone();
        schedule.loops[self.n].transfers[i] = new;
        let old = &self.transfers()[i];
        let new = &schedule.loops[self.n].transfers[i];
        let order = match fields {
            [field] => words::field(old, new, *field),
            _ => format!("write `{}` instead of `{}`", clause(&schedule, new), clause(self.schedule, old)),
        };
        self.all.push(Candidate::new(order, schedule));
    }

    /// Adapts the clauses of one direction to their partners: the k-th send is received by the k-th receive.
    fn adapt(&mut self, changed: Direction) {
        let partners = self.directed(opposite(changed));
        for (i, partner) in self.directed(changed).into_iter().zip(partners) {
            let (old, partner) = (self.transfers()[i].clone(), self.transfers()[partner].clone());
            let names: Vec<_> =
                partner.each.iter().zip(&old.each).map(|(a, b)| (a.var.clone(), b.var.clone())).collect();
            let seen =
                |peer: &Expr| renamed(self.schedule, &blocks_of(self.schedule, &partner.blocks, peer)?, &names);
            let (same, turned) = (seen(&old.peer), inverse(self.schedule, &partner.peer));
            let both = turned.as_ref().and_then(|peer| Some((peer.clone(), seen(peer)?)));
            let when = |peer: &Expr| match &partner.when {
                Some(when) => seen_by(self.schedule, when, peer).map(Some),
                None => Some(None),
            };
            let (here, there) = (when(&old.peer), turned.as_ref().and_then(&when));
            if let Some(blocks) = same {
                self.change(i, &[Field::Blocks], Transfer { blocks, ..old.clone() });
            }
            if let Some(peer) = turned.clone().filter(|_| partner.each.len() == old.each.len()) {
                self.change(i, &[Field::Peer], Transfer { peer, ..old.clone() });
            }
            if let Some(when) = here.filter(|_| !self.single) {
                self.change(i, &[Field::When], Transfer { when, ..old.clone() });
            }
            if let Some(((peer, blocks), when)) = both.zip(there).filter(|_| !self.single) {
                let few = partner.each.len() == old.each.len();
                if few {
                    let new = Transfer { peer: peer.clone(), blocks: blocks.clone(), ..old.clone() };
                    self.change(i, &[Field::Peer, Field::Blocks], new);
                }
                let each = if few { old.each.clone() } else { partner.each.clone() };
                self.change(i, &[Field::Whole, Field::When], Transfer { each, when, peer, blocks, ..old });
            }
        }
    }

    /// Adds the partner of a clause that has none.
    fn add_missing(&mut self) {
        for missing in [Direction::Recv, Direction::Send] {
            let (there, partners) = (self.directed(missing), self.directed(opposite(missing)));
            if there.len() >= partners.len() {
                continue;
            }
            for partner in partners {
                let partner = self.transfers()[partner].clone();
                for action in self.actions(missing) {
                    self.add_partner(missing, &partner, action);
                }
            }
        }
    }

    /// What a message that is missing may do where it arrives.
    fn actions(&self, missing: Direction) -> Vec<Action> {
        if missing == Direction::Recv && self.schedule.kind.reduces() {
            vec![Action::CombineLeft { with: 0 }, Action::CombineRight { with: 0 }, Action::Replace, Action::Copy]
        } else {
            vec![Action::Copy]
        }
    }

    fn add_partner(&mut self, direction: Direction, of: &Transfer, action: Action) {
        let schedule = self.schedule;
        let mirrored = || {
            let peer = inverse(schedule, &of.peer)?;
            let blocks = blocks_of(schedule, &of.blocks, &peer)?;
            let when = match &of.when {
                Some(when) => Some(seen_by(schedule, when, &peer)?),
                None => None,
            };
            Some(Transfer { direction, peer, blocks, when, site: of.site, each: of.each.clone() })
        };
        let Some(new) = mirrored() else { return };
        let number =
            schedule.transfers().map(|t| t.site.number).chain(schedule.within().map(|w| w.site.number)).max();
        let site = Site { number: number.map_or(0, |last| last + 1), line: of.site.line, action };
        let mut changed = schedule.clone();
        changed.loops[self.n].transfers.push(Transfer { site, ..new });
        let added = changed.loops[self.n].transfers.last().map_or(String::new(), |t| clause(&changed, t));
        self.all.push(Candidate::new(format!("add `#[{added}]`"), changed));
    }

    /// Swaps two receives: messages of one pair of ranks meet in the order of their clauses.
    fn swap_receives(&mut self) {
        for two in self.directed(Direction::Recv).windows(2) {
            let [a, b] = [two[0], two[1]];
            let mut schedule = self.schedule.clone();
            schedule.loops[self.n].transfers.swap(a, b);
            let [first, second] = [a, b].map(|i| clause(self.schedule, &self.transfers()[i]));
            let order = format!("write `{second}` above `{first}`, in the order of the sends");
            self.all.push(Candidate::new(order, schedule));
        }
    }
}

const fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Send => Direction::Recv,
        Direction::Recv => Direction::Send,
    }
}
