//! Measures how long it takes to plan a persistent collective, and how that grows with the number of nodes: the choice,
//! one node's part of the plan, its program, and the replay of the plan of all nodes, which requests of more than 64
//! nodes make if it is possible at all. Nothing is sent.
//!
//! ```sh
//! cargo run --release -p roundel --example initialisation
//! ```

use roundel::choice::{Question, ports};
use roundel::profile::Profile;
use roundel::program::build::{ProgramSpec, Scheme, build};
use roundel_spec::{Kind, Placement};
use std::error::Error;
use std::time::Instant;

/// The most slots of all nodes together, and the most nodes, that are replayed.
const REPLAYED: (usize, usize) = (1 << 26, 1 << 14);

fn main() -> Result<(), Box<dyn Error>> {
    let profile = Profile::default();
    println!(
        "{:>14} {:>7} {:>9} {:>11} {:>10} {:>10} {:>10}  ports",
        "collective", "nodes", "bytes", "choice", "part", "program", "replay"
    );
    for (kind, bytes) in
        [(Kind::Allreduce, 8), (Kind::Allreduce, 1 << 22), (Kind::Allgather, 64), (Kind::ReduceScatter, 64)]
    {
        for log in (8..=16).step_by(2) {
            measure(&profile, kind, 1 << log, bytes)?;
        }
    }
    Ok(())
}

fn measure(profile: &Profile, kind: Kind, nodes: usize, bytes: u64) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let ranked = ports::rank(profile, &Question::new(kind, nodes, 1, bytes))?;
    let ports = &ranked.first().ok_or("nothing serves this call")?.notation;
    let chosen = begin.elapsed();
    let begin = Instant::now();
    let part = ports.part(kind, nodes / 3)?;
    let planned = begin.elapsed();
    let placement = Placement::consecutive(nodes, 1);
    let counts = if kind == Kind::Allreduce { vec![bytes as usize / 8] } else { vec![bytes as usize / 8; nodes] };
    let begin = Instant::now();
    let parts = |_| part.clone();
    let job = ProgramSpec {
        kind,
        placement: &placement,
        counts: &counts,
        size: 8,
        lanes: 1,
        scheme: Scheme::Copies,
        parts: &parts,
    };
    let programs = build(&job, nodes / 3)?;
    let built = begin.elapsed();
    assert!(!programs[0].messages.is_empty());
    let replayed = match part.lines * part.blocks * nodes {
        slots if slots <= REPLAYED.0 && nodes <= REPLAYED.1 => {
            let begin = Instant::now();
            ports.plan(kind)?.replay().map_err(|fault| fault.to_string())?;
            format!("{:.0} ms", begin.elapsed().as_secs_f64() * 1e3)
        }
        _ => "too large".into(),
    };
    println!(
        "{:>14} {nodes:>7} {bytes:>9} {:>8.2} ms {:>7.2} ms {:>7.2} ms {replayed:>10}  {ports}",
        kind.to_string(),
        chosen.as_secs_f64() * 1e3,
        planned.as_secs_f64() * 1e3,
        built.as_secs_f64() * 1e3,
    );
    Ok(())
}
