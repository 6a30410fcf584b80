//! Where blocks lie during a call, and its other options.

use crate::error::Error;
use crate::policy::Policy;
use roundel_spec::{Collective, Place, arith};

/// The declared layout that a call uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The layout that the declaration names first.
    #[default]
    Declared,
    /// Every block at its final position.
    InPlace,
    /// Blocks rotated while the collective runs, and moved to their positions at the end.
    Rotated,
}

impl Layout {
    /// By how much blocks are rotated while a collective serves the call at `at`.
    pub(crate) fn rotation<C: Collective>(self, collective: &C, at: &Place) -> Result<Option<usize>, Error> {
        match self {
            Layout::InPlace => Ok(None),
            Layout::Declared if !C::PREFERS_ROTATION => Ok(None),
            Layout::Declared | Layout::Rotated => match collective.rotation(at) {
                Some(by) => Ok(Some(arith::wrap(by, at.p) as usize)),
                None => Err(Error::NoSuchLayout { name: C::NAME.into() }),
            },
        }
    }
}

/// Options of a call that do not change its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where blocks lie during the call.
    pub layout: Layout,
    /// How messages of several pieces travel.
    pub policy: Policy,
}
