//! Choices on synthetic machines, as in the paper and beyond it.

use super::*;
use crate::choice::profile::{Contention, Grid, NodeSpeed};
use crate::plan::ports::DigitGroup;
use roundel_spec::Kind;

/// A machine like the paper's: latency dominates, ports are nearly free for short messages, and a process that sends
/// to many at once saturates the network.
fn aries() -> Profile {
    let sizes: Vec<u64> = (0..10).map(|i| 8 << (2 * i)).chain([4 << 20]).collect();
    let ports = [1, 2, 3, 4, 6, 8, 12];
    let time = |ports: f64, bytes: f64| 3e-5 + 1e-7 * ports + ports * bytes / 5e9 * (1.0 + 0.1 * (ports - 1.0));
    let row = |&ports: &usize| sizes.iter().map(|&bytes| time(ports as f64, bytes as f64)).collect();
    let grid = Grid::new(sizes.clone(), ports.to_vec(), ports.iter().map(row).collect()).expect("makes sense");
    let node = NodeSpeed { signal: 5e-7, copy: 1e10, combine: 5e9 };
    Profile {
        node,
        between: grid,
        contention: Contention { lanes: 12, short: 1.5, long: 12.0 },
        ..Profile::default()
    }
}

/// A call on nodes that all have the same number of processes.
fn question(kind: Kind, nodes: usize, ppn: usize, bytes: u64) -> Question {
    Question::new(kind, nodes * ppn, ppn, bytes)
}

fn best(profile: &Profile, question: Question) -> ModelledPorts {
    rank(profile, &question).expect("makes sense").swap_remove(0)
}

fn chosen(bytes: u64) -> String {
    best(&aries(), question(Kind::Allreduce, 160, 1, bytes)).notation.to_string()
}

/// The trend of Table 2: few rounds with all ports, then scatter and gather with all ports, then with fewer and fewer.
#[test]
fn from_short_to_long_as_in_the_paper() {
    assert_eq!(chosen(8), "160(12 12)");
    for log in 14..=17 {
        let one = best(&aries(), question(Kind::Allreduce, 160, 1, 1 << log));
        // Partial or complete, and only a few rounds.
        assert!(one.notation.to_string().contains("(-") && one.rounds <= 5, "{log}: {}", one.notation);
    }
    let long = best(&aries(), question(Kind::Allreduce, 160, 1, 32 << 20));
    assert!(long.notation.is_complete() && long.rounds >= 10, "{}", long.notation);
    assert!(
        long.notation.groups.iter().flat_map(|group| &group.ports).all(|ports| ports.abs() <= 4),
        "{}",
        long.notation
    );
    let rounds: Vec<usize> =
        (3..=25).map(|log| best(&aries(), question(Kind::Allreduce, 160, 1, 1 << log)).rounds).collect();
    assert!(rounds.is_sorted(), "{rounds:?}");
}

#[test]
fn the_order_is_total_and_the_same_every_time() {
    let question = question(Kind::Allreduce, 60, 4, 4096);
    let (one, other) = (rank(&aries(), &question), rank(&aries(), &question));
    assert_eq!(one, other);
    let all = one.expect("makes sense");
    assert!(all.is_sorted_by(|a, b| a.seconds() <= b.seconds()));
    let mut texts: Vec<(String, usize)> = all.iter().map(|one| (one.notation.to_string(), one.lanes)).collect();
    texts.sort();
    let count = texts.len();
    texts.dedup();
    assert_eq!(texts.len(), count);
}

/// No candidate beats the latency bound or the bandwidth bound of its kind.
#[test]
fn nothing_is_faster_than_possible() {
    let profile = aries();
    for nodes in [2, 3, 7, 16, 39, 64, 100] {
        for bytes in [8, 4096, 1 << 20] {
            for one in rank(&profile, &question(Kind::Allreduce, nodes, 1, bytes)).expect("makes sense") {
                assert!(
                    one.bytes >= 2 * bytes * (nodes as u64 - 1) / nodes as u64,
                    "{nodes} {bytes} {}",
                    one.notation
                );
                let widest: f64 = 13f64.powi(one.rounds as i32);
                assert!(widest >= nodes as f64 && one.between >= one.rounds as f64 * 3e-5, "{}", one.notation);
            }
        }
    }
}

#[test]
fn orders_are_kept() {
    let mut question = Question { reproducible: true, ..question(Kind::Allreduce, 12, 2, 8) };
    assert!(rank(&aries(), &question).expect("makes sense").iter().all(|one| one.notation.is_complete()));
    question.commutes = false;
    assert_eq!(rank(&aries(), &question), Ok(vec![]));
    question.nodes = 1;
    let alone = rank(&aries(), &question).expect("makes sense");
    assert_eq!((alone.len(), alone[0].rounds, alone[0].lanes), (1, 0, 1));
}

#[test]
fn gathers_gather_and_scatters_scatter() {
    for nodes in [2, 5, 12, 64] {
        let gathers = rank(&aries(), &question(Kind::Allgather, nodes, 3, 64)).expect("makes sense");
        assert!(gathers.iter().all(|one| one.notation.groups.iter().all(|group| !group.scatters())));
        assert!(gathers.iter().all(|one| one.bytes >= 3 * 64 * (nodes as u64 - 1)));
        let scatters = rank(&aries(), &question(Kind::ReduceScatter, nodes, 3, 64)).expect("makes sense");
        assert!(scatters.iter().all(|one| one.notation.groups.iter().all(DigitGroup::scatters)));
        assert_eq!(scatters.len(), gathers.len());
    }
}

#[test]
fn lanes_and_schemes_are_weighed() {
    let wide = Profile { contention: Contention { lanes: 4, short: 1.0, long: 1.0 }, ..aries() };
    let narrow = Profile { contention: Contention { lanes: 4, short: 8.0, long: 8.0 }, ..aries() };
    let question = question(Kind::Allreduce, 16, 4, 1 << 20);
    assert_eq!((best(&wide, question).lanes, best(&narrow, question).lanes), (4, 1));
    let uneven = Question { ppn_min: 3, ..question };
    assert_eq!(best(&wide, uneven).lanes, 3);
    let owned = Question { owned_buffers: true, bytes: 8, ..question };
    assert_eq!(best(&wide, owned).scheme, Scheme::Copies);
    assert_eq!(best(&wide, Question { bytes: 8, ..question }).scheme, Scheme::Copies);
}

#[test]
fn what_covers_a_plan_is_said() {
    assert_eq!(
        (proved(1), proved(64), proved(65)),
        (PlanEvidence::Replayed, PlanEvidence::Replayed, PlanEvidence::AtInitialisation)
    );
    assert_eq!(best(&aries(), question(Kind::Allreduce, 65, 1, 8)).proof, PlanEvidence::AtInitialisation);
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let ask = |question: Question| rank(&aries(), &question).expect_err("makes no sense").to_string();
    assert!(ask(question(Kind::Broadcast, 4, 1, 8)).contains("no plans with ports for broadcast"));
    assert!(ask(question(Kind::Allreduce, 0, 1, 8)).contains("0 nodes: give a number in 1..="));
    assert!(
        ask(Question { ppn_min: 0, ppn_max: 0, ..question(Kind::Allreduce, 4, 1, 8) })
            .contains("at least one process per node")
    );
    assert!(
        ask(Question { ppn_min: 3, ppn_max: 2, ..question(Kind::Allreduce, 4, 1, 8) })
            .contains("smaller number first")
    );
    assert!(ask(question(Kind::Allreduce, 4, 1, u64::MAX)).contains("cannot be counted"));
    assert!(rank(&aries(), &question(Kind::Allreduce, 7, 2, 0)).is_ok());
}

/// Many nodes; in an optimised build this takes a few milliseconds.
#[test]
fn many_nodes_are_no_trouble() {
    let begin = std::time::Instant::now();
    let all = rank(&aries(), &question(Kind::Allreduce, 65_536, 8, 1 << 20)).expect("makes sense");
    let took = begin.elapsed();
    assert!(!all.is_empty() && took.as_secs() < 10, "{took:?}");
    if !cfg!(debug_assertions) {
        assert!(took.as_millis() < 100, "{took:?}");
    }
}
