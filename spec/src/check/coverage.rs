//! Rule 4: the contract holds at the end.

use super::CheckInput;
use crate::check::violation::{Problem, Set, Violation};
use crate::schedule::SchedulePart;
use crate::trace::provenance::Provenance;

/// Checks the state at the end of the run.
pub fn check(scene: &CheckInput<'_>, provenance: &Provenance) -> Result<(), Violation> {
    let (kind, root) = (scene.schedule.kind, scene.root());
    for rank in 0..scene.trace.p() {
        let lacks =
            |&block: &usize| kind.must_hold(rank, block, root, scene.trace.p()) && !provenance.ends_with(rank, block);
        let missing = (0..provenance.blocks()).find(lacks);
        if let Some(block) = missing {
            let held = Set(provenance.held(rank, scene.trace.rounds()));
            let spot = SchedulePart::Round(scene.schedule.loops.len().saturating_sub(1));
            return Err(scene.violation(spot, None, Problem::Missing { rank, block, held }));
        }
    }
    Ok(())
}
