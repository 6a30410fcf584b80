//! Ways to place ranks. Every rank states its own place, so that one machine acts as a cluster of any shape.

/// Their names, and the place of `rank` of `p`.
pub(crate) fn placements(rank: usize, p: usize) -> Vec<(&'static str, Vec<usize>)> {
    let two_levels = vec![rank % 3, rank / 3 % 2];
    vec![
        ("one node", vec![0]),
        ("a node each", vec![rank]),
        ("nodes of two", vec![rank / 2]),
        ("nodes of four", vec![rank / 4]),
        ("nodes of three, dealt out", vec![rank % p.div_ceil(3)]),
        ("uneven", vec![if rank < 2 { 9 } else { (rank - 2) / 3 }]),
        ("no order", vec![rank * rank % 5 % 3]),
        ("sockets", two_levels),
        ("no place at all", vec![]),
    ]
}
