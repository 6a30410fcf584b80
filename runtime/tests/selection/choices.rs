//! Choices by default, by rules and by force: they always serve the call.

use super::files::GOOD;
use super::oracle::fault;
use super::rules::file;
use proptest::prelude::*;
use roundel::algorithms::catalogue;
use roundel::profile::Profile;
use roundel::program::shared::CopyPath;
use roundel::selection::{
    Answer, CallForm, DefaultRule, Force, Implementation, NodeSizes, Question, Reason, Selection, Settings,
};
use roundel_spec::{Kind, Placement};

/// The requirements of calls of a kind: whether the operation commutes, and whether all ranks need the same bits.
fn needs(kind: Kind) -> &'static [(bool, bool)] {
    if kind.reduces() { &[(true, false), (true, true), (false, false), (false, true)] } else { &[(true, false)] }
}

fn holds(selection: &Selection, call: &Question, placement: &Placement) {
    let chosen = selection.choose(call);
    assert_eq!(fault(&chosen, call, placement), None, "{}", chosen.explain());
    assert!(!chosen.explain().contains('\n'));
}

fn each_call(kind: Kind, placement: &Placement, bytes: u64) -> impl Iterator<Item = Question> + use<> {
    let call = Question::at(kind, placement, bytes);
    needs(kind).iter().map(move |&(commutes, reproducible)| Question { commutes, reproducible, ..call })
}

/// Placements of p ranks: on one node, on full nodes, alternating, uneven.
fn placements(p: usize) -> Vec<Placement> {
    let mut all: Vec<_> = [1, 2, 3, 4, 8, 12, p].map(|ppn| Placement::consecutive(p, ppn)).into();
    all.push(Placement::cyclic(p, 3));
    let (pairs, rest) = (p / 7, p % 7);
    let uneven: Vec<usize> = [3, 4].repeat(pairs).into_iter().chain((rest > 0).then_some(rest)).collect();
    all.push(Placement::of_sizes(&uneven));
    all
}

/// Calls of every kind and length on every placement, with their requirements.
fn all_calls(ranks: std::ops::RangeInclusive<usize>, mut see: impl FnMut(&Placement, &Question)) {
    for placement in ranks.flat_map(placements) {
        for (kind, bytes) in Kind::ALL.iter().flat_map(|&kind| [0, 8, 5000, 1 << 17, 1 << 33].map(|b| (kind, b))) {
            each_call(kind, &placement, bytes).for_each(|call| see(&placement, &call));
        }
    }
}

/// MPI requires identical results of an allreduce: an algorithm without the same tree serves only exact operations.
#[test]
fn trees_that_differ_serve_exact_operands_alone() {
    let exact = Question::new(Kind::Allreduce, 10, 10, 8);
    let floats = Question { identical: true, ..exact };
    let name = |chosen: &Answer| chosen.implementation.algorithm().unwrap_or("library");
    for text in ["allreduce:prefix", "allreduce:cyclic-shift:ports=1+1+1+1"] {
        let forced = Selection::default().forcing(Force::read(text).expect("is read"));
        assert!(text.contains(name(&forced.choose(&exact)).trim_start_matches("allreduce/")));
        let chosen = forced.choose(&floats);
        assert!(!text.contains(name(&chosen).trim_start_matches("allreduce/")), "{}", chosen.explain());
        assert!(chosen.explain().contains("MPI demands identical results"), "{}", chosen.explain());
    }
    // Plans with ports: prefixes are different trees, a reduce_scatter and an allgather are one.
    for (ports, nodes, same) in [("7(1 1 1)", 7, false), ("4(-3) 4(3)", 4, true)] {
        let forced = Selection::default().forcing(Force::read(&format!("allreduce:{ports}")).expect("are ports"));
        let call = Question::new(Kind::Allreduce, nodes, 1, 8);
        assert!(forced.ports(&call).is_some(), "{ports}");
        assert_eq!(forced.ports(&Question { identical: true, ..call }).is_some(), same, "{ports}");
    }
    let rule = |order: &str| {
        let text = format!(
            "format = \"roundel-selection\"\nversion = 1\n[[rule]]\ncollective = \"allreduce\"\n\
             algorithm = \"prefix\"\n{order}"
        );
        Selection::parse(&text).expect("is a selection")
    };
    assert_ne!(name(&rule("").choose(&floats)), "allreduce/prefix");
    assert_eq!(name(&rule("order = \"any\"\n").choose(&floats)), "allreduce/prefix");
    let reproducible = Question { reproducible: true, ..floats };
    assert_ne!(name(&rule("order = \"any\"\n").choose(&reproducible)), "allreduce/prefix");
    // MPI must give identical results anyway.
    let library = Selection::default().forcing(Force::read("allreduce:library").expect("is read"));
    assert_eq!(library.choose(&floats).implementation, Implementation::Library);
}

#[test]
fn the_default_serves_everywhere() {
    let (fastest, catalogue) = (Selection::default(), Selection::default().preferring_the_catalogue());
    all_calls(1..=130, |placement, call| holds(&fastest, call, placement));
    // The queries take long.
    for p in [1, 2, 3, 7, 8, 12, 13, 16, 31, 48, 49, 64, 65, 96, 97, 130] {
        all_calls(p..=p, |placement, call| holds(&catalogue, call, placement));
    }
}

/// Whether a call is short, by the definition in the documentation, on the default network.
fn is_short(call: &Question) -> bool {
    match call.kind {
        Kind::Allreduce | Kind::Reduce | Kind::Broadcast => call.bytes <= 32 << 10,
        Kind::Alltoall => (call.ppn_max * call.ppn_max) as u64 * call.bytes <= 64 << 10,
        Kind::Allgather | Kind::ReduceScatter | Kind::Gather | Kind::Scatter => {
            call.p as u64 * call.bytes <= 512 << 10
        }
    }
}

/// They have as many rounds as ranks, which does not suit short calls.
const LINEAR: [&str; 7] = [
    "allgather/ring",
    "allgather/neighbor-exchange",
    "allreduce/ring",
    "reduce-scatter/pairwise",
    "reduce-scatter/ring",
    "reduce-scatter/neighbor-exchange",
    "alltoall/pairwise",
];

/// Where proofs end, the default is the library, not any remaining algorithm; and the stated reasons are true.
#[test]
fn a_short_call_never_takes_as_many_rounds_as_there_are_ranks() {
    let selection = Selection::default();
    all_calls(1..=130, |_, call| {
        let chosen = selection.choose(call);
        let (line, name) = (chosen.explain(), chosen.implementation.algorithm().unwrap_or("library"));
        assert!(!is_short(call) || !LINEAR.contains(&name), "{line}");
        assert!(is_short(call) || !line.contains("because it is short"), "{line}");
        assert!(!is_short(call) || !line.contains("because it is long"), "{line}");
        assert!(call.nodes > 1 || !line.contains("between nodes"), "{line}");
    });
}

/// On one node ranks share memory where that is faster, and the library serves all other calls, except those that
/// require the same tree on all ranks.
#[test]
fn on_one_node_the_default_is_shared_memory_or_the_library() {
    let mut shared = 0;
    all_calls(1..=70, |_, call| {
        let settings = Settings::default();
        let chosen = settings.choose(call);
        let paths = [CopyPath::Slot, CopyPath::Kernel].map(Implementation::SharedMemory);
        let used = paths.iter().find(|path| chosen.implementation == **path);
        let fits = used.is_none_or(|path| path.serves(call).is_ok() && call.p > 1);
        assert!(fits, "{}", chosen.explain());
        if call.nodes == 1 && Implementation::Library.serves(call).is_ok() {
            assert!(used.is_some() || chosen.implementation == Implementation::Library, "{}", chosen.explain());
            let always = matches!(call.kind, Kind::Allreduce | Kind::ReduceScatter) && (2..=64).contains(&call.p);
            assert!(!always || used == Some(&paths[0]), "{}", chosen.explain());
            shared += usize::from(always);
        }
        let may = Implementation::Library.serves(call).is_ok() && call.nodes == 1;
        assert!(!settings.leaves_all(call.p) || !may || chosen.implementation == Implementation::Library);
        assert_eq!(settings.leaves_all(call.p), !(2..=64).contains(&call.p));
    });
    assert!(shared > 100, "{shared}");
    let said = [
        Settings { reproducible: true, ..Settings::default() },
        Settings { explain: true, ..Settings::default() },
        Settings { trace: Some("trace".into()), ..Settings::default() },
        Settings { selection: Selection::default().preferring_the_catalogue(), ..Settings::default() },
        Settings {
            selection: file(&["collective = 'allreduce'; algorithm = 'ring'"]).expect("possible"),
            ..Settings::default()
        },
    ];
    assert!(said.iter().all(|settings| !settings.leaves_all(1)));
}

#[test]
fn the_default_is_as_documented() {
    let chosen = |selection: &Selection, kind, p, ppn, bytes| {
        let chosen = selection.choose(&Question::new(kind, p, ppn, bytes));
        assert!(matches!(chosen.reason, Reason::Default(_)));
        match chosen.implementation {
            Implementation::SharedMemory(CopyPath::Slot) => "shared-memory",
            Implementation::SharedMemory(CopyPath::Kernel) => "kernel-copy",
            other => other.algorithm().unwrap_or("library"),
        }
    };
    let (fastest, catalogue) = (Selection::default(), Selection::default().preferring_the_catalogue());
    // By default, and where the catalogue is preferred.
    let cases = [
        (Kind::Allreduce, 64, 64, 8, "shared-memory", "allreduce/recursive-doubling"),
        (Kind::Allreduce, 64, 4, 8, "shared-memory", "allreduce/nap"),
        (Kind::Allreduce, 64, 4, 2048, "shared-memory", "allreduce/nap"),
        (Kind::Allreduce, 64, 4, 2049, "shared-memory", "allreduce/nap"),
        (Kind::Allreduce, 64, 4, 32768, "shared-memory", "allreduce/nap"),
        (Kind::Allreduce, 64, 4, 65536, "shared-memory", "allreduce/rabenseifner"),
        (Kind::Allreduce, 64, 4, 65537, "library", "allreduce/rabenseifner"),
        (Kind::Allreduce, 64, 1, 8, "library", "allreduce/recursive-doubling"),
        (Kind::Allreduce, 104, 4, 8, "shared-memory", "allreduce/nap"),
        (Kind::Allreduce, 104, 8, 2048, "shared-memory", "allreduce/nap"),
        (Kind::Allreduce, 2048, 8, 8, "allreduce/nap", "allreduce/nap"),
        (Kind::Allreduce, 16 * 64, 64, 8, "allreduce/nap", "allreduce/nap"),
        (Kind::Allreduce, 16 * 64 - 24, 64, 8, "allreduce/nap", "allreduce/nap"),
        (Kind::Allreduce, 9408 * 8, 8, 8, "allreduce/nap", "allreduce/nap"),
        (Kind::Allreduce, 9408 * 8 - 3, 8, 8, "allreduce/nap", "allreduce/nap"),
        (Kind::Allreduce, 64, 64, 32769, "shared-memory", "allreduce/rabenseifner"),
        (Kind::Allreduce, 6, 6, (6 << 15) - 1, "shared-memory", "allreduce/rabenseifner"),
        (Kind::Allreduce, 6, 6, 6 << 15, "shared-memory", "allreduce/ring"),
        (Kind::Allgather, 64, 64, 8192, "shared-memory", "allgather/bruck"),
        (Kind::Allgather, 64, 64, 8193, "shared-memory", "allgather/ring"),
        (Kind::Allgather, 64, 16, 8193, "shared-memory", "allgather/multi-lane"),
        (Kind::Allgather, 64, 2, 1 << 20, "shared-memory", "allgather/multi-lane"),
        (Kind::Allgather, 64, 2, 8, "shared-memory", "allgather/bruck"),
        (Kind::Allgather, 64, 2, 16384, "shared-memory", "allgather/multi-lane"),
        (Kind::Allgather, 64, 4, 8, "shared-memory", "allgather/locality-bruck"),
        (Kind::Allgather, 4000, 4, 8, "allgather/locality-bruck", "allgather/locality-bruck"),
        (Kind::Allgather, 4001, 4, 8, "shared-memory", "allgather/bruck"),
        (Kind::Allgather, 4003, 4, 8, "allgather/locality-bruck", "allgather/locality-bruck"),
        (Kind::Allgather, 9408 * 8 - 3, 8, 4, "allgather/locality-bruck", "allgather/locality-bruck"),
        (Kind::ReduceScatter, 64, 64, 8, "shared-memory", "reduce-scatter/recursive-halving"),
        (Kind::ReduceScatter, 63, 63, 8, "shared-memory", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 65, 65, 8, "library", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 104, 4, 512, "shared-memory", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 104, 8, 8, "shared-memory", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 64, 4, 8, "shared-memory", "reduce-scatter/recursive-halving"),
        (Kind::ReduceScatter, 104, 4, 511, "library", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 104, 2, 1024, "shared-memory", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 104 * 4, 4, 8, "library", "reduce-scatter/circulant"),
        (Kind::ReduceScatter, 128 * 4, 4, 8, "library", "reduce-scatter/recursive-halving"),
        (Kind::ReduceScatter, 64, 64, 1 << 20, "shared-memory", "reduce-scatter/pairwise"),
        (Kind::Broadcast, 104, 4, 8, "library", "broadcast/binomial"),
        (Kind::Broadcast, 104, 4, 65, "shared-memory", "broadcast/binomial"),
        (Kind::Reduce, 104, 4, 2048, "shared-memory", "reduce/binomial"),
        (Kind::Reduce, 104, 4, 2049, "library", "reduce/binomial"),
        (Kind::Broadcast, 257, 257, 8, "library", "broadcast/binomial"),
        (Kind::Broadcast, 8, 8, 32769, "shared-memory", "library"),
        (Kind::Broadcast, 3, 3, 8, "library", "broadcast/binomial"),
        (Kind::Broadcast, 3, 3, 65, "shared-memory", "broadcast/binomial"),
        (Kind::Broadcast, 2, 2, (64 << 10) + 1, "kernel-copy", "library"),
        (Kind::Allgather, 2, 2, (8 << 10) + 1, "kernel-copy", "allgather/bruck"),
        (Kind::Reduce, 8, 8, 8, "shared-memory", "reduce/binomial"),
        (Kind::Gather, 64, 64, 8, "shared-memory", "gather/binomial"),
        (Kind::Gather, 65, 65, 8, "library", "gather/binomial"),
        (Kind::Scatter, 64, 64, 8193, "shared-memory", "library"),
        (Kind::Alltoall, 16, 4, 8, "shared-memory", "alltoall/leaders"),
        (Kind::Alltoall, 16, 2, 8, "shared-memory", "alltoall/leaders"),
        (Kind::Alltoall, 16, 4, 4096, "shared-memory", "alltoall/leaders"),
        (Kind::Alltoall, 16, 2, 4096, "shared-memory", "alltoall/leaders"),
        (Kind::Alltoall, 16, 2, 16384, "library", "alltoall/spread-out"),
        (Kind::Alltoall, 104, 4, 8, "shared-memory", "alltoall/leaders"),
        (Kind::Alltoall, 104, 8, 8, "shared-memory", "alltoall/leaders"),
        (Kind::Alltoall, 16 * 64 - 24, 64, 8, "alltoall/leaders", "alltoall/leaders"),
        (Kind::Alltoall, 9408 * 8 - 3, 8, 8, "alltoall/leaders", "alltoall/leaders"),
        (Kind::Alltoall, 64, 64, 1 << 20, "library", "alltoall/spread-out"),
        (Kind::Alltoall, 8, 8, (16 << 10) + 1, "kernel-copy", "alltoall/spread-out"),
        (Kind::Gather, 4, 4, (16 << 10) + 1, "kernel-copy", "gather/binomial"),
        (Kind::Reduce, 2, 2, 1 << 20, "library", "library"),
        (Kind::Alltoall, 64, 64, u64::MAX, "shared-memory", "alltoall/spread-out"),
        (Kind::Alltoall, 16, 4, u64::MAX, "library", "alltoall/spread-out"),
    ];
    for (kind, p, ppn, bytes, default, preferred) in cases {
        let what = format!("{kind} p = {p} ppn = {ppn} bytes = {bytes}");
        assert_eq!(chosen(&fastest, kind, p, ppn, bytes), default, "{what}");
        assert_eq!(chosen(&catalogue, kind, p, ppn, bytes), preferred, "{what}, the catalogue preferred");
    }
    // The library's allgatherv is faster than its allgather where there is much to gather, but not than shared memory.
    let varying = |bytes| Question { varying: true, ..Question::new(Kind::Allgather, 16, 2, bytes) };
    assert_eq!(fastest.choose(&varying((1 << 18) + 1)).implementation, Implementation::SharedMemory(CopyPath::Slot));
    let large = |bytes| Question { varying: true, ..Question::new(Kind::Allgather, 2 * 65, 65, bytes) };
    assert_eq!(fastest.choose(&large(1 << 14)).implementation.algorithm(), Some("allgather/multi-lane"));
    assert_eq!(fastest.choose(&large(1 << 18)).implementation, Implementation::Library);
    // On one node, non-blocking calls do not share memory for a few bytes.
    let not_blocking = |form, p, ppn, bytes| {
        fastest.choose(&Question { form, ..Question::new(Kind::Allreduce, p, ppn, bytes) }).implementation
    };
    assert_eq!(not_blocking(CallForm::Nonblocking, 4, 4, 511), Implementation::Library);
    assert_eq!(not_blocking(CallForm::Nonblocking, 4, 4, 512), Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(not_blocking(CallForm::Nonblocking, 2, 2, 2047), Implementation::Library);
    let rooted = |p| Question { form: CallForm::Nonblocking, ..Question::new(Kind::Gather, p, p, 4096) };
    assert_eq!(fastest.choose(&rooted(3)).implementation, Implementation::Library);
    assert_eq!(fastest.choose(&rooted(4)).implementation, Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(not_blocking(CallForm::Persistent, 4, 4, 8), Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(not_blocking(CallForm::Nonblocking, 16, 4, 4096), Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(not_blocking(CallForm::Persistent, 16, 4, 4096), Implementation::SharedMemory(CopyPath::Slot));
    // An alltoallv that does not block is left to the library before its lengths are known.
    let exchange =
        |form, bytes| fastest.choose(&Question { form, ..Question::new(Kind::Alltoall, 4, 4, bytes) }).implementation;
    assert_eq!(exchange(CallForm::Blocking, u64::MAX), Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(exchange(CallForm::Nonblocking, u64::MAX), Implementation::Library);
    assert_eq!(exchange(CallForm::Persistent, u64::MAX), Implementation::Library);
    assert_eq!(exchange(CallForm::Persistent, 8), Implementation::SharedMemory(CopyPath::Slot));
    let of_two = |varying, bytes| {
        let form = CallForm::Persistent;
        fastest.choose(&Question { form, varying, ..Question::new(Kind::Alltoall, 2, 2, bytes) }).implementation
    };
    assert_eq!(of_two(true, 64), Implementation::Library);
    assert_eq!(of_two(true, 8 << 10), Implementation::SharedMemory(CopyPath::Slot));
    let brief = Question { form: CallForm::Persistent, varying: true, ..Question::new(Kind::Alltoall, 4, 4, 64) };
    assert_eq!(fastest.choose(&brief).implementation, Implementation::Library);
    assert_eq!(of_two(true, (8 << 10) + 1), Implementation::Library);
    assert_eq!(of_two(false, 8 << 10), Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(of_two(false, (8 << 10) + 1), Implementation::SharedMemory(CopyPath::Kernel));
    let many = |bytes| Question { varying: true, ..Question::new(Kind::Allgather, 104, 4, bytes) };
    assert_eq!(fastest.choose(&many(8)).implementation, Implementation::Library);
    assert_eq!(fastest.choose(&many(1024)).implementation, Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(catalogue.choose(&varying(1 << 20)).implementation.algorithm(), Some("allgather/multi-lane"));
    let uneven = Question::at(Kind::Alltoall, &Placement::of_sizes(&[3, 4, 3, 4, 2]), 8);
    assert_eq!(fastest.choose(&uneven).implementation, Implementation::SharedMemory(CopyPath::Slot));
    let cyclic = Question::at(Kind::Alltoall, &Placement::cyclic(16, 4), 8);
    assert_eq!(fastest.choose(&cyclic).implementation.algorithm(), Some("alltoall/leaders"));
    let ordered = |selection: &Selection, kind, bytes| {
        let call = Question { commutes: false, ..Question::new(kind, 6, 3, bytes) };
        selection.choose(&call).implementation.algorithm().unwrap_or("library")
    };
    assert_eq!(ordered(&catalogue, Kind::Allreduce, 1 << 20), "allreduce/recursive-doubling");
    assert_eq!(ordered(&fastest, Kind::Allreduce, 1 << 20), "library");
    let in_order = Question { commutes: false, ..Question::new(Kind::Allreduce, 6, 3, 8) };
    assert_eq!(fastest.choose(&in_order).implementation, Implementation::SharedMemory(CopyPath::Slot));
    assert_eq!(ordered(&catalogue, Kind::Allreduce, 8), "allreduce/nap");
    assert_eq!(ordered(&catalogue, Kind::Reduce, 8), "reduce/binomial-ordered");
    assert_eq!(ordered(&catalogue, Kind::ReduceScatter, 8), "library");
    // The library does not promise the same bits on all ranks.
    let reproducible = |ppn| Question { reproducible: true, ..Question::new(Kind::Allreduce, 6, ppn, 8) };
    assert_eq!(fastest.choose(&reproducible(1)).implementation.algorithm(), Some("allreduce/recursive-doubling"));
    assert_eq!(fastest.choose(&reproducible(6)).implementation, Implementation::SharedMemory(CopyPath::Slot));
}

#[test]
fn a_profile_says_what_is_short() {
    assert_eq!(DefaultRule::default().short, 32 << 10);
    assert_eq!(DefaultRule::from(&Profile::default()), DefaultRule::default());
    let mut text = Profile::default();
    let grid = &text.between;
    let slow: Vec<Vec<f64>> = grid.rows().iter().map(|row| row.iter().map(|time| time + 2e-3).collect()).collect();
    text.between =
        roundel::profile::Grid::new(grid.sizes().to_vec(), grid.ports().to_vec(), slow).expect("makes sense");
    assert!(DefaultRule::from(&text).short > 1 << 20);
    let call = Question::new(Kind::Allreduce, 6, 6, 1 << 20);
    let catalogue = Selection::default().preferring_the_catalogue();
    assert_eq!(catalogue.choose(&call).implementation.algorithm(), Some("allreduce/ring"));
    let slow = catalogue.with_profile(&text).choose(&call);
    assert_eq!(slow.implementation.algorithm(), Some("allreduce/recursive-doubling"));
}

/// Rules, and the calls that they match by the plain definition.
type Matches = fn(&Question) -> bool;
const RULES: [(&str, Kind, Matches); 7] = [
    ("collective = 'allreduce'; p = '2..=20'; bytes = '>=1kB'; algorithm = 'ring'", Kind::Allreduce, |call| {
        (2..=20).contains(&call.p) && call.bytes >= 1000 && call.commutes
    }),
    (
        "collective = 'allreduce'; p = '..=12'; ppn = '>=2'; order = 'rank-order'; algorithm = 'nap'",
        Kind::Allreduce,
        |call| call.p <= 12 && call.ppn_min >= 2 && (call.commutes || call.sorted),
    ),
    ("collective = 'allreduce'; nodes = 4; order = 'any'; ports = '4(-1 -1) 4(1 1)'", Kind::Allreduce, |call| {
        call.nodes == 4 && call.commutes && !call.reproducible
    }),
    ("collective = 'allreduce'; bytes = '<8'; algorithm = 'library'", Kind::Allreduce, |call| {
        call.bytes < 8 && !call.reproducible
    }),
    (
        "collective = 'allgather'; placement = 'regular'; p = '..=96'; nodes = '2..'; algorithm = 'hierarchical'",
        Kind::Allgather,
        |call| call.shape != NodeSizes::Any && call.p <= 96 && call.nodes >= 2,
    ),
    ("collective = 'allgather'; placement = 'even'; algorithm = 'sparbit'", Kind::Allgather, |call| {
        call.ppn_min == call.ppn_max
    }),
    ("collective = 'reduce'; p = '..=9'; algorithm = 'binomial-ordered'", Kind::Reduce, |call| call.p <= 9),
];

fn some_placement() -> impl Strategy<Value = Placement> {
    let sizes = prop::collection::vec(1usize..6, 1..7);
    (sizes, any::<bool>(), 0usize..3).prop_map(|(sizes, shuffled, shape)| {
        let sizes = if shape > 0 { vec![sizes[0]; sizes.len()] } else { sizes };
        let mut nodes: Vec<usize> = (0..).zip(&sizes).flat_map(|(node, &size)| vec![node; size]).collect();
        if shape == 2 {
            nodes.pop().filter(|_| nodes.is_empty()).into_iter().for_each(|node| nodes.push(node));
        }
        if shuffled {
            let middle = nodes.len() / 2;
            nodes.rotate_left(middle / 2);
        }
        Placement::from_nodes(nodes)
    })
}

fn some_call() -> impl Strategy<Value = (Placement, Question)> {
    let bytes = prop_oneof![0u64..16, 900u64..1100, any::<u64>()];
    let kind = prop::sample::select(Kind::ALL.to_vec());
    (some_placement(), kind, bytes, any::<bool>(), any::<bool>()).prop_map(
        |(placement, kind, bytes, commutes, bits)| {
            let call = Question { commutes, reproducible: bits, ..Question::at(kind, &placement, bytes) };
            (placement, call)
        },
    )
}

proptest! {
    #[test]
    fn the_first_rule_that_matches_counts((placement, call) in some_call()) {
        let selection = file(&RULES.map(|(text, _, _)| text)).expect("possible");
        let matching: Vec<usize> =
            (0..RULES.len()).filter(|&i| RULES[i].1 == call.kind && (RULES[i].2)(&call)).collect();
        let with_ports = |&i: &usize| RULES[i].0.contains("ports");
        let rule = |chosen: &Answer| if let Reason::Rule { line } = chosen.reason { Some(line - 4) } else { None };
        let chosen = selection.choose(&call);
        let expected = matching.iter().copied().find(|i| !with_ports(i));
        prop_assert_eq!(rule(&chosen), expected, "{}", chosen.explain());
        // Only rules with ports are passed over, and that is reported.
        let passed = matching.iter().filter(|i| with_ports(i) && expected.is_none_or(|taken| **i < taken)).count();
        prop_assert_eq!(chosen.passed.len(), passed, "{:?}", chosen.passed);
        prop_assert_eq!(fault(&chosen, &call, &placement), None);
        // A persistent request takes the first that has ports.
        let ports = selection.ports(&call);
        prop_assert_eq!(ports.as_ref().and_then(rule), matching.iter().copied().find(with_ports));
        prop_assert_eq!(ports.and_then(|chosen| fault(&chosen, &call, &placement)), None);
    }

    #[test]
    fn what_is_forced_is_taken_only_where_it_serves((placement, call) in some_call(), number in 0usize..1000) {
        let of_kind: Vec<_> = catalogue().iter().filter(|entry| (entry.schedule)().kind == call.kind).collect();
        let name = of_kind[number % of_kind.len()].name;
        let given = match name.rsplit('/').next() {
            Some("k-bruck" | "modified-bruck") => ":radix=3",
            Some("cyclic-shift") => ":ports=1+2+1",
            _ => "",
        };
        let forced = Force::read(&format!("{}:{name}{given}", call.kind)).expect("fits");
        let serves = forced[0].implementation.serves(&call);
        let chosen = Selection::default().forcing(forced).choose(&call);
        prop_assert_eq!(fault(&chosen, &call, &placement), None, "{}", chosen.explain());
        prop_assert_eq!(serves.is_ok(), chosen.reason == Reason::Forced);
        prop_assert_eq!(serves.is_err(), chosen.explain().contains(&format!("; not {name}")), "{}", chosen.explain());
        // No implementation that serves the call is passed over.
        if let Err(reason) = serves {
            let asked = Answer { reason: Reason::Forced, ..chosen.clone() };
            let text = format!("{}:{name}{given}", call.kind);
            let implementation = Force::read(&text).expect("fits").remove(0).implementation;
            let refused = fault(&Answer { implementation, ..asked }, &call, &placement);
            prop_assert!(refused.is_some(), "{name}: {reason}");
        }
    }
}

#[test]
fn calls_that_cannot_be_are_left_to_the_library() {
    let call = Question::new(Kind::Allgather, 0, 4, 8);
    assert_eq!(Selection::default().choose(&call).implementation, Implementation::Library);
    let call = Question { nodes: 3, ..Question::new(Kind::Allgather, 8, 4, 8) };
    let selection = file(&["collective = 'allgather'; p = '..=12'; algorithm = 'multi-lane'"]).expect("possible");
    let chosen = selection.choose(&call);
    assert!(matches!(chosen.reason, Reason::Default(_)) && chosen.passed.len() == 1, "{}", chosen.explain());
}

#[test]
fn a_choice_is_explained_in_one_line() {
    let selection = Selection::parse(GOOD).expect("is good");
    let line = selection.choose(&Question { commutes: false, ..Question::new(Kind::Allreduce, 16, 4, 8) }).explain();
    let nap = "proved for all p, every placement";
    let call = "allreduce p=16 nodes=4 ppn=4 bytes=8 in rank order";
    assert_eq!(line, format!("{call}: allreduce/nap, by the rule at line 4; {nap} (proofs/NapAllreduce.json)"));
    let alone = Question::new(Kind::Allreduce, 8, 1, 8);
    let line = selection.ports(&alone).expect("has ports").explain();
    let (call, plan) =
        ("allreduce p=8 nodes=8 ppn=1 bytes=8", "the plan of 8 nodes was replayed when the rule was read");
    assert_eq!(line, format!("{call} as a persistent request: 8(-1 1 1 1), by the rule at line 19; {plan}"));
    let line = selection.choose(&alone).explain();
    let passed = "; not 8(-1 1 1 1), by the rule at line 19, because plans with ports are for requests of \
                  roundel::mpi::persistent";
    assert!(line.contains(passed), "{line}");
    let forced = Force::read("allgather:recursive-doubling").expect("fits");
    let line = Selection::default().forcing(forced).choose(&Question::new(Kind::Allgather, 6, 6, 8)).explain();
    assert!(line.contains("shared-memory, by default: its ranks share memory; replayed with all ranks"), "{line}");
    let passed = "; not allgather/recursive-doubling, forced by ROUNDEL_FORCE, because it requires `";
    assert!(line.contains(passed), "{line}");
}
