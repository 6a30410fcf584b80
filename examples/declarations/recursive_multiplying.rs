use roundel::Collective;

/// Recursive multiplying: an allreduce like recursive doubling, in groups of `radix` ranks instead of two.
///
/// If p is no power of the radix, the ranks from `t` on, the largest power, first send what they have to those below
/// `t` with the same remainder by `t`, and get the result in the end. Before the round with `D`, a rank below `t` has
/// what its aligned group of `D` ranks, and the ranks that sent to them, contributed.
///
/// MPICH: `MPIR_Allreduce_intra_recursive_multiplying`.
#[derive(Collective)]
#[collective(allreduce, radix: 2..)]
#[check(p <= 24, radix <= 5)]
#[define(w = floor_log(radix, p), t = pow(radix, w), more = (p - 1 - rank) / t)]
#[round("fold")]
#[send(when = rank >= t, to = rank % t)]
#[recv(for j in 1..=more, when = rank < t, from = rank + j * t, combine = right)]
#[holds(acc = [x; x in 0..p, if rank < t { x % t == rank } else { x == rank }])]
#[round("multiply", s in 0..w)]
#[state(D = 1, next = radix * D)]
#[define(own = rank / D % radix, rest = pow(radix, w - s - 1))]
#[send(for j in 1..=own, when = rank < t, to = rank - j * D)]
#[recv(for j in 1..radix - own, when = rank < t, from = rank + j * D, combine = right)]
#[send(for j in 1..radix - own, when = rank < t, to = rank + j * D)]
#[recv(for j in 1..=own, when = rank < t, from = rank - j * D, combine = left)]
#[hint(t == D * (radix * rest), rank >= t || rank / D + (radix - own) <= radix * rest)]
#[hint(rank >= t || rank / D * D + (radix - own) * D <= t)]
#[holds(D * pow(radix, w - s) == t, D >= 1)]
#[holds(acc = [x; x in 0..p, if rank < t { x % t / D == rank / D } else { x == rank }])]
#[round("unfold")]
#[send(for j in 1..=more, when = rank < t, to = rank + j * t)]
#[recv(when = rank >= t, from = rank % t, replaces = acc)]
#[holds(acc = [x; x in 0..p])]
#[bound(rounds = w + if p > t { 2 } else { 0 })]
pub struct RecursiveMultiplying {
    pub radix: i64,
}
