use roundel::Collective;

/// Broadcast of long vectors: the root scatters them along a binomial tree, and the blocks go around the ring.
///
/// A rank gets from the ring only the blocks that the scatter has not left with it, so none is written twice.
///
/// Barnett, Shuler, van de Geijn, Gupta, Payne, Watts: Interprocessor Collective Communication Library, SHPCC 1994.
#[derive(Collective)]
#[collective(broadcast, root: 0..)]
#[check(p <= 16, root <= 15)]
#[split(p)]
#[define(w = ceil_log(2, p), v = (rank - root) % p, next_v = (rank + 1 - root) % p)]
#[define(has(x) = if x == 0 { p } else { min(x & -x, p - x) })]
#[round("scatter", s in 0..w)]
#[state(D = pow(2, w), next = D / 2)]
#[define(d = D / 2)]
#[send(when = v % D == 0, to = rank + d, blocks = [rank + d + k; k in 0..min(d, p - v - d)])]
#[recv(when = v % D == d, from = rank - d, blocks = [rank + k; k in 0..min(d, p - v)])]
#[hint(d == pow(2, w - s - 1), D == 2 * d)]
#[holds(D == pow(2, w - s), v == 0 || v % D != 0 || D <= v & -v)]
#[holds(blocks = [rank + k; k in 0..if v == 0 { p } else if v % D == 0 { min(v & -v, p - v) } else { 0 }])]
#[round("ring", s in 0..p - 1)]
#[send(when = next_v != 0 && has(next_v) + s < p, to = rank + 1, blocks = [rank - s])]
#[recv(when = v != 0 && has(v) + s < p, from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = [rank - s + k; k in 0..if v == 0 { p } else { min(p, has(v) + s) }])]
pub struct VanDeGeijn {
    pub root: i64,
}
