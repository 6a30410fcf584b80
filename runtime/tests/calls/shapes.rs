//! The selector's counts, made without a plan, are those of the plans: rounds, ports, longest messages and bytes.

use roundel::choice::{Question, ports};
use roundel::clock::{RoundCost, rounds_of, slowest};
use roundel::profile::Profile;
use roundel_spec::Kind;

/// Ports, longest message and bytes sent of each round with messages.
fn summary(rounds: &[RoundCost]) -> Vec<(usize, u64, u64)> {
    let with_messages = rounds.iter().filter(|round| round.ports > 0);
    with_messages.map(|round| (round.ports, round.longest, round.sent)).collect()
}

#[test]
fn shapes_are_those_of_plans() {
    for kind in [Kind::Allreduce, Kind::Allgather, Kind::ReduceScatter] {
        for nodes in (2..=24).chain([39, 64]) {
            // Divisible by all divisors that occur, so that nothing is rounded.
            let bytes = (nodes * 12) as u64;
            let ranked = ports::rank(&Profile::default(), &Question::new(kind, nodes, 1, 8)).expect("makes sense");
            // All of them up to 12 nodes, some beyond.
            let some = ranked.iter().enumerate().filter(|(i, _)| nodes <= 12 || i % 17 == 0);
            for (_, one) in some {
                let parts = (0..nodes).map(|node| one.notation.part(kind, node).expect("is one"));
                let rounds = slowest(parts.map(|part| {
                    let length = bytes as usize / part.blocks;
                    assert_eq!(length * part.blocks, bytes as usize, "{}", one.notation);
                    rounds_of(&part, &vec![length; part.blocks])
                }));
                let counted = ports::shape(&one.notation, kind, bytes);
                assert_eq!(summary(&rounds), summary(&counted), "{kind}, {}", one.notation);
            }
        }
    }
}
