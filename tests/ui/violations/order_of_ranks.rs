//! The operands come in the opposite order.
use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce)]
#[requires(p == 2)]
#[order(rank_order)]
#[round]
#[exchange(with = 1 - rank, combine = left)]
pub struct Backwards;

fn main() {}
