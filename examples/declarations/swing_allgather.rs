use roundel::Collective;

/// Allgather with the distances of Swing, 1, 1, 3, 5, 11, …, which are also those of the Bine butterfly: partners
/// exchange all they have, and what a rank has is a window around it.
///
/// De Sensi, Bonato, Saam, Hoefler: Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == pow(2, floor_log(2, p)))]
#[round(s in 0..floor_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[state(rho = 1, next = 1 - 2 * rho)]
#[define(back = if rho > 0 { (2 * D - 1 - rho) / 2 } else { (-1 - rho) / 2 })]
#[define(base(r) = if r % 2 == 0 { r - back } else { r + back + 1 - D })]
#[define(peer = if rank % 2 == 0 { rank + rho } else { rank - rho })]
#[exchange(with = peer, send = [base(rank) + k; k in 0..D], recv = [base(peer) + k; k in 0..D])]
#[holds(D == pow(2, s), rho > 0 || 3 * rho == 1 - 2 * D, rho < 0 || 3 * rho == 1 + 2 * D)]
#[holds(blocks = [base(rank) + k; k in 0..D], blocks_sent = D - 1)]
#[bound(rounds = floor_log(2, p), each blocks_sent = p - 1)]
pub struct SwingAllgather;
