//! Whether what was chosen serves a call: asked of the collective itself, at the real placement.

use roundel::Collective;
use roundel::algorithms::{Visitor, visit_one};
use roundel::selection::{Answer, Implementation, Question};
use roundel::transport::RankPlacement;
use roundel_spec::{Kind, Placement};

/// What is wrong with a choice, if anything.
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
        Implementation::SharedMemory => {
            (placement.regions().nodes() != 1 || placement.p() > 64).then(|| "not one node that was replayed".into())
        }
        Implementation::Catalogue(algorithm) => roots(call).into_iter().find_map(|root| {
            let mut args = algorithm.arguments().clone();
            if call.kind.has_root() {
                args.numbers = vec![root];
            }
            let mut fault = Fault { call, placement, found: Some("not asked".into()) };
            assert!(visit_one(algorithm.name(), &args, &mut fault), "{}", algorithm.name());
            fault.found
        }),
    }
}

fn roots(call: &Question) -> Vec<i64> {
    if call.kind.has_root() { vec![0, call.p as i64 / 2, call.p as i64 - 1] } else { vec![0] }
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
        } else if C::KIND.reduces() && !self.call.commutes && !here.keeps_order::<C>() {
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
