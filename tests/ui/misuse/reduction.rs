//! Clauses that only reductions have, and clauses that they do not have.
use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[split(p)]
#[lines(acc)]
#[order(same_tree)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s], line = acc)]
#[recv(from = rank - 1, blocks = [rank - 1 - s], combine = left)]
pub struct NoReduction;

#[derive(Collective)]
#[collective(allreduce)]
#[split(rank)]
#[lines(acc, acc)]
#[order(alphabetical)]
#[round]
#[send(to = rank + 1, line = sum)]
#[recv(from = rank - 1, combine = middle)]
#[recv(from = rank - 1, operand = acc)]
#[recv(from = rank - 1, replaces = acc, combine = left)]
#[holds(blocks = [rank])]
pub struct Reduction;

fn main() {}
