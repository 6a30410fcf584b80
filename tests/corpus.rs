//! The whole catalogue, at every p from 1 to 64 and with all parameters: against the checker, against a plain
//! simulation that is independent of the checker, and on threads, against the definition of the collective.
//!
//! Reductions of p blocks in about p rounds are checked up to p = 32 only: the work grows with the cube of p.

#![allow(clippy::unwrap_used)]

use roundel::algorithms::{Bruck, KBruck, Visitor, catalogue, visit_all, visit_one};
use roundel::operation::{commutative, ordered};
use roundel::threads::{self, ThreadComm};
use roundel::{
    Allgather, AllowUnproved, Allreduce, Collective, IsAllgather, IsAllreduce, IsReduceScatter, Layout, Options,
    Place, ReduceScatter, Refusal,
};
use roundel_spec::Direction;
use roundel_spec::check::arguments::least_inner;
use roundel_spec::check::{self, Point};
use roundel_spec::record::Trace;
use roundel_spec::{Action, Arguments, Placement, Schedule, syntax};
use std::collections::{HashMap, VecDeque};

const MAX_P: usize = 64;

/// Whether an algorithm of the catalogue serves p ranks, from its paper.
fn serves(name: &str, args: &Arguments, p: usize) -> bool {
    let reach = || args.lists[0].iter().map(|&ports| ports as usize + 1).product::<usize>();
    match name {
        "allreduce/cyclic-shift" | "reduce-scatter/cyclic-shift" => p <= reach(),
        "allgather/neighbor-exchange" | "reduce-scatter/neighbor-exchange" => p.is_multiple_of(2),
        "allgather/recursive-doubling" | "reduce-scatter/recursive-halving" => p.is_power_of_two(),
        _ => true,
    }
}

/// The largest p at which a collective is followed block by block.
fn largest(name: &str) -> usize {
    match name {
        "allreduce/ring" | "reduce-scatter/pairwise" | "reduce-scatter/ring" => MAX_P / 2,
        // With many lists of ports, and many lines.
        "allreduce/cyclic-shift" | "reduce-scatter/cyclic-shift" => MAX_P / 4,
        _ => MAX_P,
    }
}

fn point<C: Collective>(collective: &C, p: usize) -> Point {
    Point { placement: Placement::consecutive(p, p), args: collective.arguments() }
}

/// A collective and p, for messages.
fn label<C: Collective>(name: &str, collective: &C, p: usize) -> String {
    format!("{name} {:?} at p = {p}", collective.arguments())
}

// The checker.

/// The number of checks of each collective.
#[derive(Default)]
struct Checker {
    checked: HashMap<&'static str, usize>,
}

impl Checker {
    fn check<C: Collective>(&mut self, name: &'static str, collective: &C) {
        for p in (1..=largest(name)).filter(|&p| serves(name, &collective.arguments(), p)) {
            let point = point(collective, p);
            let trace = check::record_code(collective, &point.placement);
            let passed = check::trace(&C::schedule(), &point, &trace);
            assert!(passed.is_ok(), "{}: {}", label(name, collective, p), passed.unwrap_err());
            *self.checked.entry(name).or_default() += 1;
        }
    }
}

impl Visitor for Checker {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.check(name, collective);
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.check(name, collective);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.check(name, collective);
    }
}

#[test]
fn generated_code_passes_every_check() {
    let mut checker = Checker::default();
    visit_all(&mut checker);
    let times = |name: &str| checker.checked.get(name).copied().unwrap_or(0);
    let irregular = [("neighbor-exchange", 32), ("recursive-doubling", 7), ("k-bruck", 5 * MAX_P)]
        .map(|(n, k)| (format!("allgather/{n}"), k));
    for entry in catalogue().iter().filter(|entry| entry.name.starts_with("allgather/")) {
        let expected = irregular.iter().find(|(name, _)| name == entry.name).map_or(MAX_P, |&(_, times)| times);
        assert_eq!(times(entry.name), expected, "{}", entry.name);
    }
    for entry in
        catalogue().iter().filter(|entry| entry.name.contains("reduce") && !entry.name.starts_with("reduce/"))
    {
        let expected = match entry.name {
            "reduce-scatter/recursive-halving" => 7,
            "reduce-scatter/neighbor-exchange" => MAX_P / 2,
            name => largest(name),
        };
        assert!(times(entry.name) >= expected, "{}: {}", entry.name, times(entry.name));
    }
}

#[test]
fn bruck_with_hundreds_of_ranks() {
    let point = point(&Bruck, 512);
    let passed = check::trace(&Bruck::schedule(), &point, &check::record_code(&Bruck, &point.placement)).unwrap();
    assert_eq!(passed.census.rounds.active, 9);
}

// A plain simulation.

/// What `rank` contributes: a number that no other rank has, and that is not a rank.
fn contribution(rank: usize) -> u64 {
    1_000_003 * (rank as u64 + 1)
}

/// What `rank` contributes to a block of a reduction, mixed so that different sums of a few contributions differ.
fn part(rank: usize, block: usize) -> u64 {
    let mixed = contribution(rank).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ contribution(block + 1000);
    mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (mixed >> 29)
}

/// The memory of one rank: lines of blocks. What was never written is 0.
type Memory = Vec<Vec<u64>>;

/// Every rank with its own block.
fn before_gather(p: usize) -> Vec<Memory> {
    let own = |rank| (0..p).map(|block| if block == rank { contribution(rank) } else { 0 }).collect();
    (0..p).map(|rank| vec![own(rank)]).collect()
}

/// Every rank with its contribution to every block, on the first line.
fn before_reduction(p: usize, lines: usize, blocks: usize) -> Vec<Memory> {
    let line = |rank: usize, line: usize| (0..blocks).map(|b| if line == 0 { part(rank, b) } else { 0 }).collect();
    (0..p).map(|rank| (0..lines).map(|l| line(rank, l)).collect()).collect()
}

/// Runs the rounds with real values, as MPI would: messages between two ranks keep their order, and what a message
/// brings goes where the receiver expects it, right or wrong. Reductions are sums.
fn simulate(trace: &Trace, mut memory: Vec<Memory>) -> Vec<Memory> {
    for round in 0..trace.rounds() {
        let mut wires: HashMap<(usize, usize), VecDeque<Vec<u64>>> = HashMap::new();
        for (rank, log) in trace.ranks.iter().enumerate() {
            for message in log.directed(round, Direction::Send) {
                let payload = {
                    let line = &memory[rank][usize::from(message.site.line)];
                    log.blocks(message).iter().map(|&block| line[block as usize]).collect()
                };
                wires.entry((rank, message.peer)).or_default().push_back(payload);
            }
        }
        for (rank, log) in trace.ranks.iter().enumerate() {
            for message in log.directed(round, Direction::Recv) {
                let payload = wires.get_mut(&(message.peer, rank)).and_then(VecDeque::pop_front);
                let payload = payload.unwrap_or_else(|| panic!("rank {rank} waits forever in round {round}"));
                let blocks = log.blocks(message);
                assert_eq!(payload.len(), blocks.len(), "rank {rank}, round {round}: a message of another length");
                for (&block, value) in blocks.iter().zip(payload) {
                    let slot = (usize::from(message.site.line), block as usize);
                    let new = match message.site.action {
                        Action::Copy | Action::Replace | Action::Overwrite => value,
                        Action::CombineLeft { with } | Action::CombineRight { with } => {
                            value.wrapping_add(memory[rank][usize::from(with)][slot.1])
                        }
                    };
                    memory[rank][slot.0][slot.1] = new;
                }
            }
        }
        assert!(wires.values().all(VecDeque::is_empty), "round {round} leaves messages behind");
    }
    memory
}

struct Simulator;

impl Visitor for Simulator {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        for p in (1..=MAX_P).filter(|&p| serves(name, &collective.arguments(), p)) {
            let definition: Vec<u64> = (0..p).map(contribution).collect();
            let trace = check::record_code(collective, &Placement::consecutive(p, p));
            let memory = simulate(&trace, before_gather(p));
            let wrong = memory.iter().position(|own| own[0] != definition);
            assert_eq!(wrong, None, "{}: this rank is wrong", label(name, collective, p));
        }
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        simulate_reduction(name, collective, |_, _| true);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        simulate_reduction(name, collective, |rank, block| rank == block);
    }
}

/// Compares the blocks that a rank must end with, by the definition of the collective, with the sums.
fn simulate_reduction<C: Collective>(name: &str, collective: &C, needs: fn(usize, usize) -> bool) {
    for p in (1..=MAX_P).filter(|&p| serves(name, &collective.arguments(), p)) {
        let blocks = collective.blocks(&Place::flat(0, p as i64)) as usize;
        let trace = check::record_code(collective, &Placement::consecutive(p, p));
        let memory = simulate(&trace, before_reduction(p, C::LINES, blocks));
        for (rank, own) in memory.iter().enumerate() {
            for block in (0..blocks).filter(|&block| needs(rank, block)) {
                let sum = (0..p).fold(0u64, |sum, rank| sum.wrapping_add(part(rank, block)));
                assert_eq!(own[0][block], sum, "{}: block {block} of rank {rank}", label(name, collective, p));
            }
        }
    }
}

#[test]
fn simulated_results_are_the_definition() {
    visit_all(&mut Simulator);
}

/// The simulation must notice faults: a ring that forwards the wrong block must end with a wrong result.
#[test]
fn a_wrong_schedule_is_simulated_to_a_wrong_result() {
    let wrong: syn::DeriveInput = syn::parse_quote! {
        #[collective(allgather)]
        #[round(s in 0..p - 1)]
        #[send(to = rank + 1, blocks = [rank - s / 2])]
        #[recv(from = rank - 1, blocks = [rank - 1 - s])]
        struct Wrong;
    };
    let schedule = syntax::parse(&wrong).unwrap().schedule;
    let point = Point { placement: Placement::consecutive(4, 4), args: Arguments::default() };
    let memory = simulate(&check::record_schedule(&schedule, &point).unwrap(), before_gather(4));
    let [a, c, d] = [0, 2, 3].map(contribution);
    assert_eq!(memory[0], [[a, c, d, d]]);
}

// The domain.

struct Refuser;

impl Refuser {
    fn refuse<C: Collective>(&self, name: &str, collective: &C) {
        for p in 1..=MAX_P {
            for rank in 0..p {
                let admitted = collective.admits(&Place::flat(rank as i64, p as i64));
                let label = label(name, collective, p);
                assert_eq!(admitted.is_ok(), serves(name, &collective.arguments(), p), "{label}: {admitted:?}");
                assert!(matches!(admitted, Ok(()) | Err(Refusal::Requires { .. })), "{label}: {admitted:?}");
            }
        }
    }
}

impl Visitor for Refuser {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.refuse(name, collective);
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.refuse(name, collective);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.refuse(name, collective);
    }
}

#[test]
fn refusals_are_exactly_those_of_the_papers() {
    visit_all(&mut Refuser);
    for radix in [i64::MIN, -2, 0, 1] {
        let refusal = KBruck { radix }.admits(&Place::flat(0, 8)).unwrap_err();
        assert_eq!(refusal, Refusal::Parameter { name: "radix", domain: "2..", value: radix });
    }
}

#[test]
fn refusals_reach_the_caller() {
    use roundel::algorithms::{NeighborExchange, RecursiveDoubling};
    let errors = threads::run(3, |comm| {
        let odd = NeighborExchange.allgather(comm, &[0], &mut [0; 3]).unwrap_err();
        let three = RecursiveDoubling.allgather(comm, &[0], &mut [0; 3]).unwrap_err();
        let radix = KBruck { radix: 1 }.allgather(comm, &[0], &mut [0; 3]).unwrap_err();
        [odd, three, radix].map(|error| error.to_string())
    });
    let requires = |schedule: Schedule| format!("it requires `{}`, which is false with p = 3", schedule.requires[0]);
    for [odd, three, radix] in errors {
        assert!(odd.contains(&requires(NeighborExchange::schedule())), "{odd}");
        assert!(three.contains(&requires(RecursiveDoubling::schedule())), "{three}");
        assert!(radix.contains("parameter `radix` must lie in 2.., but is 1"), "{radix}");
    }
}

// The two readings of a declaration.

#[test]
fn schedules_are_what_their_source_says() {
    for entry in catalogue() {
        let declared = syntax::declarations(&syn::parse_file(entry.source).unwrap());
        let [declaration] = declared.as_slice() else { panic!("{} declares {}", entry.name, declared.len()) };
        assert_eq!(declaration.ident, entry.type_name);
        let parsed = syntax::parse(declaration).unwrap();
        // A declaration does not know its inner collectives.
        let mut schedule = (entry.schedule)();
        schedule.inners.iter_mut().for_each(|inner| inner.schedule = None);
        assert_eq!(parsed.schedule, schedule, "{}", entry.name);
        assert_eq!(parsed.docs.first().map(String::as_str), Some(entry.summary()), "{}", entry.name);
    }
}

#[test]
fn names_and_arguments_lead_to_the_collective() {
    struct Last(Option<(&'static str, Arguments)>);
    impl Visitor for Last {
        fn any<C: Collective + Sync>(&mut self, name: &'static str, collective: &C) {
            self.0 = Some((name, collective.arguments()));
        }
    }
    for entry in catalogue() {
        let schedule = (entry.schedule)();
        let (numbers, lists) = (vec![7; schedule.numbers.len()], vec![vec![1, 2]; schedule.lists.len()]);
        let args = Arguments { numbers, lists, inner: least_inner(&schedule) };
        let mut last = Last(None);
        assert!(visit_one(entry.name, &args, &mut last));
        assert_eq!(last.0, Some((entry.name, args.clone())));
        let too_many = Arguments { numbers: [args.numbers.clone(), vec![1]].concat(), ..args };
        assert!(!visit_one(entry.name, &too_many, &mut last), "{} takes too many parameters", entry.name);
    }
}

// Execution.

/// Elements that own heap memory instead of a few bytes.
fn block(rank: usize, length: usize) -> Vec<String> {
    (0..length).map(|k| format!("{rank}.{k}")).collect()
}

/// Blocks of different lengths, some empty, in reverse order and with gaps between them.
struct Uneven {
    counts: Vec<usize>,
    displs: Vec<usize>,
    length: usize,
}

impl Uneven {
    fn new(p: usize) -> Self {
        let counts: Vec<usize> = (0..p).map(|rank| [2, 0, 3, 1, 0][rank % 5]).collect();
        let mut displs = vec![0; p];
        let mut end = 1;
        for rank in (0..p).rev() {
            displs[rank] = end;
            end += counts[rank] + rank % 2;
        }
        Uneven { counts, displs, length: end + 1 }
    }

    /// The definition: every block at its displacement, and nothing else changed.
    fn expected(&self) -> Vec<String> {
        let mut all = vec!["gap".to_string(); self.length];
        for (rank, (&count, &displ)) in self.counts.iter().zip(&self.displs).enumerate() {
            all[displ..displ + count].clone_from_slice(&block(rank, count));
        }
        all
    }
}

fn run_evenly<C: IsAllgather>(collective: &C, comm: &ThreadComm, options: Options) {
    let p = comm.size();
    let expected: Vec<String> = (0..p).flat_map(|rank| block(rank, 2)).collect();
    let mut all = vec![String::new(); 2 * p];
    collective.allgather_with(comm, &block(comm.rank(), 2), &mut all, options).unwrap();
    assert_eq!(all, expected);
}

fn run_unevenly<C: IsAllgather>(collective: &C, comm: &ThreadComm, options: Options) {
    let shape = Uneven::new(comm.size());
    let mine = block(comm.rank(), shape.counts[comm.rank()]);
    let mut all = vec!["gap".to_string(); shape.length];
    collective.allgatherv_with(comm, &mine, &mut all, &shape.counts, &shape.displs, options).unwrap();
    assert_eq!(all, shape.expected());
}

/// Every number of ranks up to 32, and some beyond, because p threads compare p blocks each; with `ROUNDEL_ALL=1` all.
fn ran_with(largest: usize) -> impl Iterator<Item = usize> {
    let everything = std::env::var_os("ROUNDEL_ALL").is_some_and(|value| value == "1");
    (1..=largest).filter(move |&p| everything || p <= 32 || p % 5 == 4 || p == largest - 1 || p == largest)
}

struct Runner;

impl Visitor for Runner {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let args = collective.arguments();
        for p in ran_with(MAX_P).filter(|&p| serves(name, &collective.arguments(), p)) {
            threads::run(p, |comm| {
                // A collective is shared between threads only if its type allows it; its arguments always are. All
                // calls must work, whether they are proved or not.
                let collective = C::from_arguments(&args).unwrap().unproved();
                let rotates = collective.rotation(&Place::flat(0, 1)).is_some();
                let layouts = [Layout::Declared, Layout::InPlace, Layout::Rotated];
                for layout in layouts.into_iter().filter(|&layout| rotates || layout != Layout::Rotated) {
                    let options = Options { layout, ..Options::default() };
                    run_evenly(&collective, comm, options);
                    run_unevenly(&collective, comm, options);
                }
            });
        }
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        let args = collective.arguments();
        for p in ran_with(largest(name)).filter(|&p| serves(name, &collective.arguments(), p)) {
            threads::run(p, |comm| {
                let collective = C::from_arguments(&args).unwrap().unproved();
                let (send, mut recv) = (words(comm.rank(), p + 3), words(p, p + 3));
                if C::ORDER.rank_order {
                    collective.allreduce(comm, &send, &mut recv, &ordered(append)).unwrap();
                    assert_eq!(recv, all_words(p, 0..p + 3), "{name}");
                }
                collective.allreduce(comm, &send, &mut recv, &commutative(append)).unwrap();
                assert_eq!(sorted(&recv), sorted(&all_words(p, 0..p + 3)), "{name}");
            });
        }
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        let args = collective.arguments();
        for p in ran_with(largest(name)).filter(|&p| serves(name, &collective.arguments(), p)) {
            let Uneven { counts, .. } = Uneven::new(p);
            threads::run(p, |comm| {
                let collective = C::from_arguments(&args).unwrap().unproved();
                let (rank, begin) = (comm.rank(), counts[..comm.rank()].iter().sum::<usize>());
                let send = words(rank, counts.iter().sum());
                let mut recv = words(p, counts[rank]);
                collective.reduce_scatter(comm, &send, &mut recv, &counts, &commutative(append)).unwrap();
                let expected = all_words(p, begin..begin + counts[rank]);
                assert_eq!(sorted(&recv), sorted(&expected), "{name}");
            });
        }
    }
}

/// Lists of words with concatenation: the result shows what was reduced, and in which order.
fn words(rank: usize, elements: usize) -> Vec<Vec<String>> {
    (0..elements).map(|i| vec![format!("{rank}.{i}")]).collect()
}

// Operations see elements, and here an element is a list.
#[allow(clippy::ptr_arg)]
fn append(left: &Vec<String>, right: &Vec<String>) -> Vec<String> {
    [left.as_slice(), right].concat()
}

/// The definition: every rank's word, in the order of ranks.
fn all_words(p: usize, elements: std::ops::Range<usize>) -> Vec<Vec<String>> {
    elements.map(|i| (0..p).map(|rank| format!("{rank}.{i}")).collect()).collect()
}

fn sorted(words: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut words = words.to_vec();
    words.iter_mut().for_each(|list| list.sort_unstable());
    words
}

#[test]
fn results_on_threads_are_the_definition() {
    visit_all(&mut Runner);
}
