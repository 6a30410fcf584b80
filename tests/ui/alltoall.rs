//! Wrong all-to-alls.
#![allow(dead_code)]

#[path = "alltoall/misuse.rs"]
mod misuse;
#[path = "alltoall/violations.rs"]
mod violations;

fn main() {}
