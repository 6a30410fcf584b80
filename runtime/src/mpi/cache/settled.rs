//! Reductions that stay with MPI, because it served them before the communicator was set up.

use crate::mpi::arguments::shape::CallShape;
use roundel_spec::Kind;

/// Reductions that MPI served on a communicator before it was set up. They are few, and identified by values that are
/// equal on all ranks.
#[derive(Debug, Default)]
pub(crate) struct Settled(Vec<(Kind, u64)>);

impl Settled {
    pub(crate) fn keep(&mut self, shape: &CallShape) {
        // Where every tree gives the same bits, either MPI or Roundel may reduce.
        if shape.kind.reduces() && !shape.exact {
            self.add(shape.kind, shape.bytes);
        }
    }

    /// Notes that MPI serves reductions of this many bytes.
    pub(crate) fn add(&mut self, kind: Kind, bytes: u64) {
        if !self.contains(kind, bytes) {
            self.0.push((kind, bytes));
        }
    }

    /// Whether MPI served a call like this one.
    pub(crate) fn has(&self, shape: &CallShape) -> bool {
        !shape.exact && self.contains(shape.kind, shape.bytes)
    }

    pub(crate) fn contains(&self, kind: Kind, bytes: u64) -> bool {
        self.0.contains(&(kind, bytes))
    }
}
