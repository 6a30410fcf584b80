//! Whether all ranks, or all nodes, do the same relative to their own numbers: read off the declaration, so that it
//! holds for every p at once.
//!
//! *Ranks.* If the rank occurs in a declaration only as `rank + c` in peers and in blocks, where `c` is the same on all
//! ranks, then the rounds of rank r are those of rank 0 with peers moved by r: as many messages, of as many blocks,
//! over the same distances. Rank 0 then stands for all.
//!
//! *Nodes.* If nodes of equal size occur only as `at(node + c, l)`, where `c` and `l` depend on the local index at
//! most, then a rank does what the rank with its local index does on node 0, with peers moved by whole nodes. The ranks
//! of one node then stand for all. An inner collective within a node may do anything: all nodes do the same. Between
//! nodes, and over all ranks, its own ranks must do the same.
//!
//! Anything else, such as `rank ^ d` or `when = rank < d`, is not followed: such a collective is simulated rank by
//! rank.

use roundel_spec::Schedule;
use roundel_spec::blocks::{BlockSet, Index};
use roundel_spec::expr::{Binary, Builtin, Expr, PLACEMENT_SLOTS, slot};
use roundel_spec::schedule::{Group, Loop, Transfer, Within};
use std::collections::HashMap;

/// Which ranks stand for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// Rank 0, wherever the ranks are.
    Ranks,
    /// The ranks of a node, if all nodes have equally many.
    Nodes,
    /// Every rank may do something of its own.
    None,
}

impl Symmetry {
    /// What the declaration shows.
    pub fn of(schedule: &Schedule) -> Symmetry {
        let shown = |symmetry: &Symmetry| Reader { schedule, symmetry: *symmetry }.holds();
        [Symmetry::Ranks, Symmetry::Nodes].into_iter().find(shown).unwrap_or(Symmetry::None)
    }

    /// The number of ranks that stand for all, if the machine repeats itself after `period` ranks and every node has
    /// `ppn`.
    pub fn stand_in(self, period: usize, ppn: usize) -> Option<usize> {
        match self {
            Symmetry::Ranks => Some(period),
            Symmetry::Nodes => period.is_multiple_of(ppn).then_some(period),
            Symmetry::None => None,
        }
    }
}

/// How a value depends on the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependence {
    /// It is the same on all ranks, or on all ranks with the same local index.
    Same,
    /// It is a rank: mine, and something that is the same.
    Rank,
    /// It is a node: mine, and something that is the same.
    Node,
    /// In some other way.
    Otherwise,
}

use Dependence::{Node, Otherwise, Rank, Same};

struct Reader<'a> {
    schedule: &'a Schedule,
    symmetry: Symmetry,
}

/// The arguments of the definition around an expression, by slot.
type Bound = HashMap<usize, Dependence>;

impl Reader<'_> {
    fn holds(&self) -> bool {
        self.same(&self.schedule.blocks) && self.schedule.loops.iter().all(|l| self.of_loop(l))
    }

    fn of_loop(&self, l: &Loop) -> bool {
        let states = l.states.iter().all(|state| self.same(&state.init) && self.same(&state.next));
        states
            && l.indices.iter().all(|index| self.range(index))
            && l.transfers.iter().all(|transfer| self.transfer(transfer))
            && l.within.iter().all(|within| self.within(within))
    }

    fn transfer(&self, transfer: &Transfer) -> bool {
        transfer.each.iter().all(|index| self.range(index))
            && transfer.when.as_ref().is_none_or(|when| self.same(when))
            && self.dependence(&transfer.peer, &Bound::new()) == Rank
            && self.counts(&transfer.blocks)
    }

    fn within(&self, within: &Within) -> bool {
        let conditions = [&within.when, &within.members, &within.root];
        conditions.into_iter().flatten().all(|e| self.same(e)) && self.counts(&within.brings) && self.inner(within)
    }

    /// Whether the groups of an inner collective do the same, and, if a group spans nodes, its members, too. For an
    /// all-to-all, the index of a member is the same on all nodes only within a node.
    fn inner(&self, within: &Within) -> bool {
        let inner = self.schedule.inners[within.inner].schedule.as_deref();
        let alike = || within.to.is_none() && inner.is_some_and(|inner| Symmetry::of(inner) == Symmetry::Ranks);
        match (&within.group, self.symmetry) {
            (Group::Node, Symmetry::Nodes) => true,
            (Group::Lane, Symmetry::Nodes) | (Group::All, _) => alike(),
            _ => false,
        }
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

    /// Indices and states are the same on all ranks, because [`Reader::holds`] examines where they come from.
    fn dependence(&self, e: &Expr, bound: &Bound) -> Dependence {
        match e {
            Expr::Var(var) => bound.get(&var.slot).copied().unwrap_or_else(|| self.variable(var.slot)),
            Expr::Int(_) | Expr::Bool(_) | Expr::Length(_) => Same,
            Expr::Binary(Binary::Add, a, b) => match (self.dependence(a, bound), self.dependence(b, bound)) {
                (Same, other) | (other, Same) => other,
                _ => Otherwise,
            },
            Expr::Binary(Binary::Sub, a, b) => match (self.dependence(a, bound), self.dependence(b, bound)) {
                (Rank, Rank) | (Node, Node) => Same,
                (moved, Same) => moved,
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
            Expr::Builtin(Builtin::NodeSize, _) if self.symmetry == Symmetry::Nodes => Same,
            Expr::Builtin(Builtin::FirstRank, node) if self.symmetry == Symmetry::Nodes => {
                if self.dependence(&node[0], bound) == Node { Rank } else { Otherwise }
            }
            Expr::Builtin(Builtin::NodeSize | Builtin::FirstRank, _) => Otherwise,
            other if other.children().iter().all(|child| self.dependence(child, bound) == Same) => Same,
            _ => Otherwise,
        }
    }

    /// A variable that is no argument of a definition.
    fn variable(&self, number: usize) -> Dependence {
        match (number, self.symmetry) {
            (slot::RANK, _) => Rank,
            (slot::NODE, Symmetry::Nodes) => Node,
            (number, Symmetry::Ranks) if PLACEMENT_SLOTS.contains(&number) => Otherwise,
            _ => Same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::params::Params;
    use crate::source::Source;
    use roundel::algorithms::{self, Entry};
    use roundel_spec::{Direction, Placement};
    use std::collections::BTreeSet;

    fn catalogued(symmetry: Symmetry) -> Vec<&'static Entry> {
        algorithms::catalogue().iter().filter(|entry| Symmetry::of(&(entry.schedule)()) == symmetry).collect()
    }

    #[test]
    fn of_the_catalogue() {
        let ranks = [
            "allgather/ring",
            "allgather/bruck",
            "allgather/k-bruck",
            "allgather/sparbit",
            "allgather/circulant",
            "allreduce/ring",
            "allreduce/prefix",
            "allreduce/cyclic-shift",
            "allreduce/reduce-scatter-allgather",
            "reduce-scatter/bruck",
            "reduce-scatter/circulant",
            "reduce-scatter/cyclic-shift",
            "reduce-scatter/k-bruck",
            "reduce-scatter/pairwise",
            "reduce-scatter/ring",
            "reduce-scatter/sparbit",
            "alltoall/k-bruck",
            "alltoall/modified-bruck",
            "alltoall/pairwise",
            "alltoall/spread-out",
        ];
        let nodes =
            ["allgather/locality-bruck", "allgather/hierarchical", "allgather/multi-lane", "alltoall/leaders"];
        for (symmetry, expected) in [(Symmetry::Ranks, &ranks[..]), (Symmetry::Nodes, &nodes[..])] {
            let found: BTreeSet<&str> = catalogued(symmetry).iter().map(|entry| entry.name).collect();
            assert_eq!(found, expected.iter().copied().collect(), "{symmetry:?}");
        }
    }

    /// What the declaration says is compared with what the generated code does.
    #[test]
    fn rounds_are_those_of_the_ranks_that_stand_for_them() {
        for symmetry in [Symmetry::Ranks, Symmetry::Nodes] {
            for entry in catalogued(symmetry) {
                let schedule = (entry.schedule)();
                let lists: Vec<String> =
                    schedule.lists.iter().map(|list| format!("{}=1,2,1,1", list.var.name)).collect();
                let set: Vec<_> = lists.iter().map(|text| text.parse().expect("an assignment")).collect();
                let params = Params::resolve(entry.name, &schedule, &set).expect("has values");
                let mut seen = 0;
                for (p, ppn) in (1..=24usize).flat_map(|p| (1..=p).filter(move |&n| p % n == 0).map(move |n| (p, n)))
                {
                    let placement = Placement::consecutive(p, ppn);
                    let Ok(trace) = catalogue::record(entry, &params.args, &placement).expect("can be recorded")
                    else {
                        continue;
                    };
                    let stand_in = symmetry.stand_in(if ppn == p { 1 } else { ppn }, ppn).unwrap_or(p);
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
                    assert!(
                        (stand_in..p).all(|rank| moved(rank) == moved(rank % stand_in)),
                        "{} at p = {p}, ppn = {ppn}",
                        entry.name
                    );
                    seen += usize::from(stand_in < p);
                }
                assert!(seen > 0, "{} was never compared", entry.name);
            }
        }
    }

    fn declared(clauses: &str) -> Symmetry {
        declared_as("allgather", "struct Some;", clauses)
    }

    fn declared_as(kind: &str, item: &str, clauses: &str) -> Symmetry {
        let text = format!("#[derive(Collective)]\n#[collective({kind})]\n{clauses}\n{item}\n");
        let source = Source::of_text("some.rs", &text);
        let declared = source.declarations().unwrap_or_default().pop().expect("is declared");
        Symmetry::of(&declared.result.expect("is well-formed").schedule)
    }

    #[test]
    fn anything_else_is_not_followed() {
        let ring = |send: &str, recv: &str| {
            declared(&format!("#[round(s in 0..p - 1)]\n#[send({send})]\n#[recv({recv})]\n"))
        };
        let recv = "from = rank - 1, blocks = [rank - 1 - s]";
        assert_eq!(ring("to = rank + 1, blocks = [rank - s]", recv), Symmetry::Ranks);
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
            assert_eq!(ring(send, recv), Symmetry::None, "{send}");
        }
        assert_eq!(ring("to = if s < 41 { rank + 1 } else { rank + 2 }, blocks = [rank - s]", recv), Symmetry::Ranks);
    }

    #[test]
    fn nodes_are_followed_where_all_do_the_same() {
        let leaders = |clauses: &str, within: &str| {
            declared_as(
                "allgather, inner: allgather",
                "struct Some<I> { pub inner: I }",
                &format!(
                    "#[round(s in 0..nodes)]\n{clauses}\n#[recv(from = at(node + s, local), blocks = [region(node + s)])]\n\
                     #[within({within})]\n"
                ),
            )
        };
        let send = "#[send(to = at(node - s, local), blocks = [region(node)])]";
        assert_eq!(leaders(send, "node, inner"), Symmetry::Nodes);
        for send in [
            "to = at(node - s, 0), when = local == 0, blocks = [region(node)]",
            "to = first_rank(node - s) + local, blocks = [region(node)]",
            "to = at(node - s, local), blocks = [region(node); j in 0..node_size(node + 3) - local]",
            "to = rank + s * ppn, blocks = [rank]",
        ] {
            assert_eq!(leaders(&format!("#[send({send})]"), "node, inner"), Symmetry::Nodes, "{send}");
        }
        for send in [
            "to = at(s, local), blocks = [region(node)]",
            "to = first_rank(s) + local, blocks = [region(node)]",
            "to = at(2 * node, local), blocks = [region(node)]",
            "to = at(rank + s, local), blocks = [region(node)]",
            "to = node + s, blocks = [region(node)]",
            "to = rank % ppn + s, blocks = [region(node)]",
            "to = at(node - s, local), when = node < 41, blocks = [region(node)]",
            "to = at(node - s, local), blocks = [region(j); j in node..nodes]",
            "to = at(node - s, local), blocks = [rank + j; j in 0..rank - node]",
        ] {
            assert_eq!(leaders(&format!("#[send({send})]"), "node, inner"), Symmetry::None, "{send}");
        }
        // Of an inner collective that spans nodes, nothing is known here.
        for within in ["lane, inner", "all, inner", "node, inner, when = node == 3", "stride(1, p), inner"] {
            assert_eq!(leaders(send, within), Symmetry::None, "{within}");
        }
    }
}
