//! From a rank's rounds to a plan: a list of copies and messages.

pub(crate) mod alltoall;
pub(crate) mod areas;
pub(crate) mod arena;
pub(crate) mod build;
pub(crate) mod direct;
pub(crate) mod gather;
pub(crate) mod limit;
pub(crate) mod numbers;
pub(crate) mod plan;
pub(crate) mod reduction;
pub(crate) mod rooted;
pub(crate) mod route;
pub(crate) mod space;
