//! Blocks of any lengths: results compared with those of MPI_Alltoallv.

use crate::data::{Guarded, Record, Sample};
use crate::job::Job;
use crate::shuffles::{Bruck, Visit, visit_all};
use mpi::Count;
use mpi::datatype::{Partition, PartitionMut};
use mpi::traits::*;
use roundel::{Alltoall, Error, IsAlltoall};

/// All types and sizes.
pub(crate) fn all_sizes(job: &mut Job<'_>) {
    compare::<i32>(job, 4, Lengths::Random);
    compare::<i32>(job, 0, Lengths::Random);
    compare::<Record>(job, 3, Lengths::Random);
    compare::<u8>(job, 2000, Lengths::Random);
    if job.p() <= 8 {
        compare::<f64>(job, 9000, Lengths::Random);
    }
    compare::<u64>(job, 5, Lengths::OneRank);
}

/// Messages in several pieces, with a lowered limit so that they need not be long.
pub(crate) fn in_pieces(job: &mut Job<'_>) {
    for limit in [1, 5] {
        let cut = roundel::mpi::cut_messages(job.world, limit);
        job.expect(cut == Ok(()), || format!("{cut:?}"));
        compare::<i32>(job, 4, Lengths::Random);
    }
    let whole = roundel::mpi::cut_messages(job.world, usize::MAX);
    job.expect(whole == Ok(()), || format!("{whole:?}"));
}

fn compare<T: Sample>(job: &mut Job<'_>, n: usize, lengths: Lengths) {
    let p = job.p();
    let exchanges = [0, 1].map(|turn| Exchange::<T>::new(job, n, lengths, turn, false));
    let symmetric = [0, 1].map(|turn| Exchange::<T>::new(job, n, lengths, turn, true));
    visit_all(p, &mut Comparison { job, exchanges, symmetric });
}

/// The lengths of blocks.
#[derive(Clone, Copy)]
enum Lengths {
    /// Anything up to a limit, and often 0.
    Random,
    /// Only one rank has anything to send.
    OneRank,
}

impl Lengths {
    /// The length of the block from `s` to `d`. The second turn has at most as many elements as the first.
    fn of(self, n: usize, s: usize, d: usize, turn: usize) -> usize {
        let seed = (s as u64 * 1_000_003 + d as u64 * 7919 + 12345).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let random = match seed % 3 {
            0 => 0,
            _ => seed as usize / 3 % (n + 1),
        };
        match self {
            Lengths::Random => random.saturating_sub(turn * (s % 2)),
            Lengths::OneRank => {
                if s == 0 {
                    n
                } else {
                    0
                }
            }
        }
    }
}

/// A call, and the result of MPI's own function.
struct Exchange<T> {
    send: Vec<T>,
    sent: (Vec<usize>, Vec<usize>),
    received: (Vec<usize>, Vec<usize>),
    /// The receive buffer before and after.
    before: Vec<T>,
    result: Vec<T>,
    name: String,
}

impl<T: Sample> Exchange<T> {
    fn new(job: &Job<'_>, n: usize, lengths: Lengths, turn: usize, symmetric: bool) -> Self {
        let (rank, p) = (job.rank(), job.p());
        let length = |s: usize, d: usize| match symmetric {
            true => lengths.of(n, s.min(d), s.max(d), turn),
            false => lengths.of(n, s, d, turn),
        };
        let sent = placed((0..p).map(|d| length(rank, d)).collect(), false);
        let received = placed((0..p).map(|s| length(s, rank)).collect(), !symmetric && n.is_multiple_of(2));
        let (send_len, recv_len) = (end(&sent), end(&received));
        let send: Vec<T> =
            (0..send_len).map(|i| T::sample(((rank + 1) as u64) << 32 | (i * 3 + turn) as u64)).collect();
        let before: Vec<T> = if symmetric { send.clone() } else { Guarded::new(recv_len).inside().to_vec() };
        let mut result = before.clone();
        let counts = |list: &[usize]| list.iter().map(|&n| n as Count).collect::<Vec<_>>();
        let from = Partition::new(&send[..], counts(&sent.0), counts(&sent.1));
        let mut to = PartitionMut::new(&mut result[..], counts(&received.0), counts(&received.1));
        job.world.all_to_all_varcount_into(&from, &mut to);
        let name = format!("up to {n} {}", T::NAME);
        Exchange { send, sent, received, before, result, name }
    }
}

/// Displacements with gaps, in the order of ranks or in the reverse order.
fn placed(counts: Vec<usize>, reverse: bool) -> (Vec<usize>, Vec<usize>) {
    let mut displs = vec![0; counts.len()];
    let mut end = 0;
    for i in 0..counts.len() {
        let b = if reverse { counts.len() - 1 - i } else { i };
        // Some blocks are adjacent.
        displs[b] = end + b / 2 % 2;
        end = displs[b] + counts[b];
    }
    (counts, displs)
}

/// The length of the buffer, never 0: an empty one has an address that Open MPI takes for MPI_IN_PLACE.
fn end((counts, displs): &(Vec<usize>, Vec<usize>)) -> usize {
    counts.iter().zip(displs).map(|(count, displ)| count + displ).max().unwrap_or(0) + 1
}

/// Runs calls with every collective.
struct Comparison<'a, 'job, T> {
    job: &'a mut Job<'job>,
    exchanges: [Exchange<T>; 2],
    symmetric: [Exchange<T>; 2],
}

/// A collective that makes a call, from one buffer to another. Only this is compiled for every collective.
type Made<'f, T> = &'f dyn Fn(&Exchange<T>, &[T], &mut [T]) -> Result<(), Error>;

/// The same call twice, then one with smaller counts.
fn thrice<T: Sample>(job: &mut Job<'_>, exchanges: &[Exchange<T>; 2], what: &str, made: Made<'_, T>) {
    for (turn, i) in [(0, 0), (1, 0), (2, 1)] {
        let exchange = &exchanges[i];
        let Exchange { send, before, result, name: size, .. } = exchange;
        let what = format!("{size}, {what}, turn {turn}");
        let (mut room, mut send) = (Guarded::new(before.len()), send.clone());
        room.inside().clone_from_slice(before);
        let recv = room.inside();
        job.call(turn == 0, &what, &mut || made(exchange, &send, recv));
        // Catches a late read by MPI.
        send.fill(T::sample(999));
        if let Some(difference) = room.difference(result) {
            job.fail(&format!("{what}: {difference}"));
        }
    }
}

impl<T: Sample> Visit for Comparison<'_, '_, T> {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let world = self.job.world;
        let options = self.job.alltoall_options(&collective)[0];
        thrice(self.job, &self.exchanges, &format!("{name}, {options:?}"), &|exchange, send, recv| {
            let (sent, (counts, displs)) = (&exchange.sent, &exchange.received);
            collective.alltoallv_with(world, send, &sent.0, &sent.1, recv, counts, displs, options)
        });
        thrice(self.job, &self.symmetric, &format!("{name} in place"), &|exchange, _, data| {
            let (counts, displs) = &exchange.sent;
            collective.alltoallv_in_place(world, data, counts, displs)
        });
    }
}

/// The lengths are messages, too.
pub(crate) fn lengths_are_recorded(job: &mut Job<'_>) {
    let (p, world) = (job.p(), job.world);
    let (mut data, counts, displs) = (vec![1u32; p], vec![1; p], (0..p).collect::<Vec<_>>());
    let bruck = Bruck::<false>::plain(2);
    let call = || bruck.alltoallv_in_place(world, &mut data, &counts, &displs);
    let Ok((outcome, record)) = roundel::mpi::trace(world, call) else { job.fail("nothing is recorded") };
    // A round of one block sends it straight to its destination.
    let blocks = |bit: usize| (0..p).filter(|j| j >> bit & 1 == 1).count();
    let messages: usize = (0..).map(blocks).take_while(|&blocks| blocks > 0).map(|blocks| blocks.min(2)).sum();
    let right = outcome == Ok(()) && record.sent.len() == messages && record.received.len() == messages;
    job.expect(right, || format!("{outcome:?}, {:?}", record.sent));
    job.calls += 1;
}
