use roundel::Collective;

/// Broadcast along a chain, in segments: while a rank receives a segment, it sends the one before.
#[derive(Collective)]
#[collective(broadcast, root: 0.., segments: 1..=4096)]
#[check(p <= 12, root <= 11, segments <= 5)]
#[split(segments)]
#[define(v = (rank - root) % p)]
#[round(s in 0..if p == 1 { 0 } else { p - 2 + segments })]
#[send(when = v + 1 < p && v <= s && s < v + segments, to = rank + 1, blocks = [s - v])]
#[recv(when = 0 < v && v <= s + 1 && s + 1 < v + segments, from = rank - 1, blocks = [s + 1 - v])]
#[holds(blocks = [k; k in 0..if v == 0 { segments } else { max(0, min(segments, s + 1 - v)) }])]
#[bound(rounds <= p - 1 + segments - 1)]
pub struct Chain {
    pub root: i64,
    pub segments: i64,
}
