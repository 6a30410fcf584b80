//! Programs with one fault: the replay refuses all of them. A wait or a copy whose absence goes unnoticed would be
//! superfluous.

use roundel::program::{CombineStep, CopyStep, MemoryRegion, MessageDirection, Op, Program, RegionOffset, Scheme};

use roundel_spec::Kind;

use crate::cases::{Case, cases};

/// Jobs with every kind, scheme and number of lanes, on one node and on several.
fn representatives() -> Vec<Case> {
    let placements: [&[usize]; 7] = [
        &[0, 0],
        &[0, 0, 0, 0],
        &[0, 0, 1, 1],
        &[0, 1, 0, 1, 0, 1],
        &[0, 0, 0, 1, 1, 2],
        &[0, 0, 0, 1, 1, 1],
        &[0, 1, 2],
    ];
    placements.iter().flat_map(|nodes| cases(nodes, &[3], &[0, 1, 2], &[1, 2])).collect()
}

/// Applies a fault at every step of every rank, in both programs, wherever possible; all of these programs must be
/// refused.
fn refused(what: &str, fault: impl Fn(&Case, &mut [[Program; 2]], usize, usize) -> bool) {
    let mut seen = 0;
    for case in representatives() {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        for rank in 0..programs.len() {
            for op in 0..programs[rank][0].ops.len() {
                let mut mutant = programs.clone();
                if fault(&case, &mut mutant, rank, op) {
                    let step = &programs[rank][0].ops[op];
                    let name = case.name();
                    assert!(case.fault(&mutant).is_some(), "{what}, {name}: rank {rank}, step {op}, {step:?}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "{what}: only {seen} mutants");
}

/// Removes one step from both programs.
fn without(mutant: &mut [[Program; 2]], rank: usize, op: usize) {
    for program in &mut mutant[rank] {
        program.ops.remove(op);
    }
}

#[test]
fn every_wait_is_needed() {
    refused("wait", |_, mutant, rank, op| {
        let wait = matches!(mutant[rank][0].ops[op], Op::Await { .. });
        if wait {
            without(mutant, rank, op);
        }
        wait
    });
}

#[test]
fn every_wait_is_for_the_right_time() {
    refused("earlier wait", |_, mutant, rank, op| {
        let mut earlier = false;
        for program in &mut mutant[rank] {
            if let Op::Await { times, .. } = &mut program.ops[op]
                && *times > 0
            {
                (*times, earlier) = (*times - 1, true);
            }
        }
        earlier
    });
}

#[test]
fn every_signal_is_needed() {
    refused("signal", |case, mutant, rank, op| {
        let signal = matches!(mutant[rank][0].ops[op], Op::Signal);
        if signal {
            without(mutant, rank, op);
            say_one_less(case, mutant, rank);
        }
        signal
    });
}

/// All programs of the node declare one increment less of a rank's counter.
fn say_one_less(case: &Case, mutant: &mut [[Program; 2]], rank: usize) {
    let local = case.placement.place(rank).local as usize;
    let here = mutant.iter_mut().enumerate().filter(|(other, _)| !case.placement.nonlocal(rank, *other));
    here.flat_map(|(_, programs)| programs).for_each(|program| program.signals[local] -= 1);
}

#[test]
fn every_copy_and_combination_is_needed() {
    refused("work", |_, mutant, rank, op| {
        let work = matches!(mutant[rank][0].ops[op], Op::Copy(_) | Op::Combine(_));
        if work {
            without(mutant, rank, op);
        }
        work
    });
}

#[test]
fn every_message_is_posted_and_completed() {
    refused("messages", |_, mutant, rank, op| {
        let messages = matches!(mutant[rank][0].ops[op], Op::Post { .. } | Op::Complete { .. });
        if messages {
            without(mutant, rank, op);
        }
        messages
    });
}

/// A signal moves before the steps since the last wait or signal, which it announces. (Moving it before the last of
/// them alone may be harmless: no other process may access the memory of that step.)
#[test]
fn no_signal_may_come_earlier() {
    refused("early signal", |_, mutant, rank, op| {
        let ops = &mutant[rank][0].ops;
        let sync = |op: &Op| matches!(op, Op::Signal | Op::Await { .. });
        let steps = ops[..op].iter().rev().take_while(|op| !sync(op)).count();
        let early = ops[op] == Op::Signal && steps > 0;
        if early {
            mutant[rank].iter_mut().for_each(|program| program.ops[op - steps..=op].rotate_right(1));
        }
        early
    });
}

#[test]
fn no_copy_may_go_elsewhere() {
    refused("other offset", |case, mutant, rank, op| {
        let mut moved = false;
        for program in &mut mutant[rank] {
            if let Op::Copy(CopyStep { to, .. }) | Op::Combine(CombineStep { into: to, .. }) = &mut program.ops[op] {
                (to.offset, moved) = (to.offset + case.size, true);
            }
        }
        moved
    });
}

#[test]
fn no_operand_may_come_from_elsewhere() {
    refused("other operand", |case, mutant, rank, op| {
        let mut moved = false;
        for program in &mut mutant[rank] {
            let copies = program.ops.clone();
            if let Op::Copy(CopyStep { from, .. }) | Op::Combine(CombineStep { right: from, .. }) =
                &mut program.ops[op]
            {
                let before = *from;
                from.offset += case.size;
                moved = !copies.iter().any(|copy| is_between(copy, *from, before, case.size));
            }
        }
        moved
    });
}

/// Whether a step copies the data at one position to another, so that it does not matter which of them is read.
fn is_between(op: &Op, source: RegionOffset, target: RegionOffset, size: usize) -> bool {
    let Op::Copy(CopyStep { from, to, elements }) = *op else { return false };
    let distance = source.offset.wrapping_sub(from.offset);
    let within = source.region == from.region && distance < elements * size;
    within && target == RegionOffset { offset: to.offset + distance, ..to }
}

#[test]
fn messages_stay_as_they_are() {
    for case in representatives() {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        for rank in 0..programs.len() {
            for message in 0..programs[rank][0].messages.len() {
                for change in 0..4 {
                    let mut mutant = programs.clone();
                    for program in &mut mutant[rank] {
                        let message = &mut program.messages[message];
                        match change {
                            0 => message.elements += 1,
                            1 => message.spot.offset += case.size,
                            2 => message.peer = (message.peer + 1) % programs.len(),
                            _ => {
                                message.direction = if message.direction == MessageDirection::In {
                                    MessageDirection::Out
                                } else {
                                    MessageDirection::In
                                }
                            }
                        }
                    }
                    assert!(case.fault(&mutant).is_some(), "{}: rank {rank}, {message}, {change}", case.name());
                }
            }
        }
    }
}

#[test]
fn memory_must_alternate() {
    let mut seen = 0;
    for case in representatives() {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let alternates = programs.iter().any(|[even, odd]| even.ops != odd.ops);
        let same: Vec<_> = programs.iter().map(|[even, _]| [even.clone(), even.clone()]).collect();
        if alternates && must_alternate(&case) {
            assert!(case.fault(&same).is_some(), "{}", case.name());
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} programs alternate");
}

/// Whether even and odd calls must use different memory: on one node, unless inputs are read in place, or each chunk is
/// taken by one process alone. (Between nodes, a single lane is such a process, which all others wait for.)
fn must_alternate(case: &Case) -> bool {
    let one_node = case.nodes.iter().all(|&node| node == 0);
    let asked = match case.scheme {
        Scheme::Copies => false,
        Scheme::Chunks => case.between.kind == Kind::ReduceScatter,
        Scheme::Direct => case.between.kind.reduces(),
    };
    one_node && !asked
}

#[test]
fn regions_are_no_larger_than_needed_and_inputs_are_not_written() {
    for case in representatives() {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        for rank in 0..programs.len() {
            let mut mutant = programs.clone();
            let smaller = mutant[rank].iter_mut().all(|program| {
                let scratch = program.scratch >= case.size;
                program.scratch = program.scratch.saturating_sub(case.size);
                scratch
            });
            assert!(!smaller || case.fault(&mutant).is_some(), "{}: rank {rank}", case.name());
            let mut mutant = programs.clone();
            let writes = mutant[rank].iter_mut().any(|program| {
                let to = program.ops.iter_mut().find_map(|op| match op {
                    Op::Copy(CopyStep { to, .. }) | Op::Combine(CombineStep { into: to, .. }) => Some(to),
                    _ => None,
                });
                to.map(|to| to.region = MemoryRegion::Input).is_some()
            });
            assert!(!writes || case.fault(&mutant).is_some(), "{}: rank {rank}", case.name());
        }
    }
}
