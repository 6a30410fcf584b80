//! The node-aware parallel allreduce against recursive doubling and the SMP algorithm.

use super::{Claim, Figure, curves, microseconds, simulated};
use crate::error::Error;
use roundel_spec::Placement;

const NAMES: [&str; 3] = ["allreduce/recursive-doubling", "allreduce/smp", "allreduce/nap"];
const LABELS: [&str; 3] = ["recursive doubling", "SMP", "NAP"];
const PPN: usize = 16;
const PAPER: &str = "Bienz, Olson, Gropp: Node-Aware Improvements to Allreduce, ExaMPI 2019";

/// Times of all three, in seconds.
fn times(nodes: usize, bytes: u64, rows: &mut Vec<Vec<String>>) -> Result<[f64; 3], Error> {
    let mut times = [0.0; 3];
    for (at, name) in NAMES.iter().enumerate() {
        let Some(found) = simulated(name, &Placement::consecutive(nodes * PPN, PPN), bytes, &[])? else { continue };
        let away = found.traffic()[1].messages.to_string();
        rows.push(vec![nodes.to_string(), bytes.to_string(), (*name).into(), microseconds(found.seconds), away]);
        times[at] = found.seconds;
    }
    Ok(times)
}

fn figure(name: &'static str, title: &str, over: &'static str, points: Vec<(f64, [f64; 3])>) -> (Figure, String) {
    let curve = |at: usize| points.iter().map(|(x, times)| (*x, times[at] * 1e6)).collect::<Vec<_>>();
    let picture = curves(
        title,
        "16 ranks per node",
        [over, "microseconds"],
        (0..3).map(|at| (LABELS[at], curve(at))).collect(),
    );
    let columns = vec!["nodes", "bytes", "algorithm", "microseconds", "messages between nodes"];
    let figure =
        Figure { name, title: title.into(), paper: PAPER, columns, rows: vec![], picture, claims: Vec::new() };
    (figure, title.into())
}

/// Figure 10: one value, over node counts.
pub(super) fn over_nodes() -> Result<Figure, Error> {
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for nodes in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] {
        points.push((nodes as f64, times(nodes, 8, &mut rows)?));
    }
    let wins = points.iter().filter(|(_, times)| times[2] < times[0] && times[2] < times[1]).count();
    let gain = |at: usize| points[at].1[0] / points[at].1[2];
    let (small, large, all) = (gain(0), gain(points.len() - 1), points.len());
    let (figure, _) = figure("nap-nodes", "Node-aware allreduce over nodes, 8 bytes", "nodes", points);
    let claims = vec![
        Claim {
            paper: "Figure 10: NAP outperforms recursive doubling and SMP for small messages",
            found: format!("fastest of the three at {wins} of {all} node counts"),
            agrees: wins == all,
        },
        Claim {
            paper: "particularly as process count increases",
            found: format!("{small:.2} times as fast as recursive doubling on 2 nodes, {large:.2} times on 1024"),
            agrees: large > small,
        },
    ];
    Ok(Figure { rows, claims, ..figure })
}

/// Figure 11: 32 768 processes, over sizes.
pub(super) fn over_sizes() -> Result<Figure, Error> {
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for bytes in (3..=17).step_by(2).map(|exponent| 1u64 << exponent) {
        points.push((bytes as f64, times(2048, bytes, &mut rows)?));
    }
    let beats = |at: usize| points.iter().find(|(_, times)| times[at] < times[2]).map(|(bytes, _)| *bytes as u64);
    let from =
        |at: usize| beats(at).map_or("at no size up to 128 KiB".into(), |bytes| format!("from {bytes} bytes on"));
    let (smp, smp_from) = (from(1), beats(1));
    let (figure, _) = figure("nap-sizes", "Node-aware allreduce over sizes, 32 768 ranks", "bytes", points);
    let claims = vec![Claim {
        paper: "Figure 11: NAP is best for small messages, SMP for larger ones (measured: over 2048 bytes)",
        found: format!("SMP is faster {smp}"),
        agrees: smp_from.is_some_and(|bytes| (1024..=16384).contains(&bytes)),
    }];
    Ok(Figure { rows, claims, ..figure })
}
