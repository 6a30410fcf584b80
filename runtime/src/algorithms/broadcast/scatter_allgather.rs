use crate::Collective;
use crate::algorithms::allgather::Ring;
use crate::algorithms::scatter::BinomialScatter;

/// Broadcast of long vectors: a scatter and then an allgather, of any two algorithms.
///
/// After the scatter every rank has its block, and the allgather takes it to all ranks. Some of them have more by then,
/// and get it once more: the allgather knows only the contract of the scatter.
///
/// Domain: any root, any p that both serve. Cost: that of both; by default ceil(log2 p) + p - 1 rounds.
///
/// Barnett, Shuler, van de Geijn, Gupta, Payne, Watts: Interprocessor Collective Communication Library, SHPCC 1994.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(broadcast, root: 0.., scatter: scatter, gather: allgather)]
#[split(p)]
#[check(p <= 16, root <= 15)]
#[round("scatter")]
#[within(all, scatter, root = root)]
#[round("allgather")]
#[within(all, gather)]
pub struct ScatterAllgather<S = BinomialScatter, G = Ring> {
    /// The root.
    pub root: i64,
    /// The scatter; its root is this one's.
    pub scatter: S,
    /// The allgather.
    pub gather: G,
}
