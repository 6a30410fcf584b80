use crate::Collective;

/// Bruck's all-to-all with any radix: blocks arrive where they belong, without rotations.
///
/// The block that a rank has for the rank `j` further on travels by the digits of `j`: in the substep of digit `x` with
/// value `z` every rank sends all blocks that it holds whose `j` has this digit to `rank + z * radix^x`. Before digit
/// `x` a block has travelled the distance given by the lower digits of `j`. A block is sent from where it is, and
/// received where it belongs: there is no rotation before the first substep and none after the last, unless a caller
/// requests the rotated layout, in which block `j` lies at place `j` meanwhile, as in Bruck's original. A large radix
/// means more substeps and fewer blocks in each.
///
/// Domain: any p, radix at least 2. Cost: with w digits, w (radix - 1) - floor((radix^w - p) / radix^(w - 1)) substeps,
/// each with the blocks that have the digit; a rank stores at most p - 1 minus the number of substeps for others.
///
/// Fan, Kumar: Parameterized Radix-r Bruck Algorithm for All-to-all Communication, 2022; Bruck, Ho, Kipnis, Upfal,
/// Weathersby: Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS
/// 8(11), 1997; Träff, Rougier, Hunold: Implementing a Classic: Zero-copy All-to-all Communication with MPI Datatypes,
/// ICS 2014.
#[derive(Collective, Clone, Copy, Debug)]
#[collective(alltoall, radix: 2..)]
#[layout(in_place, rotated(rank))]
#[define(w = ceil_log(radix, p))]
#[define(substeps = if p == 1 { 0 } else { w * (radix - 1) - (pow(radix, w) - p) / pow(radix, w - 1) })]
#[round(x in 0..ceil_log(radix, p), z in 1..radix)]
#[state(X = 1, next = radix * X)]
#[send(to = rank + z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
#[recv(from = rank - z * X,
       blocks = [rank - j % (radix * X) -> rank - j % (radix * X) + j; j in 0..p, digit(j, radix, x) == z])]
#[define(numD = p / (radix * X) * X + min(X, max(0, p % (radix * X) - z * X)))]
#[bound(per_round blocks_sent = numD, per_round messages_sent = 1)]
#[bound(rounds = substeps, scratch <= p - 1 - substeps)]
pub struct ModifiedBruck {
    /// The base of the digits.
    pub radix: i64,
}
