//! Allreduce: every rank contributes a vector; every rank ends with their reduction.

mod cyclic_shift;
mod multi_lane;
mod nap;
mod prefix;
mod rabenseifner;
mod recursive_doubling;
mod reduce_broadcast;
mod reduce_scatter_allgather;
mod ring;
mod smp;

pub use cyclic_shift::CyclicShiftAllreduce;
pub use multi_lane::MultiLaneAllreduce;
pub use nap::NapAllreduce;
pub use prefix::PrefixAllreduce;
pub use rabenseifner::RabenseifnerAllreduce;
pub use recursive_doubling::RecursiveDoublingAllreduce;
pub use reduce_broadcast::ReduceBroadcastAllreduce;
pub use reduce_scatter_allgather::ReduceScatterAllgather;
pub use ring::RingAllreduce;
pub use smp::SmpAllreduce;
