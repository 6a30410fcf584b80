//! Programs that cannot be built are refused with a reason; and the order of reductions.

use roundel::plan::part::{INPUT, Local, RankPlan, Slot};
use roundel::program::{BuildError, CopyStep, MemoryRegion, Op, ProgramSpec, ReductionOrder, Scheme, build};
use roundel_spec::{Kind, Placement};

use crate::cases::{SCHEMES, cases};
use crate::parts::BETWEEN;

/// The error for rank 0 of four ranks on two nodes, with a part that may be changed.
fn refusal(change: impl Fn(&mut ProgramSpec), part: impl Fn(&mut RankPlan)) -> Option<BuildError> {
    let placement = Placement::consecutive(4, 2);
    let parts = |node| {
        let mut made = (BETWEEN[0].part)(2, node);
        part(&mut made);
        made
    };
    let mut job = ProgramSpec {
        kind: Kind::Allreduce,
        placement: &placement,
        counts: &[6],
        size: 8,
        lanes: 1,
        scheme: Scheme::Copies,
        parts: &parts,
    };
    change(&mut job);
    build(&job, 0).err()
}

fn as_it_is(_: &mut RankPlan) {}

#[test]
fn calls_that_make_no_sense() {
    assert_eq!(refusal(|_| {}, as_it_is), None);
    assert_eq!(refusal(|job| job.kind = Kind::Alltoall, as_it_is), Some(BuildError::Kind { kind: Kind::Alltoall }));
    assert_eq!(refusal(|job| job.size = 0, as_it_is), Some(BuildError::Size));
    let counts = BuildError::Counts { kind: Kind::Allreduce, expected: 1, found: 2 };
    assert_eq!(refusal(|job| job.counts = &[1, 2], as_it_is), Some(counts));
    let counts = BuildError::Counts { kind: Kind::Allgather, expected: 4, found: 1 };
    assert_eq!(refusal(|job| job.kind = Kind::Allgather, as_it_is), Some(counts));
    let placement = Placement::consecutive(4, 4);
    let parts = |_| panic!("one node has no part");
    let (kind, scheme) = (Kind::Allreduce, Scheme::Copies);
    let job = ProgramSpec { kind, placement: &placement, counts: &[1], size: 1, lanes: 1, scheme, parts: &parts };
    assert_eq!(build(&job, 4).err(), Some(BuildError::Rank { rank: 4, p: 4 }));
}

#[test]
fn sizes_beyond_all_memory() {
    for scheme in SCHEMES {
        const COUNTS: [&[usize]; 4] = [&[usize::MAX], &[usize::MAX / 8], &[usize::MAX / 64], &[usize::MAX / 32]];
        for counts in COUNTS {
            let refusal = refusal(|job| (job.counts, job.scheme) = (counts, scheme), as_it_is);
            let named = matches!(refusal, Some(BuildError::TooLarge { .. } | BuildError::TooLong { .. }));
            assert!(named, "{scheme:?}, {counts:?}: {refusal:?}");
        }
    }
    const TWO: [usize; 4] = [usize::MAX, 1, 0, 0];
    let too_large = BuildError::TooLarge { what: "the vector" };
    assert_eq!(refusal(|job| (job.kind, job.counts) = (Kind::Allgather, &TWO), as_it_is), Some(too_large));
}

#[test]
fn messages_that_mpi_cannot_count() {
    const LIMIT: usize = i32::MAX as usize;
    let too_long = BuildError::TooLong { peer: 2, elements: LIMIT + 1, limit: LIMIT };
    assert!(too_long.to_string().contains("more lanes"));
    assert_eq!(refusal(|job| job.counts = &[LIMIT + 1], as_it_is), Some(too_long));
    assert_eq!(refusal(|job| (job.counts, job.lanes) = (&[LIMIT + 1], 2), as_it_is), None);
}

#[test]
fn parts_of_something_else() {
    let others: [fn(&mut RankPlan); 4] =
        [|part| part.rank = 1, |part| part.p = 3, |part| part.kind = Kind::Allgather, |part| part.blocks = 0];
    for change in others {
        assert!(matches!(refusal(|_| {}, change), Some(BuildError::Part { node: 0, nodes: 2, .. })));
    }
    let slots: [fn(&mut RankPlan); 3] = [
        |part| part.turns[0].sends[0].slots[0].block = 1,
        |part| part.turns[0].sends[0].slots[0].line = 99,
        |part| part.turns[0].receives[0].slots[0] = Slot { line: INPUT, block: 0 },
    ];
    for change in slots {
        assert!(matches!(refusal(|_| {}, change), Some(BuildError::Slot { node: 0, round: 0, .. })));
    }
    let input = Slot { line: INPUT, block: 0 };
    let written = refusal(|_| {}, |part| part.turns[0].locals.push(Local::Copy { from: input, to: input }));
    assert!(matches!(written, Some(BuildError::Slot { what: "writes", .. })));
    for peer in [0, 2] {
        let change = move |part: &mut RankPlan| part.turns[0].sends[0].peer = peer;
        assert_eq!(refusal(|_| {}, change), Some(BuildError::Peer { node: 0, round: 0, peer, nodes: 2 }));
    }
}

/// If ranks are consecutive on nodes, and the part between nodes keeps their order, so does the whole, unless data goes
/// around a ring.
#[test]
fn order_of_reductions() {
    for case in cases(&[0, 0, 0, 1, 1, 1], &[6], &[0], &[1, 2]) {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let order = case.replay(&programs).unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let straight = case.scheme != Scheme::Chunks && case.between.name != "ring reduce_scatter";
        let rank_order = straight || !case.between.kind.reduces();
        assert_eq!(order, ReductionOrder { same_tree: true, rank_order }, "{}", case.name());
    }
    for case in cases(&[0, 1, 0, 1], &[6], &[0], &[1]).iter().filter(|case| case.between.kind.reduces()) {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        assert!(case.replay(&programs).is_ok_and(|order| !order.rank_order), "{}", case.name());
    }
}

/// If every rank has a node for itself, nothing is shared, copied as a whole or waited for.
#[test]
fn ranks_alone_on_their_nodes_share_nothing() {
    for case in cases(&[0, 1, 2, 3], &[6], &[0, 1, 2], &[1]) {
        for program in case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name())).iter().flatten() {
            let shared = |op: &Op| match *op {
                Op::Signal | Op::Await { .. } => true,
                Op::Copy(CopyStep { from, to, .. }) => {
                    from.region == MemoryRegion::Shared || to.region == MemoryRegion::Shared
                }
                _ => false,
            };
            assert_eq!((program.shared, program.input, program.output), (0, None, None), "{}", case.name());
            assert!(!program.ops.iter().any(shared), "{}", case.name());
        }
    }
}

/// One node: exactly as many signals as the module says.
#[test]
fn short_reductions_synchronise_once() {
    for case in cases(&[0, 0, 0, 0], &[6], &[0], &[1]) {
        let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        let expected = match (case.scheme, case.between.kind) {
            (Scheme::Copies, _) | (_, Kind::Allgather) => 1,
            (Scheme::Chunks, _) => 4,
            (Scheme::Direct, _) => 2,
        };
        assert!(programs.iter().flatten().all(|program| program.signals == [expected; 4]), "{}", case.name());
    }
}

/// A node with many processes does not slow down the builder.
#[test]
fn many_processes_on_a_node() {
    for scheme in SCHEMES {
        let placement = Placement::consecutive(96, 48);
        let parts = |node| (BETWEEN[0].part)(2, node);
        let kind = Kind::Allreduce;
        let job =
            ProgramSpec { kind, placement: &placement, counts: &[1000], size: 8, lanes: 4, scheme, parts: &parts };
        let started = std::time::Instant::now();
        assert!(build(&job, 50).is_ok());
        assert!(started.elapsed().as_secs() < 10, "{scheme:?}: {:?}", started.elapsed());
    }
}
