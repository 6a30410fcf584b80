use crate::Collective;

/// Bruck's all-to-all with any radix and all values of a digit at the same time: `radix - 1` messages in each round.
///
/// The block that a rank has for the rank `j` further on travels by the digits of `j`, as in `alltoall/modified-bruck`;
/// The block that a rank has for the rank `j` further on travels by the digits of `j`, as in `alltoall/modified-bruck`,
/// but all values of a digit share one round. With a radix of p it is `alltoall/spread-out`.
/// Domain: any p, radix at least 2. Cost: ceil(log_radix p) rounds, at most radix - 1 messages in each, in all as many
/// as `alltoall/modified-bruck` has substeps.
///
/// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems, IEEE TPDS 8(11), 1997.
#[derive(Collective, Clone, Copy, Debug)]
#[collective(alltoall, radix: 2..)]
#[define(w = ceil_log(radix, p))]
#[define(substeps = if p == 1 { 0 } else { w * (radix - 1) - (pow(radix, w) - p) / pow(radix, w - 1) })]
#[round(x in 0..ceil_log(radix, p))]
#[state(X = 1, next = radix * X)]
#[define(values = min(radix, ceil_div(p, X)), stay = p / (radix * X) * X + min(X, p % (radix * X)))]
#[send(for z in 1..values, to = rank + z * X,
    blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
#[recv(for z in 1..values, from = rank - z * X,
    blocks = [rank - j % (radix * X) -> rank - j % (radix * X) + j; j in 0..p, digit(j, radix, x) == z])]
#[bound(per_round messages_sent <= radix - 1, per_round blocks_sent = p - stay)]
#[bound(rounds = w, each messages_sent = substeps, scratch <= p - 1 - substeps)]
pub struct KBruckAlltoall {
    /// The base of the digits.
    pub radix: i64,
}
