//! Random cases for the C program `interposed`, one line each; `tests/c/interposed/cases.c` says what they mean.

use proptest::prelude::*;
use proptest::sample::select;
use roundel_spec::Kind;

/// A call, or messages between calls; shrinks to a simpler one.
pub(crate) type Line = String;

/// Lists of up to `most` lines, so that a failing one can shrink. More than half of the lines are of one collective if
/// `mostly` names it.
pub(crate) fn lines(most: usize, mostly: Option<Kind>) -> impl Strategy<Value = Vec<Line>> {
    prop::collection::vec(line(mostly), 1..=most)
}

/// One of them.
pub(crate) fn line(mostly: Option<Kind>) -> BoxedStrategy<Line> {
    let favourites = mostly.map_or(ALL, functions);
    prop_oneof![6 => call(favourites), 3 => call(ALL), 1 => messages()].boxed()
}

const ALL: &[&str] = &[
    "allgather",
    "allgatherv",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "alltoall",
    "alltoallv",
    "bcast",
    "reduce",
    "gather",
    "scatter",
];

/// MPI's functions for a kind of collective.
fn functions(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Allgather => &["allgather", "allgatherv"],
        Kind::Allreduce => &["allreduce"],
        Kind::ReduceScatter => &["reduce_scatter", "reduce_scatter_block"],
        Kind::Alltoall => &["alltoall", "alltoallv"],
        Kind::Broadcast => &["bcast"],
        Kind::Reduce => &["reduce"],
        Kind::Gather => &["gather"],
        Kind::Scatter => &["scatter"],
    }
}

/// Classes of predefined datatypes with the operations that MPI defines on them.
const NUMBERS: &[(&[&str], &[&str])] = &[
    (
        &[
            "int", "schar", "short", "long", "llong", "int8", "int16", "int32", "int64", "uchar", "ushort", "uint",
            "ulong", "ullong", "uint8", "uint16", "uint32", "uint64",
        ],
        &["sum", "max", "min", "prod", "land", "lor", "lxor", "band", "bor", "bxor"],
    ),
    (&["double", "float", "ldouble"], &["sum", "max", "min", "prod"]),
    (&["cdouble", "cfloat", "cldouble"], &["sum", "prod"]),
    (&["logical"], &["land", "lor", "lxor"]),
    (&["byte"], &["band", "bor", "bxor"]),
    (&["aint", "offset", "count"], &["sum", "max", "min", "prod", "band", "bor", "bxor"]),
    (&["two_int", "float_int", "double_int", "long_int", "short_int", "ldouble_int"], &["maxloc", "minloc"]),
];

/// Layouts, the simplest first; an `empty` type has no elements, and is not reduced.
const LAYOUTS: &[&str] = &[
    "plain",
    "contiguous",
    "vector",
    "indexed",
    "hindexed",
    "wide",
    "tight",
    "negative",
    "shifted",
    "structure",
    "subarray",
    "empty",
];

fn call(names: &'static [&'static str]) -> BoxedStrategy<Line> {
    let what = select(names).prop_flat_map(|name| {
        let types = if name.contains("reduce") { reduced() } else { moved() };
        (Just(name), types)
    });
    (what, form(), count(), communicator(), flags(), finish(), any::<u16>())
        .prop_map(|((name, types), form, count, comm, flags, finish, seed)| {
            format!("call={name} {form} {types} count={count} {comm} {flags} finish={finish} seed={seed}")
        })
        .boxed()
}

/// A datatype and an operation on it.
fn reduced() -> BoxedStrategy<String> {
    let known = select(NUMBERS).prop_flat_map(|(bases, ops)| (select(bases), select(ops)));
    let known = known.prop_map(|(base, op)| format!("type={base}:plain op={op}"));
    let own = (select(&["add", "compose"][..]), select(&LAYOUTS[..11]));
    let own = own.prop_map(|(op, layout)| format!("type=int:{layout} op={op}"));
    let matrix = select(&["vector", "indexed", "subarray"][..]);
    let matrix = matrix.prop_map(|layout| format!("type=int:{layout} op=matrix"));
    prop_oneof![3 => known, 2 => own, 1 => matrix].boxed()
}

/// A datatype on each side, with the same signature.
fn moved() -> BoxedStrategy<String> {
    let known: Vec<&str> = NUMBERS.iter().flat_map(|(bases, _)| bases.iter().copied()).collect();
    let base = prop_oneof![8 => select(known), 2 => select(&["char", "wchar", "mixed"][..])];
    let types = (base, select(LAYOUTS), select(LAYOUTS));
    types.prop_map(|(base, one, other)| format!("type={base}:{one} other={other}")).boxed()
}

fn form() -> BoxedStrategy<String> {
    let form = select(&["blocking", "nonblocking", "nonblocking", "persistent"][..]);
    (form, 1..4).prop_map(|(form, starts)| format!("form={form} starts={starts}")).boxed()
}

/// Most are short; now and then there is a long one.
fn count() -> BoxedStrategy<u32> {
    prop_oneof![10 => 0u32..8, 6 => 0u32..300, 1 => 2000u32..6000].boxed()
}

fn communicator() -> BoxedStrategy<String> {
    let simple = select(&["world", "self", "dup", "reversed", "shared", "inter"][..]).prop_map(String::from);
    let random = (select(&["split", "cart", "group"][..]), 0..3);
    let random = random.prop_map(|(kind, seed)| format!("{kind}:{seed}"));
    let comm = prop_oneof![3 => Just("world".to_owned()), 2 => simple, 2 => random];
    (comm, 0..9).prop_map(|(comm, root)| format!("comm={comm} root={root}")).boxed()
}

fn flags() -> BoxedStrategy<String> {
    let flag = |weight| prop::bool::weighted(weight).prop_map(u8::from);
    (flag(0.2), flag(0.1), flag(0.05), flag(0.3), flag(0.1))
        .prop_map(|(in_place, bottom, null, large, fresh)| {
            format!("in_place={in_place} bottom={bottom} null={null} large={large} fresh={fresh}")
        })
        .boxed()
}

fn finish() -> BoxedStrategy<&'static str> {
    let ways = &[
        "none", "none", "none", "wait", "test", "status", "waitany", "testany", "waitsome", "testsome", "waitall",
        "testall",
    ];
    select(&ways[..]).boxed()
}

fn messages() -> BoxedStrategy<Line> {
    let ways =
        &["recv", "probe", "iprobe", "mprobe", "ssend", "sendrecv", "replace", "long", "requests", "barrier", "scan"];
    (select(&ways[..]), finish(), any::<u16>())
        .prop_map(|(way, finish, seed)| format!("call=message way={way} finish={finish} seed={seed}"))
        .boxed()
}
