//! Alltoall and alltoallv, for every collective of that kind on every transport.

use crate::unproved::Unproved;
use roundel_spec::Collective;

/// Marks collectives that are declared as `alltoall`. Implemented by the derive.
pub trait IsAlltoall: Collective {}

impl<C: IsAlltoall> IsAlltoall for Unproved<C> {}
