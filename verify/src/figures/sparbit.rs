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

/// The share of cases that each wins, by process count and block size, on nodes filled one by one or in turn.
pub(super) fn cases_won() -> Result<Figure, Error> {
    let sizes: Vec<u64> = (0..8).map(|exponent| 8 << (2 * exponent)).collect();
    let counts = [16, 24, 32, 48, 64, 80, 96, 112, 128];
    let mut rows = Vec::new();
    let mut won = [[0usize; 5]; 2];
    let mut points = [const { Vec::new() }; 5];
    for (mapping, place) in
        [("sequential", Placement::consecutive as fn(usize, usize) -> Placement), ("cyclic", Placement::cyclic)]
            .iter()
            .enumerate()
            .map(|(at, pair)| ((at, pair.0), pair.1))
    {
        for p in counts {
            for &bytes in &sizes {
                let placement = place(p, PPN);
                let mut best: Option<(usize, f64)> = None;
                for (at, name) in NAMES.iter().enumerate() {
                    let Some(found) = simulated(name, &placement, bytes, &[])? else { continue };
                    if best.is_none_or(|(_, time)| found.seconds < time) {
                        best = Some((at, found.seconds));
                    }
                    if mapping.0 == 0 && p == 128 {
                        points[at].push((bytes as f64, found.seconds * 1e6));
                    }
                }
                if let Some((at, time)) = best {
                    won[mapping.0][at] += 1;
                    rows.push(vec![
                        mapping.1.into(),
                        p.to_string(),
                        bytes.to_string(),
                        NAMES[at].into(),
                        microseconds(time),
                    ]);
                }
            }
        }
    }
    let cases = counts.len() * sizes.len();
    let share = |mapping: usize, at: usize| 100.0 * won[mapping][at] as f64 / cases as f64;
    let shares = |mapping: usize| {
        let one = |at: usize| format!("{} {:.0} %", NAMES[at].trim_start_matches("allgather/"), share(mapping, at));
        (0..5).map(one).collect::<Vec<_>>().join(", ")
    };
    let title = "Sparbit and the other allgathers over block sizes";
    let labels = ["Sparbit", "Bruck", "ring", "neighbor exchange", "recursive doubling"];
    Ok(Figure {
        name: "sparbit",
        title: title.into(),
        paper: "Loch, Koslovski: Sparbit, SBAC-PAD 2021, Figure 5. The picture shows 128 ranks, 16 to a node, in order; \
                the data has the fastest algorithm for every process count and block size.",
        columns: vec!["mapping", "p", "bytes", "fastest", "microseconds"],
        rows,
        picture: curves(
            title,
            "p = 128, 16 ranks per node, in order",
            ["bytes of a block", "microseconds"],
            labels.into_iter().zip(points).collect(),
        ),
        claims: vec![
            Claim {
                paper: "with sequential mapping, Sparbit is best in 46.43 % (Yahoo) and 39.64 % (Cervino) of the cases",
                found: format!("{} of {cases} cases", shares(0)),
                agrees: (30.0..60.0).contains(&share(0, 0)),
            },
            Claim {
                paper: "with cyclic mapping, its share of best cases is smaller",
                found: format!("{} of {cases} cases", shares(1)),
                agrees: share(1, 0) < share(0, 0),
            },
        ],
    })
}
