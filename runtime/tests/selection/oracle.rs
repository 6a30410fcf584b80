//! Checks whether a choice serves a call, by asking the collective itself at the real placement.

use roundel::Collective;
use roundel::algorithms::{Visitor, visit_one};
use roundel::selection::{Algorithm, Answer, Implementation, Question};
use roundel::transport::RankPlacement;
use roundel_spec::{Kind, Placement};

/// The fault of a choice, if any.
pub(crate) fn fault(chosen: &Answer, call: &Question, placement: &Placement) -> Option<String> {
    match &chosen.implementation {
        Implementation::Library if call.reproducible && call.kind == Kind::Allreduce => {
            Some("the library promises nothing".into())
        }
        Implementation::Library => None,
        Implementation::Ports(planned) => {
            (planned.nodes != placement.regions().nodes() as usize).then(|| "other nodes".into())
        }
        // Its replays are in tests/programs/shared.rs.
        Implementation::SharedMemory(_) => {
            let nodes = placement.regions().nodes() as usize;
            if placement.regions().sizes().any(|size| size > 64) {
                return Some("a node of more ranks than were replayed".into());
            }
            if nodes == 1 {
                return None;
            }
            // One rank of each node sends for it, so the blocks of a node must be contiguous and in the order of ranks.
            let divided = matches!(call.kind, Kind::Allgather | Kind::ReduceScatter | Kind::Alltoall);
            if !placement.is_sorted() && (divided || call.kind.reduces() && !call.commutes) {
                return Some("nodes are mixed".into());
            }
            match &chosen.between {
                Some(between) => between.algorithms().into_iter().find_map(|algorithm| {
                    let call = Question { kind: algorithm.kind(), ..*call };
                    of_algorithm(algorithm, &call, &Placement::consecutive(nodes, 1))
                }),
                None => Some("nothing between nodes".into()),
            }
        }
        Implementation::Catalogue(algorithm) => of_algorithm(algorithm, call, placement),
    }
}

fn of_algorithm(algorithm: &Algorithm, call: &Question, placement: &Placement) -> Option<String> {
    roots(call.kind, placement.p()).into_iter().find_map(|root| {
        let mut args = algorithm.arguments().clone();
        if call.kind.has_root() {
            args.numbers = vec![root];
        }
        let mut fault = Fault { call, placement, found: Some("not asked".into()) };
        assert!(visit_one(algorithm.name(), &args, &mut fault), "{}", algorithm.name());
        fault.found
    })
}

fn roots(kind: Kind, p: usize) -> Vec<i64> {
    if kind.has_root() { vec![0, p as i64 / 2, p as i64 - 1] } else { vec![0] }
}

struct Fault<'a> {
    call: &'a Question,
    placement: &'a Placement,
    found: Option<String>,
}

impl Fault<'_> {
    fn ask<C: Collective>(&mut self, collective: &C) {
        let here = RankPlacement { placement: self.placement, rank: self.placement.p() - 1 };
        self.found = if C::KIND != self.call.kind {
            Some("of another kind".into())
        } else if C::KIND.reduces() && !self.call.commutes && !here.keeps_order(collective) {
            Some("not in the order of ranks".into())
        } else if C::KIND == Kind::Allreduce && self.call.reproducible && !C::ORDER.same_tree {
            Some("not reproducible".into())
        } else {
            here.serves(collective).err().map(|error| error.to_string())
        };
    }
}

impl Visitor for Fault<'_> {
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.ask(collective);
    }
}
