//! Rounds, plans and ports.

#![allow(clippy::unwrap_used)]

mod broken;
mod everything;
mod numbers;
mod passes;
mod plan;
mod ports;
