use roundel::Collective;

/// Broadcast along two binary trees at once, in segments: each carries half of the vector, and what is an inner node of
/// one tree is a leaf of the other, so every rank sends and receives all the time.
///
/// Ranks are counted from the root, which stands above both trees at place `p`. On level `l` are the odd multiples of
/// `D(l)`; the second tree is the first one with every rank but the root one place further.
///
/// Sanders, Speck, Träff: Two-tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan, Parallel Computing
/// 35(12), 2009.
#[derive(Collective)]
#[collective(broadcast, root: 0.., segments: 1..=2048)]
#[requires(p == pow(2, floor_log(2, p)), root < p)]
#[check(p <= 16, root <= 2, segments <= 3)]
#[split(2 * segments)]
#[define(h = floor_log(2, p), D(l) = pow(2, h - l), v = (rank - root) % p)]
#[define(a = if v == 0 { p } else { v }, b = if v < 2 { p - v } else { v - 1 })]
#[define(second(x) = root + if x < p - 1 { x + 1 } else { p - x })]
#[define(on(u, l) = u % (2 * D(l)) == D(l), left(u, l) = u / (2 * D(l)) % 2 == 0)]
#[define(gets(u, l, s) = on(u, l) && l <= s + 1 && s + 1 < l + segments, gives(u, l, s) = gets(u, l - 1, s - 1))]
#[round(s in 0..h + segments - 1)]
#[send(for l in 1..=h, when = gives(a, l, s), to = root + a - D(l), blocks = [s - l + 1])]
#[recv(for l in 1..=h, when = gets(a, l, s) && left(a, l), from = root + a + D(l), blocks = [s - l + 1])]
#[send(for l in 2..=h, when = gives(a, l, s), to = root + a + D(l), blocks = [s - l + 1])]
#[recv(for l in 2..=h, when = gets(a, l, s) && !left(a, l), from = root + a - D(l), blocks = [s - l + 1])]
#[send(for l in 1..=h, when = gives(b, l, s), to = second(b - D(l)), blocks = [segments + s - l + 1])]
#[recv(for l in 1..=h, when = gets(b, l, s) && left(b, l), from = second(b + D(l)), blocks = [segments + s - l + 1])]
#[send(for l in 2..=h, when = gives(b, l, s), to = second(b + D(l)), blocks = [segments + s - l + 1])]
#[recv(for l in 2..=h, when = gets(b, l, s) && !left(b, l), from = second(b - D(l)), blocks = [segments + s - l + 1])]
#[bound(rounds <= h + segments - 1, each messages_received <= 2 * segments)]
pub struct DoubleTree {
    pub root: i64,
    pub segments: i64,
}
