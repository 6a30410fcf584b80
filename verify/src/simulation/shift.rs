//! Whether all ranks do the same, relative to their own numbers: read off the declaration, so that it holds for every
//! p at once.
//!
//! If the rank occurs in a declaration only as `rank + c` in peers and in blocks, where `c` is the same on all ranks,
//! then the rounds of rank r are those of rank 0 with peers moved by r: as many messages, of as many blocks, over the
//! same distances. Rank 0 then stands for all. Anything else, such as `rank ^ d` or `when = rank < d`, is not followed:
//! such a collective is simulated rank by rank.

use roundel_spec::Schedule;
use roundel_spec::blocks::{BlockSet, Index};
use roundel_spec::expr::{Binary, Expr, PLACEMENT_SLOTS};
use roundel_spec::schedule::{Loop, Transfer};
use std::collections::HashMap;

/// How a value depends on the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependence {
    /// It is the same on all ranks.
    Same,
    /// It is the rank and something that is the same on all ranks.
    Moved,
    /// In some other way.
    Otherwise,
}

use Dependence::{Moved, Otherwise, Same};

/// The slot of `rank`.
const RANK: usize = 0;

/// Whether the rounds of every rank are those of rank 0 with all peers moved by the rank: equally many messages, of
/// equally many blocks.
pub fn is_invariant(schedule: &Schedule) -> bool {
    let reader = ShiftReader { schedule };
    let same = |e: &Expr| reader.dependence(e, &HashMap::new()) == Same;
    schedule.inners.is_empty() && same(&schedule.blocks) && schedule.loops.iter().all(|l| reader.of_loop(l))
}

struct ShiftReader<'a> {
    schedule: &'a Schedule,
}

/// The arguments of the definition around an expression, by slot.
type Bound = HashMap<usize, Dependence>;

impl ShiftReader<'_> {
    fn of_loop(&self, l: &Loop) -> bool {
        let states = l.states.iter().all(|state| self.same(&state.init) && self.same(&state.next));
        states
            && l.within.is_empty()
            && l.indices.iter().all(|index| self.range(index))
            && l.transfers.iter().all(|transfer| self.transfer(transfer))
    }

    fn transfer(&self, transfer: &Transfer) -> bool {
        transfer.each.iter().all(|index| self.range(index))
            && transfer.when.as_ref().is_none_or(|when| self.same(when))
            && self.dependence(&transfer.peer, &Bound::new()) == Moved
            && self.counts(&transfer.blocks)
    }

    /// Whether a set has equally many blocks on all ranks. Which ones does not matter.
    fn counts(&self, blocks: &BlockSet) -> bool {
        blocks.parts.iter().all(|part| {
            part.over.iter().all(|index| self.range(index))
                && part.filter.as_ref().is_none_or(|filter| self.same(filter))
        })
    }

    fn range(&self, index: &Index) -> bool {
        self.same(&index.lo) && self.same(&index.hi)
    }

    fn same(&self, e: &Expr) -> bool {
        self.dependence(e, &Bound::new()) == Same
    }

    /// Indices and states are the same on all ranks, because [`is_invariant`] examines where they come from.
    fn dependence(&self, e: &Expr, bound: &Bound) -> Dependence {
        match e {
            Expr::Var(var) if bound.contains_key(&var.slot) => bound[&var.slot],
            Expr::Var(var) if var.slot == RANK => Moved,
            Expr::Var(var) if PLACEMENT_SLOTS.contains(&var.slot) => Otherwise,
            Expr::Var(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Length(_) => Same,
            Expr::Binary(Binary::Add, a, b) => match (self.dependence(a, bound), self.dependence(b, bound)) {
                (Same, Same) => Same,
                (Moved, Same) | (Same, Moved) => Moved,
                _ => Otherwise,
            },
            Expr::Binary(Binary::Sub, a, b) => match (self.dependence(a, bound), self.dependence(b, bound)) {
                (Same, Same) | (Moved, Moved) => Same,
                (Moved, Same) => Moved,
                _ => Otherwise,
            },
            Expr::If(condition, a, b) => match (self.dependence(condition, bound), self.dependence(a, bound)) {
                (Same, then) if then == self.dependence(b, bound) => then,
                _ => Otherwise,
            },
            Expr::Call(_, function, args) => {
                let function = &self.schedule.functions[*function];
                let values = function.args.iter().zip(args);
                let inside = values.map(|(arg, value)| (arg.slot, self.dependence(value, bound))).collect();
                self.dependence(&function.body, &inside)
            }
            Expr::Builtin(function, _) if looks_at_nodes(*function) => Otherwise,
            other if other.children().iter().all(|child| self.dependence(child, bound) == Same) => Same,
            _ => Otherwise,
        }
    }
}

fn looks_at_nodes(function: roundel_spec::expr::Builtin) -> bool {
    use roundel_spec::expr::Builtin::{FirstRank, NodeSize};
    matches!(function, FirstRank | NodeSize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::params::Params;
    use crate::source::Source;
    use roundel::algorithms;
    use roundel_spec::{Direction, Placement};

    fn invariant(name: &str) -> bool {
        is_invariant(&(catalogue::find(name).expect("in the catalogue").schedule)())
    }

    #[test]
    fn of_the_catalogue() {
        let found: Vec<&str> =
            algorithms::catalogue().iter().map(|entry| entry.name).filter(|name| invariant(name)).collect();
        let expected = [
            "allgather/ring",
            "allgather/bruck",
            "allgather/k-bruck",
            "allgather/sparbit",
            "allgather/circulant",
            "allreduce/ring",
            "allreduce/prefix",
            "allreduce/cyclic-shift",
            "reduce-scatter/circulant",
            "reduce-scatter/cyclic-shift",
            "reduce-scatter/pairwise",
            "alltoall/k-bruck",
            "alltoall/modified-bruck",
            "alltoall/pairwise",
            "alltoall/spread-out",
        ];
        let missing: Vec<_> = expected.iter().filter(|name| !found.contains(name)).collect();
        let more: Vec<_> = found.iter().filter(|name| !expected.contains(name)).collect();
        assert!(missing.is_empty() && more.is_empty(), "missing {missing:?}, more {more:?}");
    }

    /// What the declaration says is compared with what the generated code does.
    #[test]
    fn invariant_rounds_are_those_of_rank_0_moved() {
        for entry in algorithms::catalogue().iter().filter(|entry| invariant(entry.name)) {
            let schedule = (entry.schedule)();
            let lists: Vec<String> = schedule.lists.iter().map(|list| format!("{}=1,2,1,1", list.var.name)).collect();
            let set: Vec<_> = lists.iter().map(|text| text.parse().expect("an assignment")).collect();
            let params = Params::resolve(entry.name, &schedule, &set).expect("has values");
            let mut seen = 0;
            for p in 1..=24usize {
                let placement = Placement::consecutive(p, p);
                let Ok(trace) = catalogue::record(entry, &params.args, &placement).expect("can be recorded") else {
                    continue;
                };
                let moved = |rank: usize| {
                    let log = &trace.ranks[rank];
                    let round = |number: usize| {
                        let message = |m: &roundel_spec::record::Message| {
                            (m.direction == Direction::Send, (m.peer + p - rank) % p, log.blocks(m).len())
                        };
                        log.round(number).iter().map(message).collect::<Vec<_>>()
                    };
                    (0..log.rounds()).map(round).collect::<Vec<_>>()
                };
                assert!((1..p).all(|rank| moved(rank) == moved(0)), "{} at p = {p}", entry.name);
                seen += 1;
            }
            assert!(seen > 0, "{} was never compared", entry.name);
        }
    }

    fn declared(clauses: &str) -> bool {
        let text = format!("#[derive(Collective)]\n#[collective(allgather)]\n{clauses}\nstruct Some;\n");
        let source = Source::of_text("some.rs", &text);
        let declared = source.declarations().unwrap_or_default().pop().expect("is declared");
        is_invariant(&declared.result.expect("is well-formed").schedule)
    }

    #[test]
    fn anything_else_is_not_followed() {
        let ring = |send: &str, recv: &str| {
            declared(&format!("#[round(s in 0..p - 1)]\n#[send({send})]\n#[recv({recv})]\n"))
        };
        let recv = "from = rank - 1, blocks = [rank - 1 - s]";
        assert!(ring("to = rank + 1, blocks = [rank - s]", recv));
        for send in [
            "to = rank ^ 1, blocks = [rank - s]",
            "to = 2 * rank, blocks = [rank - s]",
            "to = rank % 3, blocks = [rank - s]",
            "to = s, blocks = [rank - s]",
            "to = rank + rank, blocks = [rank - s]",
            "to = s - rank, blocks = [rank - s]",
            "to = rank + node, blocks = [rank - s]",
            "to = rank + 1, blocks = [rank - s; j in 0..rank]",
            "to = rank + 1, blocks = [j; j in 0..p, j < rank]",
            "when = rank < 41, to = rank + 1, blocks = [rank - s]",
            "for j in 0..rank, to = rank + 1, blocks = [rank - j]",
            "to = if rank < 41 { rank + 1 } else { rank + 2 }, blocks = [rank - s]",
        ] {
            assert!(!ring(send, recv), "{send}");
        }
        assert!(ring("to = if s < 41 { rank + 1 } else { rank + 2 }, blocks = [rank - s]", recv));
    }
}
