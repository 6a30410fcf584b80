//! The plans of the whole catalogue.

use roundel::algorithms::{Visitor, visit_all};
use roundel::plan::Plan;
use roundel::{Collective, IsAlltoall, Place};

/// Visits plans.
pub(crate) trait Look {
    /// Visits the plan of a collective.
    fn look<C: Collective>(&mut self, name: &'static str, collective: &C, plan: Plan);
}

/// Visits the plans of the whole catalogue, for some p.
pub(crate) fn each(look: &mut impl Look) {
    visit_all(&mut Each(look));
}

struct Each<'a, L>(&'a mut L);

impl<L: Look> Each<'_, L> {
    fn each<C: Collective>(&mut self, name: &'static str, collective: &C) {
        for p in [1, 2, 3, 5, 8, 11, 12] {
            if collective.admits(&Place::flat(0, p)).is_ok() {
                let plan = Plan::record(collective, p as usize).unwrap_or_else(|error| panic!("{name}: {error}"));
                self.0.look(name, collective, plan);
            }
        }
    }
}

impl<L: Look> Visitor for Each<'_, L> {
    fn any<C: Collective + Sync>(&mut self, name: &'static str, collective: &C) {
        self.each(name, collective);
    }

    fn alltoall<C: IsAlltoall + Sync>(&mut self, _name: &'static str, _collective: &C) {}
}
