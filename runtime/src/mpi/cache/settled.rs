//! Reductions that stay with MPI, because it served them before the communicator was set up.

use crate::mpi::arguments::shape::CallShape;
use roundel_spec::Kind;

/// Reductions that MPI served on a communicator before it was set up. They are few, and identified by values that are
/// equal on all ranks.
#[derive(Debug, Default)]
pub(crate) struct Settled(Vec<(Kind, u64)>);

impl Settled {
    pub(crate) fn keep(&mut self, shape: &CallShape) {
        if shape.kind.reduces() && !self.has(shape) {
            self.0.push((shape.kind, shape.bytes));
        }
    }

    /// Whether MPI served a call like this one.
    pub(crate) fn has(&self, shape: &CallShape) -> bool {
        self.0.contains(&(shape.kind, shape.bytes))
    }
}
