//! Bruck's all-to-all over the radix.

use super::{Claim, Figure, curves, microseconds, simulated};
use crate::error::Error;
use roundel::choice::alltoalls::{Split, ceil_sqrt};
use roundel_spec::Placement;

const PAPER: &str = "Fan, Kumar: Parameterized Radix-r Bruck Algorithm for All-to-all Communication, 2022";

/// Figure 2a: messages and blocks of a rank, P = 4096.
pub(super) fn counts() -> Result<Figure, Error> {
    let p = 4096;
    let radices = (2..=64).chain((68..p).step_by(28)).chain([p - 1]);
    let splits = radices.map(|radix| Split::new(p, radix)).collect::<Result<Vec<_>, _>>()?;
    let curve = |count: fn(&Split) -> i64| splits.iter().map(|s| (s.radix() as f64, count(s) as f64)).collect();
    let rows = splits
        .iter()
        .map(|split| [split.radix(), split.substeps(), split.total()].map(|number| number.to_string()).to_vec());
    let root = Split::new(p, ceil_sqrt(p))?;
    let (messages, blocks) = (root.substeps(), root.total());
    let six = Split::new(6, 4)?.substeps();
    let title = "Messages and blocks over the radix, P = 4096";
    Ok(Figure {
        name: "radix-counts",
        title: title.into(),
        paper: PAPER,
        columns: vec!["radix", "messages", "blocks"],
        rows: rows.collect(),
        picture: curves(
            title,
            "what each rank sends",
            ["radix", "messages and blocks"],
            vec![("messages (numC)", curve(Split::substeps)), ("blocks (numD)", curve(Split::total))],
        ),
        claims: vec![
            Claim {
                paper: "Figure 2a: at r = ceil(sqrt P), numD roughly doubles the linear value, and numC is much less",
                found: format!("{blocks} blocks, where {} would be linear; {messages} messages", p - 1),
                agrees: (1.8..2.2).contains(&(blocks as f64 / (p - 1) as f64)) && messages * 10 < p,
            },
            Claim {
                paper: "Figure 1b: 5 steps with 6 processes and radix 4; the paper's own formula gives 4",
                found: format!("{six} steps, as by the formula"),
                agrees: six == 5,
            },
        ],
    })
}

/// Figure 3: times over the radix and block sizes, with the best radix.
pub(super) fn best() -> Result<Figure, Error> {
    let (mut rows, mut named, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for (p, bytes, label) in [(512usize, 64u64, "512 ranks, 64 bytes"), (512, 1024, "512 ranks, 1024 bytes")] {
        let mut points = Vec::new();
        for radix in (2..=32).chain([40, 48, 56]) {
            let set = [format!("radix={radix}")];
            let simulated = simulated("alltoall/modified-bruck", &Placement::consecutive(p, 16), bytes, &set)?;
            let Some(simulated) = simulated else { continue };
            rows.push(vec![p.to_string(), bytes.to_string(), radix.to_string(), microseconds(simulated.seconds)]);
            points.push((f64::from(radix), simulated.seconds * 1e6));
        }
        let first = points.first().map_or(0.0, |point| point.1);
        let best =
            points.iter().fold((0.0, f64::INFINITY), |best, &point| if point.1 < best.1 { point } else { best });
        found.push((best, first));
        named.push((label, points));
    }
    let words =
        |at: usize| format!("radix {} ({:.2} times as fast as radix 2)", found[at].0.0, found[at].1 / found[at].0.1);
    let near = |radix: f64| (12.0..=46.0).contains(&radix);
    let title = "Bruck's all-to-all over the radix, 512 ranks";
    Ok(Figure {
        name: "radix-best",
        title: title.into(),
        paper: PAPER,
        columns: vec!["p", "bytes", "radix", "microseconds"],
        rows,
        picture: curves(title, "16 ranks per node", ["radix", "microseconds"], named),
        claims: vec![
            Claim {
                paper: "Figure 3: radix 2 does not perform well in most cases",
                found: format!("64 bytes: best is {}; 1024 bytes: {}", words(0), words(1)),
                agrees: found.iter().all(|(best, first)| best.1 < 0.9 * first),
            },
            Claim {
                paper: "a radix around ceil(sqrt P), here 23, is the most effective",
                found: format!("radix {} for 64 bytes, {} for 1024, of 2 to 56", found[0].0.0, found[1].0.0),
                agrees: found.iter().all(|(best, _)| near(best.0)),
            },
        ],
    })
}
