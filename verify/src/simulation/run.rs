//! The clock of every rank, round by round.
//!
//! A rank begins a round when it has ended the one before; nothing else synchronises ranks. So the state is one clock
//! per rank, and a round needs its own messages only.

use super::align::{PART, part};
use super::machine::SimulatedMachine;
use super::network::{LinkLoad, NetworkLevels};
use super::turns::{Followed, SentMessage};
use super::window::RoundWindow;
use crate::proving::sweep;
use roundel::clock::{Clock, LogGps, RankClock, RoundCost, Wire};
use roundel::profile::Profile;
use roundel_spec::Placement;

/// What a round costs, over all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTime {
    /// Its number, also counting silent rounds.
    pub number: usize,
    /// When the first rank has ended it.
    pub first: f64,
    /// When all ranks have ended it.
    pub last: f64,
    /// The messages and bytes of each level.
    pub traffic: Vec<Traffic>,
}

/// Messages, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: f64,
}

/// A message that is about to arrive.
#[derive(Clone, Copy, Debug, Default)]
struct Arrival {
    time: f64,
    bytes: f64,
    byte_gap: f64,
    from: u32,
    /// How much larger the number of the receiver is.
    distance: u32,
    level: u8,
    /// Whether the receiver itself was late.
    own_fault: bool,
}

/// All ranks.
pub struct RankClocks<'a> {
    machine: &'a SimulatedMachine,
    network: &'a NetworkLevels<'a>,
    placement: &'a Placement,
    ranks: Followed,
    clocks: Vec<RankClock>,
    /// When each rank has begun the round.
    begins: Vec<f64>,
    /// For each rank, where its arrivals end.
    ends: Vec<u32>,
    arrivals: Vec<Arrival>,
    load: LinkLoad,
    /// How many ranks of each node send to other nodes.
    lanes: Vec<u32>,
    /// For each rank, since when its waiting data has left, and the distance to a receiver it waited for.
    left: Vec<(f64, u32)>,
    /// For each round and rank: the distance from the rank that it waited for, or 0.
    waited: Option<Vec<u32>>,
}

/// The largest number of clocks whose waits are kept for the critical path.
const KEPT: usize = 1 << 27;

impl<'a> RankClocks<'a> {
    /// All ranks at time 0.
    pub fn new(
        machine: &'a SimulatedMachine,
        network: &'a NetworkLevels<'a>,
        placement: &'a Placement,
        ranks: Followed,
        rounds: usize,
    ) -> Self {
        let n = ranks.followed;
        RankClocks {
            machine,
            network,
            placement,
            ranks,
            clocks: vec![RankClock::default(); n],
            begins: vec![0.0; n],
            ends: vec![0; n + 1],
            arrivals: Vec::new(),
            load: network.no_load(if network.has_links() { n } else { 0 }),
            lanes: vec![0; 1 + (0..n).map(|rank| placement.node(rank)).max().unwrap_or(0)],
            left: vec![(0.0, 0); n],
            waited: (rounds.saturating_mul(n) <= KEPT).then(Vec::new),
        }
    }

    /// One round with messages of all ranks.
    pub fn round(&mut self, window: &RoundWindow, number: usize) -> RoundTime {
        let n = self.ranks.followed;
        self.begins.iter_mut().zip(&self.clocks).for_each(|(begin, clock)| *begin = clock.processor);
        let before = self.waited.as_mut().map(|waited| {
            waited.resize(waited.len() + n, 0);
            waited.len() - n
        });
        let traffic = self.sort(window, number);
        match self.machine {
            SimulatedMachine::Profile(profile) => self.by_rounds(profile, window, number, before),
            SimulatedMachine::Messages { numbers, .. } => self.by_messages(numbers, window, number, before),
        }
        let ends = self.clocks.iter().map(|clock| clock.processor);
        let (first, last) = ends.fold((f64::INFINITY, 0.0f64), |(low, high), end| (low.min(end), high.max(end)));
        RoundTime { number, first, last, traffic }
    }

    /// Makes room for the arrivals of each rank, and counts what is sent.
    fn sort(&mut self, window: &RoundWindow, number: usize) -> Vec<Traffic> {
        let mut traffic = vec![Traffic::default(); self.network.depth()];
        self.ends.fill(0);
        self.load.clear();
        let links = self.network.has_links();
        for rank in 0..self.ranks.followed {
            for sent in window.turn(rank, number).0 {
                self.ends[sent.to as usize + 1] += 1;
                let level = &mut traffic[usize::from(sent.level())];
                level.messages += 1;
                level.bytes += sent.bytes(self.ranks.block);
                if links {
                    self.network.load(&mut self.load, rank, sent.to as usize, sent.level());
                }
            }
        }
        for rank in 0..self.ranks.followed {
            self.ends[rank + 1] += self.ends[rank];
        }
        self.arrivals.clear();
        self.arrivals.resize(self.ends[self.ranks.followed] as usize, Arrival::default());
        // Each of the followed ranks stands for as many.
        let times = (self.ranks.p / self.ranks.followed) as u64;
        for level in &mut traffic {
            level.messages *= times;
            level.bytes *= times as f64;
        }
        traffic
    }

    /// Puts a message among the arrivals of its receiver. Afterwards, `ends[r]` is where the arrivals of r end.
    fn deliver(&mut self, sent: &SentMessage, arrival: Arrival) {
        let place = &mut self.ends[sent.to as usize];
        self.arrivals[*place as usize] = arrival;
        *place += 1;
    }

    fn arriving(&self, from: usize, sent: &SentMessage, time: f64, wire: Wire, own_fault: bool) -> Arrival {
        let (bytes, distance, level) = (sent.bytes(self.ranks.block), sent.distance, sent.level());
        Arrival { time, bytes, byte_gap: wire.byte_gap, from: from as u32, distance, level, own_fault }
    }

    /// The arrivals of a rank, after all have been delivered.
    fn arrivals_of(&self, rank: usize) -> std::ops::Range<usize> {
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[rank] as usize
    }

    fn by_messages(&mut self, machine: &LogGps, window: &RoundWindow, number: usize, before: Option<usize>) {
        for rank in 0..self.ranks.followed {
            self.left[rank] = (0.0, 0);
            self.send_all(machine, window.turn(rank, number).0, rank);
        }
        for rank in 0..self.ranks.followed {
            let range = self.arrivals_of(rank);
            let arrivals = &mut self.arrivals[range];
            // Messages of equal time and length have the same effect, so that ranks that are alike stay alike.
            arrivals.sort_unstable_by(|a, b| a.time.total_cmp(&b.time).then(a.bytes.total_cmp(&b.bytes)));
            let (mut waited, clock) = (0, &mut self.clocks[rank]);
            for arrival in arrivals.iter() {
                let wire = Wire { latency: 0.0, byte_gap: arrival.byte_gap };
                if machine.receive(clock, arrival.bytes, wire, arrival.time) {
                    waited = if arrival.own_fault { 0 } else { arrival.distance };
                }
            }
            let (left, awaited) = self.left[rank];
            if left > clock.processor {
                (clock.processor, waited) = (left, awaited);
            }
            self.note(before, rank, waited);
        }
    }

    /// A rank takes up all that it sends; then the data leaves that has waited for its receivers.
    fn send_all(&mut self, machine: &LogGps, sends: &[SentMessage], rank: usize) {
        let mut clock = self.clocks[rank];
        let mut waiting: Vec<(f64, bool, &SentMessage)> = Vec::new();
        for sent in sends {
            let wire = self.network.wire(machine, &self.load, rank, sent.to as usize, sent.level());
            let departure =
                machine.send(&mut clock, sent.bytes(self.ranks.block), wire, self.begins[sent.to as usize]);
            match departure.ready {
                Some(ready) => waiting.push((ready, departure.awaits_receiver, sent)),
                None => self.deliver(sent, self.arriving(rank, sent, departure.arrival, wire, false)),
            }
        }
        waiting.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (ready, awaits_receiver, sent) in waiting {
            let wire = self.network.wire(machine, &self.load, rank, sent.to as usize, sent.level());
            let (left, arrival) = machine.release(&mut clock, sent.bytes(self.ranks.block), wire, ready);
            // The receiver's number is larger by the distance, so this rank's is larger by what is left of p.
            let behind = (self.ranks.p as u32 - sent.distance) % self.ranks.p as u32;
            self.left[rank] = (left, if awaits_receiver { behind } else { 0 });
            self.deliver(sent, self.arriving(rank, sent, arrival, wire, awaits_receiver));
        }
        self.clocks[rank] = clock;
    }

    /// By the times of rounds: a rank begins when those it receives from have begun, too.
    fn by_rounds(&mut self, profile: &Profile, window: &RoundWindow, number: usize, before: Option<usize>) {
        self.lanes.fill(0);
        for rank in 0..self.ranks.followed {
            let (sends, _) = window.turn(rank, number);
            self.lanes[self.placement.node(rank)] += u32::from(sends.iter().any(|sent| sent.level() > 0));
            let wire = Wire { latency: 0.0, byte_gap: 0.0 };
            sends.iter().for_each(|sent| self.deliver(sent, self.arriving(rank, sent, 0.0, wire, false)));
        }
        let followed = self.ranks.followed;
        let turns = sweep::parallel(followed.div_ceil(PART), |n| {
            let mut prices = Prices::new(profile);
            part(n, followed).map(|rank| self.turn(&mut prices, window, number, rank)).collect::<Vec<_>>()
        });
        for (rank, turn) in turns.into_iter().flatten().enumerate() {
            if let Some((end, waited)) = turn {
                self.clocks[rank].processor = end;
                self.note(before, rank, waited);
            }
        }
    }

    /// When a rank ends a round, and how far away the rank is that it waited for; nothing if it is silent.
    fn turn(&self, prices: &mut Prices<'_>, window: &RoundWindow, number: usize, rank: usize) -> Option<(f64, u32)> {
        let (sends, combined) = window.turn(rank, number);
        let arrivals = &self.arrivals[self.arrivals_of(rank)];
        if sends.is_empty() && arrivals.is_empty() {
            return None;
        }
        let (mut begin, mut waited) = (self.begins[rank], 0);
        for arrival in arrivals {
            let other = self.begins[arrival.from as usize];
            if other > begin {
                (begin, waited) = (other, arrival.distance);
            }
        }
        let lanes = self.lanes[self.placement.node(rank)].max(1) as usize;
        let block = self.ranks.block;
        let inside = cost(sends, arrivals, block, |level| level == 0);
        let between = cost(sends, arrivals, block, |level| level > 0);
        let local = RoundCost { combined: combined.round() as u64, ..inside };
        Some((begin + prices.of(local, between, lanes), waited))
    }

    fn note(&mut self, before: Option<usize>, rank: usize, waited: u32) {
        if let (Some(before), Some(all)) = (before, &mut self.waited) {
            all[before + rank] = waited;
        }
    }

    /// The path that determines the end: for each round with messages, the last first, the rank of the path after it,
    /// and the one before it. `None` if the waits were not kept.
    pub fn path(&self, rounds: usize) -> Option<Vec<(usize, usize)>> {
        let Followed { p, followed, .. } = self.ranks;
        let all = self.waited.as_ref()?;
        let last = |best: usize, rank: usize| {
            if self.clocks[rank].processor > self.clocks[best].processor { rank } else { best }
        };
        let mut rank = (0..followed).fold(0, last);
        let mut path = Vec::with_capacity(rounds);
        for round in (0..rounds).rev() {
            let distance = all[round * followed + rank % followed] as usize;
            let before = (rank + p - distance) % p;
            path.push((rank, before));
            rank = before;
        }
        Some(path)
    }

    /// When each followed rank has ended.
    pub fn ends(&self) -> impl Iterator<Item = f64> + '_ {
        self.clocks.iter().map(|clock| clock.processor)
    }
}

/// What rounds take by a profile. Most ranks do the same as one shortly before.
struct Prices<'a> {
    profile: &'a Profile,
    /// The rounds that were looked up last, one of each place: inside nodes, between nodes, lanes, and what it takes.
    known: [Option<(RoundCost, RoundCost, usize, f64)>; KNOWN],
}

/// The number of rounds whose times are remembered.
const KNOWN: usize = 16;

impl<'a> Prices<'a> {
    fn new(profile: &'a Profile) -> Self {
        Prices { profile, known: [None; KNOWN] }
    }

    fn of(&mut self, inside: RoundCost, between: RoundCost, lanes: usize) -> f64 {
        // Any function of the round would do: it decides only what is forgotten.
        let mixed = inside.ports + 3 * between.ports + 5 * lanes + 7 * (inside.combined != 0) as usize;
        let known = &mut self.known[mixed % KNOWN];
        match *known {
            Some((a, b, n, seconds)) if (a, b, n) == (inside, between, lanes) => seconds,
            _ => {
                let seconds = Clock::with_lanes(self.profile, lanes).mixed(&inside, &between);
                *known = Some((inside, between, lanes, seconds));
                seconds
            }
        }
    }
}

/// The messages of some levels, as a round of a rank.
fn cost(sends: &[SentMessage], arrivals: &[Arrival], block: f64, counts: impl Fn(u8) -> bool) -> RoundCost {
    let (mut left, mut sum, mut longest) = (0, 0.0, 0.0f64);
    for sent in sends.iter().filter(|sent| counts(sent.level())) {
        let bytes = sent.bytes(block);
        (left, sum, longest) = (left + 1, sum + bytes, longest.max(bytes));
    }
    let mut arrived = 0;
    for arrival in arrivals.iter().filter(|arrival| counts(arrival.level)) {
        (arrived, longest) = (arrived + 1, longest.max(arrival.bytes));
    }
    let (ports, longest, sent) = (left.max(arrived), longest.round() as u64, sum.round() as u64);
    RoundCost { ports, longest, sent, combined: 0, copied: 0 }
}
