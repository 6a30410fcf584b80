//! Wrong collectives, for the harnesses to refute.
//!
//! Each declaration is an algorithm of the catalogue with one fault, or a small one that is wrong from the start.
//! `check(p <= 1)` hides the fault from the check at compile time. `expected.txt` lists the harnesses that must fail.
//! `run.sh` verifies that exactly these fail as plain tests, and that Kani refutes those that it names.

use roundel::Collective;

/// The receiver waits for another rank.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D + 1, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct WrongPeer;

/// The receiver expects more blocks than are sent, and gets some twice.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..D])]
#[holds(D == pow(2, s))]
pub struct WrongCount;

/// The receiver takes the blocks in the opposite order.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, p - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + n - 1 - k; k in 0..n])]
#[holds(D == pow(2, s))]
pub struct WrongOrder;

/// Every rank sends its first message to itself.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..p - 1)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
pub struct ToItself;

/// Right for every p that could be run; its arithmetic overflows beyond 2^21 ranks.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D + (p * p * p - p * p * p), blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct Overflows;

/// One round too few if p is not a power of two.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..floor_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct Incomplete;

/// The last round sends everything that is held, so blocks are written twice.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..D])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..D])]
#[holds(D == pow(2, s))]
pub struct Twice;

/// Every rank sends what it does not hold yet; sender and receiver agree on the blocks.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + 1 + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + 1 + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct NotHeld;

/// The state is not what `holds` says.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D + s / 3)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct WrongFact;

/// A bound that is not met.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
#[bound(each messages_sent = p - 1)]
pub struct WrongBound;

/// Sparbit that does not ignore blocks beyond p: they are sent and received once more.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2)]
#[send(to = rank + d, blocks = [rank - D * k; k in 0..ceil_div(p, D)])]
#[recv(from = rank - d, blocks = [rank - d - D * k; k in 0..ceil_div(p, D)])]
#[holds(D == pow(2, ceil_log(2, p) - s))]
pub struct NotIgnored;

/// An all-to-all whose receivers forget the digits that a block has travelled by.
#[derive(Collective)]
#[collective(alltoall, radix: 2..)]
#[check(p <= 1, radix <= 3)]
#[round(x in 0..ceil_log(radix, p), z in 1..radix)]
#[state(X = 1, next = radix * X)]
#[send(to = rank + z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
#[recv(from = rank - z * X, blocks = [rank - z * X -> rank - z * X + j; j in 0..p, digit(j, radix, x) == z])]
#[holds(X == pow(radix, x), blocks = [rank - if digit(j, radix, x) < z { j % (radix * X) } else { j % X } ->
    rank - if digit(j, radix, x) < z { j % (radix * X) } else { j % X } + j; j in 0..p])]
pub struct WrongDigit {
    /// The base of the digits.
    pub radix: i64,
}

/// Every rank reduces what it gets from distances that double: some contributions twice, unless p is a power of two.
#[derive(Collective)]
#[collective(allreduce)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D)]
#[recv(from = rank + D, combine = right)]
#[holds(D == pow(2, s), acc = [rank + k; k in 0..min(D, p)])]
pub struct ReducedTwice;

/// Recursive doubling whose fold forgets the odd rank's own contribution.
#[derive(Collective)]
#[collective(allreduce)]
#[check(p <= 1)]
#[define(w = floor_log(2, p), rem = p - pow(2, w), folded = rank < 2 * rem, idle = folded && rank % 2 == 0)]
#[define(v = if folded { rank / 2 } else { rank - rem }, real(u) = if u < rem { 2 * u + 1 } else { u + rem })]
#[round("fold")]
#[send(when = idle, to = rank + 1)]
#[recv(when = folded && !idle, from = rank - 1, replaces = acc)]
#[holds(acc = [k; k in if folded { rank - rank % 2 } else { rank }..rank + 1])]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[exchange(when = !idle, with = real(v ^ D), combine = by_rank)]
#[holds(D == pow(2, s), acc = [k; k in if idle { rank } else { min(v / D * D, rem) + v / D * D }..
    if idle { rank + 1 } else { min(v / D * D + D, rem) + (v / D * D + D) }])]
#[round("unfold")]
#[send(when = folded && !idle, to = rank - 1)]
#[recv(when = idle, from = rank + 1, replaces = acc)]
#[holds(acc = [k; k in 0..p])]
pub struct Forgetful;

/// Recursive halving in which the second half is combined from the ranks that keep it.
#[derive(Collective)]
#[collective(reduce_scatter)]
#[check(p <= 1)]
#[define(w = floor_log(2, p))]
#[requires(p == pow(2, w))]
#[round(s in 0..w)]
#[define(H = pow(2, w - s - 1), peer = rank ^ H)]
#[state(D = p, next = H)]
#[exchange(with = peer, send = [rank / H * H + k; k in 0..H], recv = [peer / H * H + k; k in 0..H], combine = by_rank)]
#[define(S(b) = pow(2, floor_log(2, b ^ rank) + 1))]
#[define(from(x, b) = if b / D == rank / D { x % D == rank % D } else { x % S(b) == rank % S(b) })]
#[holds(D == pow(2, w - s), acc(b) = [x; x in 0..p, from(x, b)])]
pub struct WrongHalf;

/// The prefixes of an allreduce with the wrong line as operand.
#[derive(Collective)]
#[collective(allreduce)]
#[lines(part, whole)]
#[check(p <= 1)]
#[define(w = ceil_log(2, p), n = p - 1)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[define(e = n % D + 1, one = e == D, odd = n / D % 2 == 1)]
#[send(when = one || odd, to = rank - D, line = part)]
#[send(when = !one && 2 * D < p, to = rank - D, line = whole)]
#[recv(when = one && odd, from = rank + D, into = part, combine = right)]
#[recv(when = one && !odd, from = rank + D, into = whole, combine = right, operand = part)]
#[recv(when = !one && odd, from = rank + D, into = part, combine = right)]
#[recv(when = !one && 2 * D < p, from = rank + D, into = whole, combine = right)]
#[define(held = if one { 0 } else if D < p { D } else { D / 2 })]
#[holds(D == pow(2, s), part = [rank + k; k in 0..e], whole = [rank + k; k in 0..held])]
pub struct WrongOperand;

/// The node-aware allreduce as it is often written: it counts nodes twice unless their number is a power of `lanes`.
#[derive(Collective)]
#[collective(allreduce, inner: allreduce)]
#[check(p <= 1)]
#[round("inside of nodes")]
#[within(node, inner)]
#[holds(acc = [region(node)])]
#[round(i in 0..if lanes > 1 { ceil_log(lanes, nodes) } else { 0 }, phase in 0..2)]
#[state(H = 1, next = lanes * H)]
#[define(fetches = phase == 0 && 0 < local && local < lanes)]
#[send(when = fetches, to = at(node - local * H, local))]
#[recv(when = fetches, from = at(node + local * H, local), overwrites = acc)]
#[within(node, inner, when = phase == 1)]
#[holds(H == pow(lanes, i))]
#[holds(acc = [region(node + if phase == 1 { local * H } else { 0 } + k); k in 0..min(H, nodes)])]
pub struct PublicRule<I> {
    /// The allreduce within nodes.
    pub inner: I,
}

/// The locality-aware Bruck allgather whose last round fetches too many nodes.
#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[check(p <= 1)]
#[define(w = if lanes > 1 { ceil_log(lanes, nodes) } else { 0 })]
#[round("inside of nodes")]
#[within(node, inner)]
#[round(i in 0..w)]
#[state(H = 1, next = min(lanes * H, nodes))]
#[define(get(l) = if 0 < l && l < lanes { H } else { 0 })]
#[send(to = at(node - local * H, local), blocks = [region(node + k); k in 0..get(local)])]
#[recv(from = at(node + local * H, local), blocks = [region(node + local * H + k); k in 0..get(local)])]
#[within(node, inner, brings = [region(node + local * H + k); k in 0..get(local)])]
#[holds(H == min(pow(lanes, i), nodes))]
#[holds(blocks = [region(node + k); k in 0..H])]
pub struct TooManyNodes<I> {
    /// The allgather within nodes.
    pub inner: I,
}

/// The node-aware allreduce of the catalogue with a part that may be wrong: the size of a node's group before a round,
/// which idle ranks serve extra nodes, and how many ranks of a node reduce.
macro_rules! node_aware {
    ($(#[$doc:meta])* $name:ident, size = [$($size:tt)*], idle = [$($idle:tt)*], members = [$($members:tt)*]) => {
        $(#[$doc])*
        #[derive(Collective)]
        #[collective(allreduce, inner: allreduce)]
        #[check(p <= 1)]
        #[define(parts(lev, g) = ceil_div(g, pow(lanes, lev)), part(lev, g, x) = part_of(g, parts(lev, g), x))]
        #[round("inside of nodes")]
        #[within(all, inner, when = lanes == 1)]
        #[within(node, inner, when = lanes > 1)]
        #[holds(acc = [region(if lanes == 1 { 0 } else { node } + j); j in 0..if lanes == 1 { nodes } else { 1 }])]
        #[round(i in 0..if lanes > 1 { ceil_log(lanes, nodes) } else { 0 }, phase in 0..2)]
        #[state(last lo = 0, last g = nodes,
            previous = (lo + part_begin(g, parts(i, g), part(i, g, node - lo)), part_size(g, parts(i, g), $($size)*)))]
        #[define(q = parts(i, g), m = part(i, g, node - lo), k = node - lo - part_begin(g, q, m))]
        #[define(least = g / q, larger = g % q, other = local < q && local != m)]
        #[define(begin(s) = lo + part_begin(g, q, s), meets = other && k < part_size(g, q, local))]
        #[exchange(when = phase == 0 && meets, with = at(begin(local) + k, m), overwrites = acc)]
        #[recv(when = phase == 0 && other && !meets, from = at(begin(local) + m, local), overwrites = acc)]
        #[send(when = phase == 0 && local == m && $($idle)* && k < larger, to = at(begin(k) + least, m))]
        #[within(node, inner, when = phase == 1, members = $($members)*)]
        #[define(stands = if phase == 1 && local < q { local } else { m })]
        #[holds(0 <= lo && lo <= node && node < lo + g && lo + g <= nodes)]
        #[holds(lanes == 1 || g <= pow(lanes, i + 1))]
        #[holds(lanes == 1 || 1 <= q && q <= lanes, lanes == 1 || i == 0 || (q - 1) * q < g)]
        #[holds(lanes == 1 || i > 0 || q == g, lanes == 1 || larger <= least && 1 <= least)]
        #[holds(acc = [region(if lanes == 1 { 0 } else { begin(stands) } + j);
            j in 0..if lanes == 1 { nodes } else { part_size(g, q, stands) }])]
        pub struct $name<I> {
            /// The allreduce within nodes.
            pub inner: I,
        }
    };
}

node_aware! {
    /// The node-aware allreduce in which one idle rank too few serves the extra nodes.
    Unserved, size = [part(i, g, node - lo)], idle = [m > larger], members = [q]
}

node_aware! {
    /// The node-aware allreduce in which groups are as large as the first one.
    AnotherGroup, size = [0], idle = [m >= larger], members = [q]
}

node_aware! {
    /// The node-aware allreduce in which the last part is left out.
    TooFewMembers, size = [part(i, g, node - lo)], idle = [m >= larger], members = [max(1, q - 1)]
}
