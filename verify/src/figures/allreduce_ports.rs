//! Allreduces over ports and factors.

use super::{Claim, Figure, curves, machine, microseconds};
use crate::error::Error;
use crate::simulation::SimulatedCall;
use crate::simulation::rounds::PlannedRounds;
use crate::simulation::symmetry::Symmetry;
use roundel::plan::ports::{Fractions, Ports};
use roundel_spec::{Kind, Placement};

/// Table 1: the plan, its name in the picture, and steps and 39ths of the data that a node sends, by the paper.
const TABLE_1: [(&str, &str, usize, usize); 4] = [
    ("39(1 1 1 1 1 1)", "39", 6, 8 * 39),
    ("3(1 1) 13(1 1 1 1)", "3 · 13", 6, 7 * 39),
    ("13(-1 -1 -1 -1) 3(-1 -1) 3(1 1) 13(1 1 1 1)", "13 · 3 scattered", 12, 76),
    ("39(-1 -1 -1 -1 -1 -1) 39(1 1 1 1 1 1)", "39 scattered", 12, 76),
];

/// Steps and sizes of the plans of Table 1, and their times over the length of the vector.
pub(super) fn table_1() -> Result<Figure, Error> {
    let (machine, placement) = (machine(), Placement::consecutive(39, 1));
    let (mut rows, mut named, mut exact) = (Vec::new(), Vec::new(), Vec::new());
    let mut times: Vec<Vec<f64>> = Vec::new();
    for (text, label, steps, sent) in TABLE_1 {
        let ports: Ports = text.parse().map_err(|source| Error::Ports { text: text.into(), source })?;
        let unfit = |source| Error::Unfit { ports: ports.clone(), source };
        let pattern = ports.pattern(Kind::Allreduce, Fractions::All).map_err(unfit)?;
        exact.push((pattern.steps().len(), pattern.sent().0) == (steps, sent));
        let scattered = ports.pattern(Kind::Allreduce, Fractions::Scattered).map_err(unfit)?;
        let source = PlannedRounds { ports: &ports, pattern: &scattered };
        let mut points = Vec::new();
        for bytes in (3..=23).step_by(2).map(|exponent| 1u64 << exponent) {
            let (source, kind, placement, machine) = (&source, Kind::Allreduce, &placement, &machine);
            let found =
                SimulatedCall { source, symmetry: Symmetry::None, kind, placement, machine, bytes }.simulate()?;
            rows.push(vec![
                text.into(),
                pattern.steps().len().to_string(),
                format!("{:.4}", pattern.sent().0 as f64 / 39.0),
                bytes.to_string(),
                microseconds(found.seconds),
            ]);
            points.push((bytes as f64, found.seconds * 1e6));
        }
        times.push(points.iter().map(|point| point.1).collect());
        named.push((label, points));
    }
    let last = times[0].len() - 1;
    let title = "Allreduce of 39 nodes over ports and factors";
    Ok(Figure {
        name: "ports",
        title: title.into(),
        paper: "Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in \
                message-passing systems, Parallel Computing 107, 2021, Table 1. One rank on each node.",
        columns: vec!["plan", "steps", "size", "bytes", "microseconds"],
        rows,
        picture: curves(title, "one rank on each node, one port", ["bytes", "microseconds"], named),
        claims: vec![
            Claim {
                paper: "Table 1: 6 steps and 8, 6 and 7, 12 and 76/39, 12 and 76/39 times the data",
                found: format!("{} of 4 rows exactly", exact.iter().filter(|row| **row).count()),
                agrees: exact.iter().all(|row| *row),
            },
            Claim {
                paper: "plans without reduce_scatter suit short messages, those with it long ones",
                found: format!(
                    "8 bytes: {:.1} us without, {:.1} us with; 8 MiB: {:.0} us and {:.0} us",
                    times[1][0], times[2][0], times[1][last], times[2][last],
                ),
                agrees: times[1][0] < times[2][0] && times[2][last] < times[1][last],
            },
        ],
    })
}
