//! Sparbit against Bruck, ring, neighbor exchange and recursive doubling.

use super::{Claim, Figure, curves, microseconds, simulated};
use crate::error::Error;
use roundel_spec::Placement;

const NAMES: [&str; 5] = [
    "allgather/sparbit",
    "allgather/bruck",
    "allgather/ring",
    "allgather/neighbor-exchange",
    "allgather/recursive-doubling",
];
const PPN: usize = 16;

const COUNTS: [usize; 9] = [16, 24, 32, 48, 64, 80, 96, 112, 128];

/// The sizes of blocks.
fn sizes() -> impl Iterator<Item = u64> {
    (0..8).map(|exponent| 8 << (2 * exponent))
}

/// The fastest algorithm of every case on nodes that are filled in one way.
#[derive(Default)]
struct Cases {
    rows: Vec<Vec<String>>,
    /// The number of cases that each algorithm wins.
    won: [usize; 5],
    /// Bytes and microseconds of each algorithm, with the most ranks.
    largest: [Vec<(f64, f64)>; 5],
}

impl Cases {
    fn of(mapping: &str, place: fn(usize, usize) -> Placement) -> Result<Self, Error> {
        let mut all = Cases::default();
        for p in COUNTS {
            for bytes in sizes() {
                if let Some((at, time)) = all.fastest(&place(p, PPN), bytes)? {
                    all.won[at] += 1;
                    let (p, bytes) = (p.to_string(), bytes.to_string());
                    all.rows.push(vec![mapping.into(), p, bytes, NAMES[at].into(), microseconds(time)]);
                }
            }
        }
        Ok(all)
    }

    /// The fastest algorithm of one case, and its time.
    fn fastest(&mut self, placement: &Placement, bytes: u64) -> Result<Option<(usize, f64)>, Error> {
        let mut best: Option<(usize, f64)> = None;
        for (at, name) in NAMES.iter().enumerate() {
            let Some(found) = simulated(name, placement, bytes, &[])? else { continue };
            if best.is_none_or(|(_, time)| found.seconds < time) {
                best = Some((at, found.seconds));
            }
            if Some(&placement.p()) == COUNTS.last() {
                self.largest[at].push((bytes as f64, found.seconds * 1e6));
            }
        }
        Ok(best)
    }

    /// The percentage of cases that an algorithm wins.
    fn share(&self, at: usize) -> f64 {
        100.0 * self.won[at] as f64 / cases() as f64
    }

    fn shares(&self) -> String {
        let one = |at: usize| format!("{} {:.0} %", NAMES[at].trim_start_matches("allgather/"), self.share(at));
        format!("{} of {} cases", (0..5).map(one).collect::<Vec<_>>().join(", "), cases())
    }
}

/// The number of cases on nodes that are filled in one way.
fn cases() -> usize {
    COUNTS.len() * sizes().count()
}

/// The share of cases that each wins, by process count and block size, on nodes filled one by one or in turn.
pub(super) fn cases_won() -> Result<Figure, Error> {
    let sequential = Cases::of("sequential", Placement::consecutive)?;
    let cyclic = Cases::of("cyclic", Placement::cyclic)?;
    let (of_sequential, of_cyclic) = (sequential.share(0), cyclic.share(0));
    let (in_sequential, in_cyclic) = (sequential.shares(), cyclic.shares());
    let title = "Sparbit and the other allgathers over block sizes";
    let labels = ["Sparbit", "Bruck", "ring", "neighbor exchange", "recursive doubling"];
    Ok(Figure {
        name: "sparbit",
        title: title.into(),
        paper: "Loch, Koslovski: Sparbit, SBAC-PAD 2021, Figure 5. The picture shows 128 ranks, 16 to a node, in \
                order; the data has the fastest algorithm for every process count and block size.",
        columns: vec!["mapping", "p", "bytes", "fastest", "microseconds"],
        rows: [sequential.rows, cyclic.rows].concat(),
        picture: curves(
            title,
            "p = 128, 16 ranks per node, in order",
            ["bytes of a block", "microseconds"],
            labels.into_iter().zip(sequential.largest).collect(),
        ),
        claims: vec![
            Claim {
                paper: "with sequential mapping, Sparbit is best in 46.43 % (Yahoo) and 39.64 % (Cervino) of the cases",
                found: in_sequential,
                agrees: (30.0..60.0).contains(&of_sequential),
            },
            Claim {
                paper: "with cyclic mapping, its share of best cases is smaller",
                found: in_cyclic,
                agrees: of_cyclic < of_sequential,
            },
        ],
    })
}
