//! Locality-aware Bruck against Bruck and the hierarchical allgather.

use super::{Claim, Figure, curves, microseconds, simulated};
use crate::error::Error;
use roundel_spec::Placement;

const NAMES: [&str; 3] = ["allgather/bruck", "allgather/hierarchical", "allgather/locality-bruck"];

/// Modelled times over nodes and ranks per node, one integer of 4 bytes for each rank.
pub(super) fn over_nodes() -> Result<Figure, Error> {
    let (mut rows, mut named) = (Vec::new(), Vec::new());
    let mut gains = [(0, 0.0); 2];
    let ranks = [
        (4, ["Bruck, 4", "hierarchical, 4", "locality, 4"]),
        (16, ["Bruck, 16", "hierarchical, 16", "locality, 16"]),
    ];
    for ((ppn, curve_names), gains) in ranks.into_iter().zip(&mut gains) {
        let mut points = [const { Vec::new() }; 3];
        let (mut first, mut gain) = (0, 0.0);
        for nodes in (1..=8).map(|exponent| 1usize << exponent) {
            let placement = Placement::consecutive(nodes * ppn, ppn);
            let mut times = [0.0; 3];
            for (at, name) in NAMES.iter().enumerate() {
                let Some(found) = simulated(name, &placement, 4, &[])? else { continue };
                times[at] = found.seconds;
                let away = found.traffic()[1];
                rows.push(vec![
                    ppn.to_string(),
                    nodes.to_string(),
                    (*name).into(),
                    microseconds(found.seconds),
                    away.messages.to_string(),
                    away.bytes.to_string(),
                ]);
                points[at].push((nodes as f64, found.seconds * 1e6));
            }
            first += usize::from(times[2] < times[0] && times[2] < times[1]);
            gain += times[0] / times[2] / 8.0;
        }
        *gains = (first, gain);
        named.extend(curve_names.into_iter().zip(points));
    }
    let title = "Locality-aware Bruck over nodes";
    Ok(Figure {
        name: "locality-bruck",
        title: title.into(),
        paper: "Bienz, Gautam, Kharel: A Locality-Aware Bruck Allgather, EuroMPI/USA 2022, Figure 7 (and Figure 9 for \
                the hierarchical one). 4 bytes for each rank; the number after a name is that of ranks per node.",
        columns: vec!["ppn", "nodes", "algorithm", "microseconds", "messages between nodes", "bytes between nodes"],
        rows,
        picture: curves(title, "4 bytes for each rank; 4 or 16 ranks per node", ["nodes", "microseconds"], named),
        claims: claims(gains),
    })
}

/// What the paper says. For 4 and for 16 ranks per node: how often the locality-aware allgather is the fastest of all,
/// and its mean gain over Bruck.
fn claims([(few_first, few), (many_first, many)]: [(usize, f64); 2]) -> Vec<Claim> {
    vec![
        Claim {
            paper: "the locality-aware allgather outperforms the standard Bruck algorithm for small data sizes",
            found: format!("on average {few:.2} times as fast with 4 ranks per node, {many:.2} times with 16"),
            agrees: few > 1.0 && many > 1.0,
        },
        Claim {
            paper: "improvements are amplified with increased numbers of processes per local region",
            found: format!("{few:.2} with 4, {many:.2} with 16"),
            agrees: many > few,
        },
        Claim {
            paper: "measured, it improves over the hierarchical allgather, too, for many process counts",
            found: format!("fastest of the three at {few_first} and {many_first} of 8 node counts"),
            agrees: few_first + many_first >= 8,
        },
    ]
}
