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
/// Places p ranks, so many to a node.
type PlaceRanks = fn(usize, usize) -> Placement;
/// How ranks are placed on nodes: filled one by one, or in turn.
const MAPPINGS: [(&str, PlaceRanks); 2] = [("sequential", Placement::consecutive), ("cyclic", Placement::cyclic)];

/// All cases.
#[derive(Default)]
struct AllCases {
    /// How many there are of each mapping.
    count: usize,
    rows: Vec<Vec<String>>,
    /// How many of each mapping every algorithm wins.
    won: [[usize; 5]; 2],
    /// The curve of each algorithm with 128 ranks in order.
    points: [Vec<(f64, f64)>; 5],
}

impl AllCases {
    fn simulate() -> Result<Self, Error> {
        let sizes: Vec<u64> = (0..8).map(|exponent| 8 << (2 * exponent)).collect();
        let mut all = AllCases { count: COUNTS.len() * sizes.len(), ..AllCases::default() };
        for (mapping, p) in (0..MAPPINGS.len()).flat_map(|mapping| COUNTS.map(|p| (mapping, p))) {
            for &bytes in &sizes {
                all.add(mapping, p, bytes)?;
            }
        }
        Ok(all)
    }

    /// Adds a case.
    fn add(&mut self, mapping: usize, p: usize, bytes: u64) -> Result<(), Error> {
        let (name, place) = MAPPINGS[mapping];
        let placement = place(p, PPN);
        let mut best: Option<(usize, f64)> = None;
        for (at, name) in NAMES.iter().enumerate() {
            let Some(found) = simulated(name, &placement, bytes, &[])? else { continue };
            if best.is_none_or(|(_, time)| found.seconds < time) {
                best = Some((at, found.seconds));
            }
            if mapping == 0 && p == 128 {
                self.points[at].push((bytes as f64, found.seconds * 1e6));
            }
        }
        if let Some((at, time)) = best {
            self.won[mapping][at] += 1;
            self.rows.push(vec![name.into(), p.to_string(), bytes.to_string(), NAMES[at].into(), microseconds(time)]);
        }
        Ok(())
    }

    /// The share of the cases of a mapping that an algorithm wins, in per cent.
    fn share(&self, mapping: usize, at: usize) -> f64 {
        100.0 * self.won[mapping][at] as f64 / self.count as f64
    }

    /// The shares of all algorithms, in words.
    fn shares(&self, mapping: usize) -> String {
        let name = |at: usize| NAMES[at].trim_start_matches("allgather/");
        let one = |at: usize| format!("{} {:.0} %", name(at), self.share(mapping, at));
        format!("{} of {} cases", (0..5).map(one).collect::<Vec<_>>().join(", "), self.count)
    }
}

/// The share of cases that each wins, by process count and block size, on nodes filled one by one or in turn.
pub(super) fn cases_won() -> Result<Figure, Error> {
    let all = AllCases::simulate()?;
    let claims = claims(&all);
    let title = "Sparbit and the other allgathers over block sizes";
    let labels = ["Sparbit", "Bruck", "ring", "neighbor exchange", "recursive doubling"];
    Ok(Figure {
        name: "sparbit",
        title: title.into(),
        paper: "Loch, Koslovski: Sparbit, SBAC-PAD 2021, Figure 5. The picture shows 128 ranks, 16 to a node, in order; \
                the data has the fastest algorithm for every process count and block size.",
        columns: vec!["mapping", "p", "bytes", "fastest", "microseconds"],
        rows: all.rows,
        picture: curves(
            title,
            "p = 128, 16 ranks per node, in order",
            ["bytes of a block", "microseconds"],
            labels.into_iter().zip(all.points).collect(),
        ),
        claims,
    })
}

fn claims(all: &AllCases) -> Vec<Claim> {
    vec![
        Claim {
            paper: "with sequential mapping, Sparbit is best in 46.43 % (Yahoo) and 39.64 % (Cervino) of the cases",
            found: all.shares(0),
            agrees: (30.0..60.0).contains(&all.share(0, 0)),
        },
        Claim {
            paper: "with cyclic mapping, its share of best cases is smaller",
            found: all.shares(1),
            agrees: all.share(1, 0) < all.share(0, 0),
        },
    ]
}
