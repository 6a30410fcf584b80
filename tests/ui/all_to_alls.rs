//! Wrong all-to-alls.
#![allow(dead_code)]

#[path = "all_to_alls/misuse.rs"]
mod misuse;
#[path = "all_to_alls/violations.rs"]
mod violations;

fn main() {}
