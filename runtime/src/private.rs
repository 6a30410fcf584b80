//! Support for the code that the derive generates. Not for direct use: it changes whenever the derive does.

pub use crate::allgather::IsAllgather;
pub use crate::alltoall::IsAlltoall;
pub use crate::reduce::{IsAllreduce, IsReduceScatter};
pub use crate::rooted::{IsBroadcast, IsGather, IsReduce, IsScatter};
pub use roundel_spec::agreement::assert_code_equals_schedule;
pub use roundel_spec::group::{Inside, rooted_at, undivided};
pub use roundel_spec::names::own_names;
pub use roundel_spec::schedule::Order;
pub use roundel_spec::{
    Action, Arguments, Blocks, Collective, Kind, Place, Refusal, Schedule, Sink, Site, Stripe, Stripes,
};
pub use roundel_spec::{arith, harness};

// The user's module may define its own.
pub use std::option::Option::{self, None, Some};
pub use std::result::Result::{self, Err, Ok};

/// The parts of a [`Schedule`].
pub mod data {
    pub use roundel_spec::Direction;
    pub use roundel_spec::blocks::{BlockSet, Comprehension, Index};
    pub use roundel_spec::contract::Kind;
    pub use roundel_spec::expr::{Binary, Builtin, Expr, ListVar, Unary, Var};
    pub use roundel_spec::schedule::{
        Bound, BoundScope, CombineSide, Domain, Function, Group, Hold, Inner, Layout, Limits, ListParameter, Loop,
        Metric, Number, Order, ReverseOf, Schedule, State, Transfer, Within,
    };
    pub use roundel_spec::{Action, Site};
}
