//! Programs of collectives: replayed for all placements of a few ranks, and refused if anything in them is wrong.

mod alltoallv;
mod cases;
mod mutants;
mod parts;
mod ports;
mod refusals;
mod shared;
mod sweep;
mod threads;
