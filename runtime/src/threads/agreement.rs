//! What all ranks must say alike when they make a request. A request has messages of its own, so that a disagreement
//! would otherwise show only when they do not fit, or when nobody answers.

use super::comm::ThreadComm;
use crate::algorithms::Bruck;
use crate::allgather::Allgather;
use crate::error::Error;
use roundel_spec::{Arguments, Collective};
use std::any::TypeId;

/// What one rank says about a request.
#[derive(Clone, PartialEq)]
pub(super) struct Agreement {
    /// Whether its arguments are right.
    is_right: bool,
    collective: &'static str,
    arguments: Arguments,
    elements: TypeId,
    /// Lengths that are the same on all ranks.
    lengths: Vec<usize>,
}

impl Agreement {
    pub(super) fn of<T: 'static, C: Collective>(collective: &C, lengths: Vec<usize>, is_right: bool) -> Self {
        let (arguments, elements) = (collective.arguments(), TypeId::of::<T>());
        Agreement { is_right, collective: C::NAME, arguments, elements, lengths }
    }

    /// Compares what all ranks say. Collective; either all ranks get an error or none does.
    pub(super) fn reached(self, comm: &ThreadComm) -> Result<(), Error> {
        let mut all = vec![self.clone(); comm.size()];
        Bruck.allgather(comm, &[self], &mut all)?;
        let same = |part: fn(&Agreement, &Agreement) -> bool| all.iter().all(|other| part(other, &all[0]));
        let parts: [(&'static str, bool); 5] = [
            ("the arguments: those of another rank are wrong, and its error says why", same(|one, _| one.is_right)),
            ("the collective", same(|a, b| a.collective == b.collective)),
            ("the parameters of the collective", same(|a, b| a.arguments == b.arguments)),
            ("the element type", same(|a, b| a.elements == b.elements)),
            ("the lengths", same(|a, b| a.lengths == b.lengths)),
        ];
        match parts.into_iter().find(|(_, same)| !same) {
            Some((what, _)) => Err(Error::Disagree { what }),
            None => Ok(()),
        }
    }
}
