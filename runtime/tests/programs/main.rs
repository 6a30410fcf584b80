//! Programs of collectives: replayed for all placements of a few ranks, and refused once anything in them is wrong.

mod cases;
mod mutants;
mod parts;
mod ports;
mod refusals;
mod shared;
mod sweep;
mod threads;
