//! Results, compared with MPI's own.

use crate::job::{Job, everything_is_requested};
use crate::matrix::{Matrix, product};
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::Error;
use roundel::mpi::persistent::{self, Allgatherv, Allreduce, Broadcast, Reduce, ReduceScatter, Request, Settings};
use roundel::mpi::place;
use roundel::operation::{Max, Operation, Sum};
use roundel::plan::ports::Ports;
use roundel::program::build::Scheme;

/// Calls of one request: enough for buffers that alternate to be used again.
const TURNS: usize = 4;

/// Placements of p ranks: all together, in pairs, cyclic, with a large first node, each alone.
fn placements(p: usize) -> Vec<(&'static str, Vec<usize>)> {
    let all = [
        ("one node", vec![0; p]),
        ("nodes of two", (0..p).map(|rank| rank / 2).collect()),
        ("cyclic", (0..p).map(|rank| rank % p.div_ceil(3)).collect()),
        ("uneven", (0..p).map(|rank| rank.saturating_sub(p / 2)).collect()),
        ("alone", (0..p).collect()),
    ];
    all.into_iter().filter(|(name, _)| p > 1 || *name == "one node").collect()
}

/// Every kind on every placement.
pub(crate) fn on_all_placements(job: &mut Job<'_>) {
    for (name, nodes) in placements(job.p()) {
        let comm = job.world.duplicate();
        job.good(name, place(&comm, &[nodes[job.rank()]]));
        let count = nodes.iter().max().map_or(1, |last| last + 1);
        for settings in settings(count) {
            everything(job, &comm, name, &settings);
        }
    }
}

/// Every kind on the placement that MPI reports.
pub(crate) fn everywhere(job: &mut Job<'_>, comm: &SimpleCommunicator) {
    everything(job, comm, "as MPI says", &Settings::default());
    for scheme in [Scheme::Copies, Scheme::Chunks, Scheme::Direct] {
        for lanes in [1, 2, 100] {
            everything(job, comm, "as MPI says", &Settings::default().scheme(scheme).lanes(lanes));
        }
    }
    everything(job, comm, "flat", &Settings::default().flat());
}

/// Between three nodes, the ports of the environment are used unless the program sets others.
pub(crate) fn ruled(job: &mut Job<'_>) {
    let comm = job.world.duplicate();
    job.good("ruled", place(&comm, &[job.rank() % 3]));
    let described = |settings: &Settings| {
        let request = job.good("ruled", Allreduce::init_with(&comm, vec![0; 5], vec![0; 5], Sum, settings));
        request.description().to_string()
    };
    let given: Ports = "3(2)".parse().unwrap_or_else(|error| job.fail(&format!("{error}")));
    for (settings, ports) in [
        (Settings::default(), "3(-1 -1) 3(1 1), "),
        (Settings::default().lanes(2), "3(-1 -1) 3(1 1), 2 of"),
        (Settings::default().ports(given), "3(2), "),
    ] {
        let found = described(&settings);
        job.expect(found.starts_with(ports), || format!("{found}, and not {ports}"));
    }
    let gathers = job.good("ruled", Allgatherv::init(&comm, vec![0; 2], vec![0; 2 * job.p()], &vec![2; job.p()]));
    let found = gathers.description().to_string();
    job.expect(!found.contains("(-"), || format!("{found}, though nothing is said about it"));
    drop(gathers);
    everything(job, &comm, "ruled", &Settings::default());
}

/// Settings of a call: none; or each of them, one at a time.
fn settings(nodes: usize) -> Vec<Settings> {
    let mut all = vec![Settings::default()];
    for (i, scheme) in [Scheme::Copies, Scheme::Chunks, Scheme::Direct].into_iter().enumerate() {
        all.push(Settings::default().scheme(scheme).lanes(i + 1));
    }
    if nodes > 1 {
        all.push(Settings::default().flat());
    }
    all
}

fn everything(job: &mut Job<'_>, comm: &SimpleCommunicator, place: &str, settings: &Settings) {
    // A replay looks at every byte.
    let short = std::env::var_os("ROUNDEL_VALIDATE").is_some() && !everything_is_requested();
    let (long, wide) = if short { (2000, 200) } else { (40_000, 3000) };
    for n in [0, 1, 5, 1000, long] {
        allreduce(job, comm, place, n, settings);
    }
    let p = job.p();
    let rooted: Vec<usize> = (0..p).map(|rank| if rank == p / 2 { 700 } else { 0 }).collect();
    let uneven: Vec<usize> = (0..p).map(|rank| (rank * 37) % 23).collect();
    for counts in [vec![1; p], uneven, rooted, vec![0; p], vec![wide; p]] {
        allgatherv(job, comm, place, &counts, settings);
        reduce_scatter(job, comm, place, &counts, settings);
    }
    for root in [0, p - 1] {
        rooted_calls(job, comm, place, root);
    }
}

fn allreduce(job: &mut Job<'_>, comm: &SimpleCommunicator, place: &str, n: usize, settings: &Settings) {
    let what = format!("allreduce of {n}, {place}, {settings:?}");
    let made = Allreduce::init_with(comm, vec![0; n], vec![0; n], Sum, settings);
    let mut request = job.good(&what, made);
    let mut highest = job.good(&what, Allreduce::init_with(comm, vec![0.0; n], vec![0.0; n], Max, settings));
    for turn in 0..TURNS {
        let send = job.samples(n, turn);
        let mut expected = vec![0i64; n];
        if n > 0 {
            job.world.all_reduce_into(&send[..], &mut expected[..], SystemOperation::sum());
        }
        once(job, &what, &mut request, &send, &expected);
        // Negative numbers, so that a stray zero would change the maximum.
        let negative: Vec<f64> = send.iter().map(|&x| x as f64 - 1e6).collect();
        let mut expected = vec![0f64; n];
        if n > 0 {
            job.world.all_reduce_into(&negative[..], &mut expected[..], SystemOperation::max());
        }
        job.good(&what, highest.input_mut()).copy_from_slice(&negative);
        job.good(&what, highest.start());
        while !job.good(&what, highest.test()) {
            std::thread::yield_now();
        }
        job.expect(job.good(&what, highest.output()) == expected, || format!("{what}, turn {turn}: a wrong maximum"));
        job.calls += 1;
    }
}

fn allgatherv(job: &mut Job<'_>, comm: &SimpleCommunicator, place: &str, counts: &[usize], settings: &Settings) {
    let what = format!("allgatherv of {counts:?}, {place}, {settings:?}");
    let (own, all): (usize, usize) = (counts[job.rank()], counts.iter().sum());
    let mut request = job.good(&what, Allgatherv::init_with(comm, vec![0; own], vec![0; all], counts, settings));
    let ints: Vec<i32> = counts.iter().map(|&count| count as i32).collect();
    let displs: Vec<i32> = ints.iter().scan(0, |at, &count| Some(std::mem::replace(at, *at + count))).collect();
    for turn in 0..TURNS {
        let send = job.samples(own, turn);
        let mut expected = vec![0i64; all];
        let mut into = PartitionMut::new(&mut expected[..], &ints[..], &displs[..]);
        job.world.all_gather_varcount_into(&send[..], &mut into);
        once(job, &what, &mut request, &send, &expected);
    }
}

fn reduce_scatter(job: &mut Job<'_>, comm: &SimpleCommunicator, place: &str, counts: &[usize], settings: &Settings) {
    let what = format!("reduce_scatter of {counts:?}, {place}, {settings:?}");
    let (own, all): (usize, usize) = (counts[job.rank()], counts.iter().sum());
    let made = ReduceScatter::init_with(comm, vec![0; all], vec![0; own], counts, Sum, settings);
    let mut request = job.good(&what, made);
    let begin: usize = counts[..job.rank()].iter().sum();
    for turn in 0..TURNS {
        let send = job.samples(all, turn);
        let mut sums = vec![0i64; all];
        if all > 0 {
            job.world.all_reduce_into(&send[..], &mut sums[..], SystemOperation::sum());
        }
        once(job, &what, &mut request, &send, &sums[begin..begin + own]);
    }
}

/// One call. The input may be used again at once, and the output is what is expected.
fn once<O: Operation<i64> + 'static>(
    job: &mut Job<'_>,
    what: &str,
    request: &mut Request<'_, i64, O>,
    send: &[i64],
    expected: &[i64],
) {
    job.good(what, request.input_mut()).copy_from_slice(send);
    job.good(what, request.start());
    job.good(what, request.wait());
    job.good(what, request.input_mut()).fill(-1);
    let right = job.good(what, request.output()) == expected;
    job.expect(right, || format!("{what} ({}): wrong", request.description()));
    job.calls += 1;
}

fn rooted_calls(job: &mut Job<'_>, comm: &SimpleCommunicator, place: &str, root: usize) {
    let what = format!("root {root}, {place}");
    let n = 77;
    let own = if job.rank() == root { n } else { 0 };
    let mut broadcast = job.good(&what, Broadcast::init(comm, vec![0; own], vec![0; n], root));
    let mut reduce = job.good(&what, Reduce::init(comm, vec![0; n], vec![0; own], root, Sum));
    for turn in 0..TURNS {
        let send = job.samples(n, turn);
        let (mut data, mut sums) = (send.clone(), vec![0i64; n]);
        job.world.process_at_rank(root as i32).broadcast_into(&mut data[..]);
        job.world.all_reduce_into(&send[..], &mut sums[..], SystemOperation::sum());
        job.good(&what, broadcast.input_mut()).copy_from_slice(&send[..own]);
        job.good(&what, reduce.input_mut()).copy_from_slice(&send);
        job.good(&what, broadcast.start());
        job.good(&what, reduce.start());
        job.good(&what, reduce.wait());
        job.good(&what, broadcast.wait());
        job.expect(job.good(&what, broadcast.output()) == data, || format!("{what}: a wrong broadcast"));
        job.expect(job.good(&what, reduce.output()) == &sums[..own], || format!("{what}: a wrong reduction"));
        job.calls += 2;
    }
}

/// An operation that does not commute: in the order of ranks, or not at all.
pub(crate) fn in_order(job: &mut Job<'_>) {
    for (name, nodes) in placements(job.p()) {
        let comm = job.world.duplicate();
        job.good(name, place(&comm, &[nodes[job.rank()]]));
        for n in [1, 4, 3000] {
            let input: Vec<Matrix> = (0..n).map(|i| Matrix::sample(job.rank(), i)).collect();
            let at = |i| (1..job.p()).fold(Matrix::sample(0, i), |left, rank| left.times(&Matrix::sample(rank, i)));
            let expected: Vec<Matrix> = (0..n).map(at).collect();
            let made = Allreduce::init(&comm, input.clone(), input, product());
            if !nodes.is_sorted() {
                job.expect(matches!(made, Err(Error::NeedsOrder { .. })), || format!("{name}: no order to keep"));
                continue;
            }
            let mut request = job.good(name, made);
            for _ in 0..TURNS {
                job.good(name, request.start());
                job.good(name, request.wait());
                job.expect(job.good(name, request.output()) == expected, || {
                    format!("{n} elements in order, {name} ({}): wrong", request.description())
                });
                job.calls += 1;
            }
        }
    }
}

/// Sums of floating-point numbers of very different sizes: the same bits on all ranks, in every run.
pub(crate) fn reproducible(job: &mut Job<'_>) {
    for (name, nodes) in placements(job.p()) {
        let comm = job.world.duplicate();
        job.good(name, place(&comm, &[nodes[job.rank()]]));
        for n in [1, 100, 20_000] {
            let input: Vec<f64> = job.samples(n, 1).iter().map(|&x| (x as f64).exp2() / 3.0).collect();
            let settings = Settings::default().reproducible();
            let mut first: Option<Vec<u64>> = None;
            for _ in 0..2 {
                let made = Allreduce::init_with(&comm, input.clone(), vec![0.0; n], Sum, &settings);
                let mut request = job.good(name, made);
                for _ in 0..2 {
                    job.good(name, request.start());
                    job.good(name, request.wait());
                    let bits: Vec<u64> = job.good(name, request.output()).iter().map(|x| x.to_bits()).collect();
                    let (mut least, mut most) = (vec![0u64; n], vec![0u64; n]);
                    job.world.all_reduce_into(&bits[..], &mut least[..], SystemOperation::min());
                    job.world.all_reduce_into(&bits[..], &mut most[..], SystemOperation::max());
                    job.expect(least == most, || format!("{name}, {n}: ranks differ ({})", request.description()));
                    job.expect(first.get_or_insert_with(|| bits.clone()) == &bits, || format!("{name}: runs differ"));
                    job.calls += 1;
                }
            }
        }
    }
    if job.p() == 3 {
        prefixes_are_refused(job, Settings::default().reproducible());
    }
}

/// If the settings or ROUNDEL_REPRODUCIBLE ask for reproducible results, a plan that does not reduce the same tree
/// everywhere is refused. Three nodes in two rounds with prefixes do not.
pub(crate) fn prefixes_are_refused(job: &Job<'_>, settings: Settings) {
    let comm = job.world.duplicate();
    job.good("apart", place(&comm, &[job.rank()]));
    let ports: Ports = "3(1 1)".parse().unwrap_or_else(|error| job.fail(&format!("3(1 1): {error}")));
    let outcome = Allreduce::init_with(&comm, vec![1.0], vec![0.0], Sum, &settings.ports(ports));
    job.expect(outcome.is_err(), || "prefixes are not the same tree".into());
}

/// Borrowed buffers, several requests at a time, one of them leaked while it runs.
pub(crate) fn scoped(job: &mut Job<'_>) {
    let (mut ours, mut total, mut sums) = (job.samples(50, 0), vec![0; 50], vec![0; 50]);
    let mut again = ours.clone();
    let mut expected = vec![0i64; 50];
    job.world.all_reduce_into(&ours[..], &mut expected[..], SystemOperation::sum());
    persistent::scope(|scope| {
        let mut one = job.good("scope", scope.allreduce(job.world, &mut ours, &mut total, Sum));
        let mut other = job.good("scope", scope.allreduce(job.world, &mut again, &mut sums, Sum));
        job.good("scope", one.start());
        job.good("scope", other.start());
        job.good("scope", one.wait());
        std::mem::forget(other);
    });
    job.expect(total == expected && sums == expected, || "a scope that ended too early".into());
    job.calls += 2;
}

/// More elements than 32 bits can count, on one node.
pub(crate) fn large(job: &mut Job<'_>) {
    let own = (1usize << 31) / job.p() + 16;
    let (counts, all) = (vec![own; job.p()], own * job.p());
    let mine = job.rank() as u8 + 1;
    let mut request = job.good("large", Allgatherv::init(job.world, vec![mine; own], vec![0; all], &counts));
    for _ in 0..2 {
        job.good("large", request.start());
        job.good("large", request.wait());
        let output = job.good("large", request.output());
        let right = output.chunks(own).enumerate().all(|(rank, block)| block.iter().all(|&x| x == rank as u8 + 1));
        job.expect(right, || "more than 2^31 elements: wrong".into());
        job.calls += 1;
    }
}
