//! The alltoalls of the catalogue, and some written by hand in the form that the derive generates, with shapes that no
//! textbook has.

use roundel::algorithms::{self, HierarchicalAlltoall, KBruckAlltoall, ModifiedBruck, PairwiseAlltoall};
use roundel::{Collective, IsAlltoall, Place, Refusal, Sink};
use roundel_spec::arith::wrap;
use roundel_spec::contract::pair;
use roundel_spec::{Arguments, Kind, Schedule, Site, Stripe, Stripes};

/// Implements the traits for a type.
macro_rules! alltoall {
    (
        $type:ty, nodes: $nodes:expr, rotates: $rotates:expr,
        |$this:ident| $numbers:expr, |$at:ident, $sink:ident| $rounds:block
    ) => {
        impl Collective for $type {
            const NAME: &'static str = stringify!($type);
            const KIND: Kind = Kind::Alltoall;
            const LOOKS_AT_NODES: bool = $nodes;
            const PREFERS_ROTATION: bool = $rotates;

            fn schedule() -> Schedule {
                unreachable!("transports do not look at the declaration")
            }

            fn arguments(&self) -> Arguments {
                let $this = self;
                Arguments { numbers: $numbers.to_vec(), ..Arguments::default() }
            }

            fn has_arguments(&self, args: &Arguments) -> bool {
                let $this = self;
                args.numbers == $numbers
            }

            fn from_arguments(_: &Arguments) -> Option<Self> {
                None
            }

            fn admits(&self, _: &Place) -> Result<(), Refusal> {
                Ok(())
            }

            fn proved(&self, _: &Place) -> Result<(), Refusal> {
                Ok(())
            }

            fn blocks(&self, at: &Place) -> i64 {
                at.p * at.p
            }

            fn rotation(&self, at: &Place) -> Option<i64> {
                $rotates.then_some(at.rank)
            }

            fn rounds<S: Sink>(&self, $at: &Place, $sink: &mut S) -> Result<(), S::Error> {
                let $this = self;
                $rounds
                Ok(())
            }
        }

        impl IsAlltoall for $type {}
    };
}

/// One block.
fn block(source: i64, destination: i64, p: i64) -> Stripe {
    let rank = |r: i64| wrap(r, p) as usize;
    Stripe::one(pair(rank(source), rank(destination), p as usize) as i64, p * p)
}

/// All ranks to all others, in one round.
#[derive(Clone, Copy)]
pub(crate) struct SpreadOut;

alltoall!(SpreadOut, nodes: false, rotates: false, |_this| [0; 0], |at, sink| {
    let Place { rank, p, .. } = *at;
    sink.begin_round()?;
    for s in 1..p {
        sink.send(Site::plain(0), wrap(rank + s, p) as usize, block(rank, rank + s, p))?;
        sink.recv(Site::plain(1), wrap(rank - s, p) as usize, block(rank - s, rank, p))?;
    }
    sink.end_round()?;
});

/// All ranks to all others, one distance after the other.
#[derive(Clone, Copy)]
pub(crate) struct Pairwise;

alltoall!(Pairwise, nodes: false, rotates: false, |_this| [0; 0], |at, sink| {
    let Place { rank, p, .. } = *at;
    for s in 1..p {
        sink.begin_round()?;
        sink.recv(Site::plain(1), wrap(rank - s, p) as usize, block(rank - s, rank, p))?;
        sink.send(Site::plain(0), wrap(rank + s, p) as usize, block(rank, rank + s, p))?;
        sink.end_round()?;
    }
});

/// Bruck's alltoall: the digits of the distance, one after the other. `ported` sends all values of a digit in one
/// round, and messages are split into `parts` parts, the first of one block.
#[derive(Clone, Copy)]
pub(crate) struct Bruck<const ROTATES: bool> {
    pub(crate) radix: i64,
    pub(crate) ported: bool,
    pub(crate) parts: usize,
}

/// The offsets below `p` that have `z` as the digit of weight `weight`.
fn with_digit(p: i64, radix: i64, weight: i64, z: i64) -> Vec<i64> {
    (0..p).filter(|j| (j / weight) % radix == z).collect()
}

/// The blocks of these offsets at rank `k`, with the digits below `weight` already travelled.
fn offsets(of: &[i64], k: i64, weight: i64, p: i64) -> Stripes<std::vec::IntoIter<Stripe>> {
    let blocks: Vec<Stripe> = of.iter().map(|j| block(k - j % weight, k - j % weight + j, p)).collect();
    Stripes(blocks.into_iter())
}

alltoall!(Bruck<false>, nodes: false, rotates: false,
    |this| [this.radix, this.ported.into(), this.parts as i64], |at, sink| {
    this.all(at, sink)?;
});

alltoall!(Bruck<true>, nodes: false, rotates: true,
    |this| [this.radix, this.ported.into(), this.parts as i64], |at, sink| {
    this.all(at, sink)?;
});

impl<const ROTATES: bool> Bruck<ROTATES> {
    /// The version of textbooks.
    pub(crate) fn plain(radix: i64) -> Self {
        Bruck { radix, ported: false, parts: 1 }
    }

    fn all<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        let Bruck { radix, ported, parts } = *self;
        let mut weight = 1;
        while weight < p {
            if ported {
                sink.begin_round()?;
            }
            for z in (1..radix).take_while(|z| z * weight < p) {
                let all = with_digit(p, radix, weight, z);
                let (to, from) = (wrap(rank + z * weight, p), wrap(rank - z * weight, p));
                if !ported {
                    sink.begin_round()?;
                }
                let cut = if parts > 1 && all.len() > 1 { 1 } else { all.len() };
                for part in [&all[..cut], &all[cut..]].into_iter().filter(|part| !part.is_empty()) {
                    sink.send(Site::plain(0), to as usize, offsets(part, rank, weight, p))?;
                    sink.recv(Site::plain(1), from as usize, offsets(part, from, weight, p))?;
                }
                if !ported {
                    sink.end_round()?;
                }
            }
            if ported {
                sink.end_round()?;
            }
            weight *= radix;
        }
        Ok(())
    }
}

/// All blocks to the first rank, and from there to their destinations; ranks are numbered node by node.
#[derive(Clone, Copy)]
pub(crate) struct Star;

alltoall!(Star, nodes: true, rotates: false, |_this| [0; 0], |at, sink| {
    let Place { rank, p, .. } = *at;
    let of = |source: i64| Stripes((0..p).filter(move |&d| d != source).map(move |d| block(source, d, p)));
    let to = |destination: i64| Stripes((1..p).filter(move |&s| s != destination).map(move |s| block(s, destination, p)));
    if p > 1 {
        sink.begin_round()?;
        for other in (1..p).filter(|_| rank == 0) {
            sink.recv(Site::plain(1), other as usize, of(other))?;
        }
        if rank > 0 {
            sink.send(Site::plain(0), 0, of(rank))?;
        }
        sink.end_round()?;
        sink.begin_round()?;
        for other in (1..p).filter(|_| rank == 0) {
            sink.send(Site::plain(2), other as usize, block(0, other, p))?;
            if p > 2 {
                sink.send(Site::plain(4), other as usize, to(other))?;
            }
        }
        if rank > 0 {
            sink.recv(Site::plain(3), 0, block(0, rank, p))?;
            if p > 2 {
                sink.recv(Site::plain(5), 0, to(rank))?;
            }
        }
        sink.end_round()?;
    }
});

/// Visits every alltoall.
pub(crate) trait Visit {
    /// Visits one alltoall.
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C);
}

/// Shows every alltoall for `p` ranks.
pub(crate) fn visit_all(p: usize, visitor: &mut impl Visit) {
    let p = p as i64;
    visitor.visit("spread out", SpreadOut);
    visitor.visit("pairwise", Pairwise);
    visitor.visit("star", Star);
    visitor.visit("the catalogue's spread out", algorithms::SpreadOut);
    visitor.visit("the catalogue's pairwise", PairwiseAlltoall);
    visitor.visit("hierarchical", HierarchicalAlltoall::<algorithms::SpreadOut>::default());
    let mut radices = vec![2, 3, 4, p - 1, p, p + 1];
    radices.retain(|&radix| radix >= 2);
    radices.sort_unstable();
    radices.dedup();
    for radix in radices {
        visitor.visit(&format!("modified-bruck {radix}"), ModifiedBruck { radix });
        visitor.visit(&format!("k-bruck {radix}"), KBruckAlltoall { radix });
        visitor.visit(&format!("radix {radix}"), Bruck::<false>::plain(radix));
        visitor.visit(&format!("radix {radix}, rotated"), Bruck::<true>::plain(radix));
        visitor.visit(&format!("radix {radix}, ported"), Bruck::<true> { radix, ported: true, parts: 1 });
        visitor.visit(&format!("radix {radix}, in parts"), Bruck::<false> { radix, ported: false, parts: 2 });
    }
}
