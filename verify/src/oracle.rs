//! A second opinion on a schedule, for judging the checker.
//!
//! The checker reasons about which blocks a rank holds. This oracle does not: it moves values through wires, as a
//! network would, where a message is a sequence of values without names, and looks at the buffers in the end. It shares
//! the evaluator of expressions with the checker and nothing else; it is slow and plain on purpose.

use roundel_spec::blocks::Blocks;
use roundel_spec::eval::{self, Env, Halt, Walker};
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Bound, Hold, Layout, Loop, Metric, Schedule, Scope};
use roundel_spec::{Arguments, Kind, Placement, Sink, Site};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;

/// One message as one rank tells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Whether this rank receives it; sends come first.
    pub receives: bool,
    /// The other rank.
    pub peer: usize,
    /// The blocks, in order.
    pub blocks: Vec<usize>,
}

/// What every rank does: `tape[rank][round]` is a list of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape(pub Vec<Vec<Vec<Note>>>);

impl Tape {
    /// Takes down what a schedule says, on every rank.
    pub fn of(schedule: &Schedule, args: &Arguments, placement: &Placement) -> Result<Self, String> {
        let mut ranks = Vec::new();
        for rank in 0..placement.p() {
            let mut log = Log::default();
            eval::rounds(schedule, args, &placement.place(rank), &mut log).map_err(|halt| explain(rank, &halt))?;
            ranks.push(log.rounds);
        }
        Ok(Tape(ranks))
    }

    fn rounds(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn notes(&self, rank: usize, round: usize) -> &[Note] {
        self.0[rank].get(round).map_or(&[], Vec::as_slice)
    }

    fn silent(&self, round: usize) -> bool {
        (0..self.0.len()).all(|rank| self.notes(rank, round).is_empty())
    }

    /// Whether a rank has nothing to do in a round in which another has.
    pub fn has_idle_rank(&self) -> bool {
        let idle = |round: usize| (0..self.0.len()).any(|rank| self.notes(rank, round).is_empty());
        (0..self.rounds()).any(|round| idle(round) && !self.silent(round))
    }

    /// The messages that count: no silent rounds, and within a round only the order of each pair's messages.
    pub fn essence(&self) -> Vec<Vec<Vec<Note>>> {
        let loud: Vec<usize> = (0..self.rounds()).filter(|&round| !self.silent(round)).collect();
        let sorted = |rank: usize, round: usize| {
            let mut notes = self.notes(rank, round).to_vec();
            notes.sort_by_key(|note| (note.receives, note.peer));
            notes
        };
        loud.iter().map(|&round| (0..self.0.len()).map(|rank| sorted(rank, round)).collect()).collect()
    }
}

/// A sink that takes down one rank's rounds.
#[derive(Default)]
struct Log {
    rounds: Vec<Vec<Note>>,
}

impl Log {
    fn push(&mut self, receives: bool, peer: usize, blocks: &impl Blocks) {
        let note = Note { receives, peer, blocks: blocks.each().collect() };
        if let Some(round) = self.rounds.last_mut() {
            round.push(note);
        }
    }
}

impl Sink for Log {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        self.rounds.push(Vec::new());
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        self.push(false, to, &blocks);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.push(true, from, &blocks);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Whether a call lies in the declared domain; the ranks must agree about it.
pub fn admits(schedule: &Schedule, args: &Arguments, placement: &Placement) -> Result<bool, String> {
    let mut answers = Vec::new();
    for rank in 0..placement.p() {
        let answer = eval::admits(schedule, args, &placement.place(rank)).map_err(|halt| explain(rank, &halt))?;
        answers.push(answer.is_none());
    }
    match answers.iter().position(|answer| *answer != answers[0]) {
        Some(rank) => Err(format!("ranks 0 and {rank} disagree about the domain")),
        None => Ok(answers[0]),
    }
}

/// Judges a schedule at one point of its domain: data, layout, bounds, `holds` and hints.
pub fn judge(schedule: &Schedule, args: &Arguments, placement: &Placement, tape: &Tape) -> Result<(), String> {
    Story { schedule, args, placement, tape, film: simulate(schedule.kind, tape)? }.told()
}

/// Like [`judge`], but of every rank by itself: whatever it waits for arrives, and whatever it sends is taken.
pub fn judge_alone(schedule: &Schedule, args: &Arguments, placement: &Placement, tape: &Tape) -> Result<(), String> {
    Story { schedule, args, placement, tape, film: believe(schedule.kind, tape)? }.told()
}

/// The value that block `b` carries: no two blocks have the same.
fn value(b: usize) -> u64 {
    (b as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

type Buffers = Vec<Vec<Option<u64>>>;

/// What the ranks have at the beginning.
fn beginning(kind: Kind, p: usize) -> Buffers {
    let Kind::Allgather = kind;
    (0..p).map(|r| (0..p).map(|b| (b == r).then(|| value(b))).collect()).collect()
}

/// Whether the ranks have everything in the end.
fn ended(buffers: &Buffers) -> Result<(), String> {
    for (rank, buffer) in buffers.iter().enumerate() {
        if let Some(b) = (0..buffer.len()).find(|&b| buffer[b] != Some(value(b))) {
            return Err(format!("slot {b} of rank {rank} ends wrong"));
        }
    }
    Ok(())
}

/// Runs the messages with real values. Gives the buffers before each round and after the last.
fn simulate(kind: Kind, tape: &Tape) -> Result<Vec<Buffers>, String> {
    let mut buffers = beginning(kind, tape.0.len());
    let mut film = vec![buffers.clone()];
    for round in 0..tape.rounds() {
        let wires = transmit(tape, round, &buffers)?;
        deliver(tape, round, wires, &mut buffers)?;
        film.push(buffers.clone());
    }
    ended(&buffers).map(|()| film)
}

/// The same, where every rank gets what it waits for.
fn believe(kind: Kind, tape: &Tape) -> Result<Vec<Buffers>, String> {
    let mut buffers = beginning(kind, tape.0.len());
    let mut film = vec![buffers.clone()];
    for round in 0..tape.rounds() {
        transmit(tape, round, &buffers)?;
        for (rank, buffer) in buffers.iter_mut().enumerate() {
            for note in tape.notes(rank, round) {
                let twice = (1..note.blocks.len()).any(|i| note.blocks[..i].contains(&note.blocks[i]));
                if note.peer == rank || twice {
                    return Err(format!("round {round}: rank {rank} has a message that is none"));
                }
                if note.receives && note.blocks.iter().any(|&b| buffer[b].replace(value(b)).is_some()) {
                    return Err(format!("round {round}: rank {rank} overwrites a slot"));
                }
            }
        }
        film.push(buffers.clone());
    }
    ended(&buffers).map(|()| film)
}

type Wires = HashMap<(usize, usize), VecDeque<Vec<u64>>>;

/// Puts all messages of a round on the wires.
fn transmit(tape: &Tape, round: usize, buffers: &Buffers) -> Result<Wires, String> {
    let mut wires = Wires::new();
    for (rank, buffer) in buffers.iter().enumerate() {
        for note in tape.notes(rank, round).iter().filter(|note| !note.receives) {
            let read = |&b: &usize| buffer[b].ok_or(format!("round {round}: rank {rank} sends empty slot {b}"));
            let message = note.blocks.iter().map(read).collect::<Result<_, _>>()?;
            wires.entry((rank, note.peer)).or_default().push_back(message);
        }
    }
    Ok(wires)
}

/// Takes all messages of a round off the wires.
fn deliver(tape: &Tape, round: usize, mut wires: Wires, buffers: &mut Buffers) -> Result<(), String> {
    for (rank, buffer) in buffers.iter_mut().enumerate() {
        for note in tape.notes(rank, round).iter().filter(|note| note.receives) {
            let wire = wires.get_mut(&(note.peer, rank));
            let waits = || format!("round {round}: rank {rank} waits for rank {} in vain", note.peer);
            let message = wire.and_then(VecDeque::pop_front).ok_or_else(waits)?;
            if message.len() != note.blocks.len() || note.peer == rank {
                return Err(format!("round {round}: rank {rank} cannot take the message of rank {}", note.peer));
            }
            for (&b, value) in note.blocks.iter().zip(message) {
                if buffer[b].replace(value).is_some() {
                    return Err(format!("round {round}: rank {rank} overwrites slot {b}"));
                }
            }
        }
    }
    match wires.iter().filter(|(_, wire)| !wire.is_empty()).map(|(pair, _)| pair).min() {
        Some((from, to)) => Err(format!("round {round}: nobody takes the message from {from} to {to}")),
        None => Ok(()),
    }
}

/// A run that delivered the right data, and what the declaration claims about it.
struct Story<'a> {
    schedule: &'a Schedule,
    args: &'a Arguments,
    placement: &'a Placement,
    tape: &'a Tape,
    film: Vec<Buffers>,
}

impl Story<'_> {
    /// Whether everything that is declared about it is true.
    fn told(&self) -> Result<(), String> {
        self.schedule.bounds.iter().try_for_each(|bound| self.bound(bound))?;
        self.layout()?;
        self.claims()
    }

    fn env(&self, rank: usize) -> Env<'_> {
        Env::new(self.schedule, self.args, &self.placement.place(rank))
    }

    /// How much of a metric a rank uses in one round.
    fn count(&self, metric: Metric, rank: usize, round: usize) -> i64 {
        let notes = self.tape.notes(rank, round);
        let sent = || notes.iter().filter(|note| !note.receives);
        let remote = || sent().filter(|note| self.placement.nonlocal(rank, note.peer));
        let received = || notes.iter().filter(|note| note.receives);
        let count = match metric {
            Metric::Rounds => !self.tape.silent(round) as usize,
            Metric::MessagesSent => sent().count(),
            Metric::MessagesReceived => received().count(),
            Metric::BlocksSent => sent().map(|note| note.blocks.len()).sum(),
            Metric::BlocksReceived => received().map(|note| note.blocks.len()).sum(),
            Metric::NonlocalMessagesSent => remote().count(),
            Metric::NonlocalBlocksSent => remote().map(|note| note.blocks.len()).sum(),
        };
        count as i64
    }

    fn total(&self, metric: Metric, rank: usize, before: usize) -> i64 {
        (0..before).map(|round| self.count(metric, rank, round)).sum()
    }

    fn bound(&self, bound: &Bound) -> Result<(), String> {
        let p = self.tape.0.len();
        let all = self.tape.rounds();
        let largest = |count: &dyn Fn(usize) -> i64| (0..p).map(count).max().unwrap_or(0);
        let value = |env: &mut Env<'_>| env.eval(&bound.value).map_err(|fault| fault.to_string());
        let compare = |found: i64, value: i64| {
            let fine = if bound.exact { found == value } else { found <= value };
            if fine { Ok(()) } else { Err(format!("`{bound}` is {value}, but {found} was counted")) }
        };
        match bound.scope {
            Scope::Max => compare(largest(&|rank| self.total(bound.metric, rank, all)), value(&mut self.env(0))?),
            Scope::Each => {
                (0..p).try_for_each(|rank| compare(self.total(bound.metric, rank, all), value(&mut self.env(rank))?))
            }
            Scope::PerRound(wanted) => self.follow(0, &mut |env, round, n, settled| {
                if settled || n != wanted || self.tape.silent(round) {
                    return Ok(());
                }
                compare(largest(&|rank| self.count(bound.metric, rank, round)), value(env)?)
            }),
        }
    }

    /// Any rotation is right, but it must have a value.
    fn layout(&self) -> Result<(), String> {
        for layout in &self.schedule.layouts {
            if let Layout::Rotated(by) = layout {
                (0..self.tape.0.len())
                    .try_for_each(|rank| self.env(rank).eval(by).map(|_| ()))
                    .map_err(|f| f.to_string())?;
            }
        }
        Ok(())
    }

    /// What the declaration says about the time between rounds, and about each round.
    fn claims(&self) -> Result<(), String> {
        for rank in 0..self.tape.0.len() {
            self.follow(rank, &mut |env, round, n, settled| {
                let l = &self.schedule.loops[n];
                if settled || !l.indices.is_empty() {
                    l.holds.iter().try_for_each(|hold| self.hold(env, rank, round, hold))?;
                }
                let false_hint = |hint: &&Expr| !settled && env.holds(hint) != Ok(true);
                match l.hints.iter().find(false_hint) {
                    Some(hint) => Err(format!("the hint `{hint}` is not true on rank {rank} in round {round}")),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    }

    fn hold(&self, env: &mut Env<'_>, rank: usize, round: usize, hold: &Hold) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("`holds` is wrong about {what} on rank {rank} before round {round}"));
        match hold {
            Hold::Blocks(set) => {
                let mut claimed = Vec::new();
                env.blocks(set, &mut claimed).map_err(|fault| fault.to_string())?;
                claimed.sort_unstable();
                let buffer = self.film[round][rank].iter().enumerate();
                let held: Vec<usize> = buffer.filter(|(_, value)| value.is_some()).map(|(b, _)| b).collect();
                if claimed == held { Ok(()) } else { wrong("blocks") }
            }
            Hold::Counter(metric, value) => {
                let claimed = env.eval(value).map_err(|fault| fault.to_string())?;
                if claimed == self.total(*metric, rank, round) { Ok(()) } else { wrong(metric.name()) }
            }
            Hold::Fact(fact) => match env.holds(fact).map_err(|fault| fault.to_string())? {
                true => Ok(()),
                false => wrong("a fact"),
            },
        }
    }

    /// Calls `visit` before every round of a rank, and after the last of each loop, with the number of rounds so far.
    fn follow(&self, rank: usize, visit: Visit<'_>) -> Result<(), String> {
        let mut env = self.env(rank);
        eval::walk(&mut env, &mut Follow { round: 0, visit }).map_err(|halt| match halt {
            Halt::Stopped(why) => why,
            fault => explain(rank, &fault),
        })
    }
}

/// Environment, rounds so far, number of the loop, whether it has ended.
type Visit<'v> = &'v mut dyn FnMut(&mut Env<'_>, usize, usize, bool) -> Result<(), String>;

struct Follow<'v> {
    round: usize,
    visit: Visit<'v>,
}

impl Walker for Follow<'_> {
    type Stop = String;

    fn round(&mut self, env: &mut Env<'_>, n: usize, _l: &Loop) -> Result<(), Halt<String>> {
        (self.visit)(env, self.round, n, false).map_err(Halt::Stopped)?;
        self.round += 1;
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, _l: &Loop) -> Result<(), Halt<String>> {
        (self.visit)(env, self.round, n, true).map_err(Halt::Stopped)
    }
}

fn explain<E>(rank: usize, halt: &Halt<E>) -> String {
    match halt {
        Halt::Fault(_, fault) => format!("on rank {rank} {fault}"),
        Halt::Stopped(_) => format!("rank {rank} stopped"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(peer: usize, blocks: &[usize]) -> Note {
        Note { receives: false, peer, blocks: blocks.to_vec() }
    }

    fn recv(peer: usize, blocks: &[usize]) -> Note {
        Note { receives: true, peer, blocks: blocks.to_vec() }
    }

    fn verdict(rounds: &[[Vec<Note>; 2]]) -> Result<(), String> {
        let tape = Tape((0..2).map(|rank| rounds.iter().map(|round| round[rank].clone()).collect()).collect());
        simulate(Kind::Allgather, &tape).map(|_| ())
    }

    #[test]
    fn an_exchange_is_right() {
        let exchange = [vec![send(1, &[0]), recv(1, &[1])], vec![send(0, &[1]), recv(0, &[0])]];
        assert_eq!(verdict(std::slice::from_ref(&exchange)), Ok(()));
        assert_eq!(verdict(&[[vec![], vec![]], exchange]), Ok(()));
    }

    #[test]
    fn every_fault_is_seen() {
        let says = |rounds: &[[Vec<Note>; 2]], words: &str| {
            let why = verdict(rounds).expect_err(words);
            assert!(why.contains(words), "{why}");
        };
        says(&[], "ends wrong");
        says(&[[vec![send(1, &[1])], vec![recv(0, &[1])]]], "empty slot 1");
        says(&[[vec![send(1, &[0])], vec![]]], "nobody takes");
        says(&[[vec![recv(1, &[1])], vec![]]], "in vain");
        says(&[[vec![send(1, &[0])], vec![recv(0, &[1])]]], "overwrites slot 1");
        says(&[[vec![send(0, &[0]), recv(0, &[1])], vec![]]], "cannot take");
        says(&[[vec![send(1, &[0])], vec![recv(0, &[0, 1])]]], "cannot take");
        let twice = [vec![send(1, &[0])], vec![recv(0, &[0])]];
        says(&[twice.clone(), twice], "overwrites slot 0");
    }

    #[test]
    fn a_rank_alone_believes_the_others() {
        let alone = |rounds: &[Vec<Note>]| {
            let tape = Tape(vec![rounds.to_vec(), vec![vec![recv(0, &[0])]]]);
            believe(Kind::Allgather, &tape).map(|_| ())
        };
        assert_eq!(alone(&[vec![recv(1, &[1])]]), Ok(()));
        assert_eq!(alone(&[vec![recv(1, &[1])], vec![send(1, &[1, 0])]]), Ok(()));
        let wrong = [
            vec![],
            vec![vec![recv(1, &[1]), send(1, &[1])]],
            vec![vec![recv(0, &[1])]],
            vec![vec![recv(1, &[1])], vec![recv(1, &[1])]],
            vec![vec![recv(1, &[1])], vec![send(1, &[1, 1])]],
        ];
        wrong.iter().for_each(|rounds| assert!(alone(rounds).is_err(), "{rounds:?}"));
    }

    #[test]
    fn the_essence_leaves_silence_and_interleaving_out() {
        let one = Tape(vec![vec![vec![], vec![recv(2, &[2]), send(1, &[0]), send(1, &[2])]], vec![], vec![]]);
        let two = Tape(vec![vec![vec![send(1, &[0]), send(1, &[2]), recv(2, &[2])], vec![]], vec![], vec![]]);
        let other = Tape(vec![vec![vec![send(1, &[2]), send(1, &[0]), recv(2, &[2])]], vec![], vec![]]);
        assert_eq!(one.essence(), two.essence());
        assert_ne!(one.essence(), other.essence());
    }
}
