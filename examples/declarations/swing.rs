use roundel::Collective;

/// Swing's latency-optimal allreduce: partners are 1, 1, 3, 5, 11, … ranks away, in alternating directions, so that
/// on a torus messages travel shorter ways than with recursive doubling.
///
/// If p is no power of two, ranks first fold in pairs until one is left, `t`. Before the round with `D`, a rank has
/// what `D` neighbours contributed; where this window begins depends on the parity of its number `v`. Ranks reduce
/// different trees: the order of `order(same_tree)` does not hold.
///
/// De Sensi, Bonato, Saam, Hoefler: Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024.
#[derive(Collective)]
#[collective(allreduce)]
#[define(w = floor_log(2, p), t = pow(2, w), rem = p - pow(2, w))]
#[define(folded = rank < 2 * rem, idle = folded && rank % 2 == 0, v = if folded { rank / 2 } else { rank - rem })]
#[define(real(u) = if u < rem { 2 * u + 1 } else { u + rem }, place(x) = if x < 2 * rem { x / 2 } else { x - rem })]
#[round("fold")]
#[send(when = idle, to = rank + 1)]
#[recv(when = folded && !idle, from = rank - 1, combine = left)]
#[holds(acc = [k; k in if folded && !idle { rank - 1 } else { rank }..rank + 1])]
#[round("swing", s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[state(rho = 1, next = 1 - 2 * rho)]
#[exchange(when = !idle, with = real((if v % 2 == 0 { v + rho } else { v - rho }) % t), combine = by_rank)]
#[define(back = if rho > 0 { (2 * D - 1 - rho) / 2 } else { (-1 - rho) / 2 })]
#[define(base = if v % 2 == 0 { v - back } else { v + back + 1 - D })]
#[holds(D == pow(2, s), rho > 0 || 3 * rho == 1 - 2 * D, rho < 0 || 3 * rho == 1 + 2 * D)]
#[holds(acc = [x; x in 0..p, if idle { x == rank } else { (place(x) - base) % t < D }])]
#[round("unfold")]
#[send(when = folded && !idle, to = rank - 1)]
#[recv(when = idle, from = rank + 1, replaces = acc)]
#[holds(acc = [k; k in 0..p])]
#[bound(rounds = w + if rem > 0 { 2 } else { 0 })]
pub struct Swing;
