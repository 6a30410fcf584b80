//! Programs around the plans that really run between nodes, validated as by a request; and deliberate faults.

use roundel::plan::part::{Local, RankPlan};
use roundel::plan::ports::Ports;
use roundel::program::{ProgramSpec, Scheme, validate};
use roundel_spec::{Kind, Placement};

fn part(notation: &str, kind: Kind, node: usize) -> RankPlan {
    let ports: Ports = notation.parse().expect("is a notation");
    ports.part(kind, node).expect("is such a collective")
}

/// Placements of ranks on a number of nodes: evenly, unevenly, in turn.
fn placements(nodes: usize) -> [Placement; 3] {
    let uneven: Vec<usize> = (0..nodes).map(|node| 1 + node % 3).collect();
    [Placement::consecutive(2 * nodes, 2), Placement::of_sizes(&uneven), Placement::cyclic(2 * nodes, 2)]
}

const ALLREDUCES: [(usize, &str); 7] = [
    (2, "2(1)"),
    (3, "3(1 1)"),
    (4, "4(3)"),
    (4, "4(-1 1 1)"),
    (4, "4(-3) 4(3)"),
    (4, "2(-1) 2(1) 2(1)"),
    (6, "3(-1 -1) 2(1) 3(1 1)"),
];

#[test]
fn plans_with_ports_are_woven_without_a_race() {
    let others =
        [(Kind::Allgather, "2(1) 3(2)"), (Kind::Allgather, "6(2 1)"), (Kind::ReduceScatter, "3(-1 -1) 2(-1)")];
    let all = ALLREDUCES.map(|(nodes, text)| (Kind::Allreduce, nodes, text));
    let all = all.into_iter().chain(others.map(|(kind, text)| (kind, 6, text)));
    for (kind, nodes, text) in all {
        for placement in placements(nodes) {
            let p = placement.p();
            // Long vectors are shortened.
            let longest = if text == "4(-3) 4(3)" { 20_000 } else { 12 };
            for long in [1, 7, longest] {
                let counts =
                    if kind == Kind::Allreduce { vec![long] } else { (0..p).map(|r| r % 3 * long).collect() };
                for (scheme, lanes) in [(Scheme::Copies, 1), (Scheme::Chunks, 2), (Scheme::Direct, 1)] {
                    let parts = |node| part(text, kind, node);
                    let job = ProgramSpec {
                        kind,
                        placement: &placement,
                        counts: &counts,
                        size: 8,
                        lanes,
                        scheme,
                        parts: &parts,
                    };
                    let outcome = validate(&job);
                    assert!(outcome.is_ok(), "{kind} {text}, {long}, {scheme}, {lanes}: {outcome:?}");
                }
            }
        }
    }
}

/// A node that leaves out a step, or combines the wrong operands, is detected before anything runs.
#[test]
fn wrong_plans_are_not_valid() {
    let placement = Placement::consecutive(8, 2);
    let check = |spoil: fn(&mut RankPlan)| {
        let parts = |node| {
            let mut made = part("4(-1 1 1)", Kind::Allreduce, node);
            if node == 2 {
                spoil(&mut made);
            }
            made
        };
        let (kind, scheme) = (Kind::Allreduce, Scheme::Copies);
        let job = ProgramSpec { kind, placement: &placement, counts: &[9], size: 8, lanes: 1, scheme, parts: &parts };
        validate(&job)
    };
    assert!(check(|_| {}).is_ok());
    let faults: [fn(&mut RankPlan); 5] = [
        |part| drop(part.turns.iter_mut().find_map(|turn| turn.receives.pop())),
        |part| drop(part.turns.iter_mut().find_map(|turn| turn.sends.pop())),
        |part| {
            let _ = part.turns.iter_mut().rev().find_map(|turn| turn.locals.pop());
        },
        |part| part.turns.iter_mut().flat_map(|turn| &mut turn.sends).for_each(|message| message.slots.reverse()),
        |part| {
            for local in part.turns.iter_mut().flat_map(|turn| &mut turn.locals) {
                if let Local::Combine { left, right, .. } = local {
                    *left = *right;
                }
            }
        },
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        assert!(check(fault).is_err(), "fault {number}");
    }
}
