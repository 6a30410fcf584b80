//! A second opinion on a schedule, to judge the checker.
//!
//! The checker reasons about the blocks that a rank holds. This oracle does not: it moves values through wires, as a
//! network would, where a message is a sequence of values without names, and compares the buffers at the end. It shares
//! only the evaluator of expressions with the checker, and is slow and simple on purpose.

mod memory;

use memory::{OracleMemory, OracleValue};
use roundel_spec::Blocks;
use roundel_spec::check::{self, Point};
use roundel_spec::eval::{self, Env, Halt, Walker};
use roundel_spec::expr::Expr;
use roundel_spec::record::RankLog;
use roundel_spec::schedule::{Bound, BoundScope, Hold, Layout, Loop, Metric, Schedule};
use roundel_spec::{Action, Arguments, Kind, Line, Placement, Recorder, Sink, Site, Trace};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::convert::Infallible;
use std::rc::Rc;

/// One message as seen by one rank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OracleMessage {
    /// Whether this rank receives it; sends sort first.
    pub receives: bool,
    /// The other rank.
    pub peer: usize,
    /// The blocks, in order.
    pub blocks: Vec<usize>,
    /// The line it reads or writes.
    pub line: usize,
    /// Its effect on that line.
    pub action: Action,
}

impl OracleMessage {
    /// Whether it reads or writes a slot, or uses it as an operand.
    fn touches(&self, line: usize, block: usize) -> bool {
        let operand = match self.action {
            Action::CombineLeft { with } | Action::CombineRight { with } => usize::from(with) == line,
            Action::Copy | Action::Replace | Action::Overwrite => false,
        };
        (self.line == line || operand) && self.blocks.contains(&block)
    }

    fn combines(&self) -> bool {
        matches!(self.action, Action::CombineLeft { .. } | Action::CombineRight { .. })
    }
}

/// The rounds of every rank: `tape[rank][round]` is a list of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleRounds(pub Vec<Vec<Vec<OracleMessage>>>, Vec<Vec<Ending>>);

/// What an inner collective leaves to chance on a rank: the contents of a slot, or the tree of what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ending {
    /// The first round before which it is so.
    round: usize,
    line: usize,
    block: usize,
    keeps_value: bool,
}

impl OracleRounds {
    /// Records the rounds of a schedule on every rank.
    pub fn of(schedule: &Schedule, args: &Arguments, placement: &Placement) -> Result<Self, String> {
        let mut ranks = Vec::new();
        for rank in 0..placement.p() {
            let mut recorder = Recorder::default();
            let place = placement.place(rank);
            eval::rounds(schedule, args, &place, &mut recorder).map_err(|halt| explain(rank, &halt))?;
            ranks.push(recorder.finish());
        }
        // Groups wait for each other; those with fewer rounds are silent.
        let logged = |log: &RankLog| {
            let mut tape = OracleLog::default();
            log.replay(&mut tape).map_or_else(|never| match never {}, |()| (tape.rounds, tape.endings))
        };
        let (rounds, endings) = Trace::lockstep(ranks).ranks.iter().map(logged).unzip();
        Ok(OracleRounds(rounds, endings))
    }

    /// Leaves to chance what inner collectives do before a round.
    fn end_groups(&self, round: usize, memories: &mut Memories) {
        for (rank, (memory, endings)) in memories.iter_mut().zip(&self.1).enumerate() {
            for one in endings.iter().filter(|one| one.round == round) {
                memory.leave_to_chance(rank, one.line, one.block, one.keeps_value);
            }
        }
    }

    fn rounds(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn notes(&self, rank: usize, round: usize) -> &[OracleMessage] {
        self.0[rank].get(round).map_or(&[], Vec::as_slice)
    }

    fn silent(&self, round: usize) -> bool {
        (0..self.0.len()).all(|rank| self.notes(rank, round).is_empty())
    }

    /// Whether a rank is idle in a round in which another has messages.
    pub fn has_idle_rank(&self) -> bool {
        let idle = |round: usize| (0..self.0.len()).any(|rank| self.notes(rank, round).is_empty());
        (0..self.rounds()).any(|round| idle(round) && !self.silent(round))
    }

    /// The relevant part of the messages: without silent rounds, and within a round only the order of each pair's
    /// messages. If a rank combines something, the order of everything that it receives also counts.
    pub fn essence(&self) -> Vec<Vec<Vec<OracleMessage>>> {
        let active: Vec<usize> = (0..self.rounds()).filter(|&round| !self.silent(round)).collect();
        let sorted = |rank: usize, round: usize| {
            let mut notes = self.notes(rank, round).to_vec();
            let ordered = notes.iter().any(OracleMessage::combines);
            notes.sort_by_key(|note| (note.receives, if ordered && note.receives { 0 } else { note.peer }));
            notes
        };
        active.iter().map(|&round| (0..self.0.len()).map(|rank| sorted(rank, round)).collect()).collect()
    }
}

/// A sink that records one rank's rounds.
#[derive(Default)]
struct OracleLog {
    rounds: Vec<Vec<OracleMessage>>,
    endings: Vec<Ending>,
}

impl OracleLog {
    fn push(&mut self, receives: bool, site: Site, peer: usize, blocks: &impl Blocks) {
        let (line, action) = (site.line.into(), site.action);
        let note = OracleMessage { receives, peer, blocks: blocks.each().collect(), line, action };
        if let Some(round) = self.rounds.last_mut() {
            round.push(note);
        }
    }

    fn end(&mut self, line: Line, blocks: &impl Blocks, keeps_value: bool) {
        let round = self.rounds.len();
        let ending = |block| Ending { round, line: line.into(), block, keeps_value };
        self.endings.extend(blocks.each().map(ending));
    }
}

impl Sink for OracleLog {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        self.rounds.push(Vec::new());
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        self.push(false, site, to, &blocks);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.push(true, site, from, &blocks);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn forget<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Infallible> {
        self.end(line, &blocks, false);
        Ok(())
    }

    fn reduced_here<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Infallible> {
        self.end(line, &blocks, true);
        Ok(())
    }
}

/// Whether a call lies in the declared domain; the ranks must agree.
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

/// Judges a schedule at one point of its domain: data, order of reduction, layout, bounds, `holds` and hints.
pub fn judge(
    schedule: &Schedule,
    args: &Arguments,
    placement: &Placement,
    tape: &OracleRounds,
) -> Result<(), String> {
    tell(schedule, args, placement, tape, simulate)
}

/// Like [`judge`], but for every rank of a gather on its own: whatever it waits for arrives, and whatever it sends is
/// received.
pub fn judge_alone(
    schedule: &Schedule,
    args: &Arguments,
    placement: &Placement,
    tape: &OracleRounds,
) -> Result<(), String> {
    tell(schedule, args, placement, tape, believe)
}

fn tell(
    schedule: &Schedule,
    args: &Arguments,
    placement: &Placement,
    tape: &OracleRounds,
    film: impl Fn(&BufferShape, &OracleRounds) -> Result<Vec<Memories>, String> + Copy,
) -> Result<(), String> {
    let shape = BufferShape {
        kind: schedule.kind,
        lines: schedule.lines_in_memory(),
        blocks: blocks(schedule, args, placement)?,
        root: root(schedule, args),
    };
    if shape.root >= placement.p() {
        return Err(format!("there is no rank {}", shape.root));
    }
    if let Some(forward) = schedule.forward() {
        let tape = OracleRounds::of(&forward, args, placement)?;
        tell(&forward, args, placement, &tape, film)?;
    }
    let own = match schedule.within().next() {
        Some(_) => {
            let point = Point { placement: placement.clone(), args: args.clone() };
            Some(check::record_schedule(schedule, &point).map_err(|violation| violation.to_string())?)
        }
        None => None,
    };
    let story = Story { schedule, args, placement, tape, own, film: film(&shape, tape)? };
    story.order(&shape)?;
    story.verdict()
}

/// The shape of every rank's memory.
struct BufferShape {
    kind: Kind,
    lines: usize,
    blocks: usize,
    root: usize,
}

/// The parameter `root`, if the kind has a root.
fn root(schedule: &Schedule, args: &Arguments) -> usize {
    let rooted = matches!(schedule.kind, Kind::Broadcast | Kind::Reduce | Kind::Gather | Kind::Scatter);
    let at = schedule.numbers.iter().position(|number| number.var.name == "root").filter(|_| rooted);
    at.map_or(0, |at| args.numbers[at] as usize)
}

/// The number of blocks, on which the ranks must agree.
fn blocks(schedule: &Schedule, args: &Arguments, placement: &Placement) -> Result<usize, String> {
    let on = |rank: usize| {
        let blocks = eval::blocks::<Infallible>(schedule, args, &placement.place(rank));
        blocks.map(|blocks| blocks as usize).map_err(|halt| explain(rank, &halt))
    };
    let first = on(0)?;
    let whole = matches!(schedule.kind, Kind::Allreduce | Kind::Broadcast | Kind::Reduce);
    let pairs = schedule.kind == Kind::Alltoall && first == placement.p() * placement.p();
    let each_has_one = whole || pairs || first == placement.p();
    for rank in 0..placement.p() {
        if on(rank)? != first || !each_has_one {
            return Err(format!("{first} blocks do not suit rank {rank}"));
        }
    }
    Ok(first)
}

/// The memory of every rank at one time.
type Memories = Vec<OracleMemory>;

/// Runs the messages with real values. Returns the memories before each round and after the last.
fn simulate(shape: &BufferShape, tape: &OracleRounds) -> Result<Vec<Memories>, String> {
    film(shape, tape, |round, memories| {
        let wires = transmit(tape, round, memories)?;
        if shape.kind == Kind::Alltoall {
            give_up(tape, round, memories)?;
        }
        deliver(tape, round, wires, memories)
    })
}

/// The same, but every rank of a gather gets whatever it waits for.
fn believe(shape: &BufferShape, tape: &OracleRounds) -> Result<Vec<Memories>, String> {
    film(shape, tape, |round, memories| {
        transmit(tape, round, memories)?;
        for (rank, memory) in memories.iter_mut().enumerate() {
            for note in tape.notes(rank, round) {
                let twice = (1..note.blocks.len()).any(|i| note.blocks[..i].contains(&note.blocks[i]));
                if note.peer == rank || twice {
                    return Err(format!("round {round}: rank {rank} has a message that is none"));
                }
                for &b in note.blocks.iter().filter(|_| note.receives) {
                    let fault = |reason| format!("round {round}: rank {rank} {reason}");
                    memory.write(note, b, OracleValue::own(b, b), false).map_err(fault)?;
                }
            }
        }
        Ok(())
    })
}

/// The memories before each round and after the last, which must contain the result.
fn film(
    shape: &BufferShape,
    tape: &OracleRounds,
    run: impl Fn(usize, &mut Memories) -> Result<(), String>,
) -> Result<Vec<Memories>, String> {
    let p = tape.0.len();
    let mut memories: Memories = (0..p)
        .map(|rank| OracleMemory::initial(shape.kind, (rank, p), shape.lines, shape.blocks, shape.root))
        .collect();
    tape.end_groups(0, &mut memories);
    let mut film = vec![memories.clone()];
    for round in 0..tape.rounds() {
        run(round, &mut memories)?;
        tape.end_groups(round + 1, &mut memories);
        film.push(memories.clone());
    }
    memories.iter().enumerate().try_for_each(|(rank, memory)| memory.result(shape.kind, rank, p, shape.root))?;
    Ok(film)
}

type Wires = HashMap<(usize, usize), VecDeque<Vec<Rc<OracleValue>>>>;

/// Puts all messages of a round on the wires.
fn transmit(tape: &OracleRounds, round: usize, memories: &Memories) -> Result<Wires, String> {
    let mut wires = Wires::new();
    for (rank, memory) in memories.iter().enumerate() {
        for note in tape.notes(rank, round).iter().filter(|note| !note.receives) {
            let empty = |b: usize| format!("round {round}: rank {rank} sends empty slot {b}");
            let message = memory.read(note).map_err(empty)?;
            wires.entry((rank, note.peer)).or_default().push_back(message);
        }
    }
    Ok(wires)
}

/// Empties the slots that an all-to-all has sent.
fn give_up(tape: &OracleRounds, round: usize, memories: &mut Memories) -> Result<(), String> {
    for (rank, memory) in memories.iter_mut().enumerate() {
        for note in tape.notes(rank, round).iter().filter(|note| !note.receives) {
            memory.give_up(note).map_err(|b| format!("round {round}: rank {rank} sends slot {b} twice"))?;
        }
    }
    Ok(())
}

/// Takes all messages of a round off the wires.
fn deliver(tape: &OracleRounds, round: usize, mut wires: Wires, memories: &mut Memories) -> Result<(), String> {
    for (rank, memory) in memories.iter_mut().enumerate() {
        let notes = tape.notes(rank, round);
        for (i, note) in notes.iter().enumerate().filter(|(_, note)| note.receives) {
            let wire = wires.get_mut(&(note.peer, rank));
            let waits = || format!("round {round}: rank {rank} waits for rank {} in vain", note.peer);
            let message = wire.and_then(VecDeque::pop_front).ok_or_else(waits)?;
            if message.len() != note.blocks.len() || note.peer == rank {
                return Err(format!("round {round}: rank {rank} cannot take the message of rank {}", note.peer));
            }
            for (&b, value) in note.blocks.iter().zip(message) {
                // A value that is overwritten at the end of the round may be sent in it.
                let matters = |other: &OracleMessage| other.receives || note.action != Action::Overwrite;
                let in_use = (0..notes.len()).any(|j| j != i && matters(&notes[j]) && notes[j].touches(note.line, b));
                let fault = |reason| format!("round {round}: rank {rank} {reason}");
                memory.write(note, b, value, in_use).map_err(fault)?;
            }
        }
    }
    match wires.iter().filter(|(_, wire)| !wire.is_empty()).map(|(pair, _)| pair).min() {
        Some((from, to)) => Err(format!("round {round}: nobody takes the message from {from} to {to}")),
        None => Ok(()),
    }
}

/// A run that delivered the right data, and the declaration's claims about it.
struct Story<'a> {
    schedule: &'a Schedule,
    args: &'a Arguments,
    placement: &'a Placement,
    tape: &'a OracleRounds,
    /// The trace that tells which rounds are the collective's own, if inner ones have rounds too.
    own: Option<Trace>,
    film: Vec<Memories>,
}

impl Story<'_> {
    /// Checks all claims of the declaration.
    fn verdict(&self) -> Result<(), String> {
        self.schedule.bounds.iter().try_for_each(|bound| self.bound(bound))?;
        self.layout()?;
        self.claims()
    }

    fn env(&self, rank: usize) -> Env<'_> {
        let mut env = Env::new(self.schedule, self.args, &self.placement.place(rank));
        // Sets name blocks, except in `holds` of a reduction, where they name ranks.
        if !self.schedule.kind.reduces() {
            env.wrap_around(self.film[0][rank].line(0).len() as i64);
        }
        env
    }

    /// The amount of a metric that a rank uses in one round.
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
            Metric::NonlocalRounds => (0..self.tape.0.len()).any(|rank| self.leaves(rank, round)) as usize,
            Metric::NonlocalMessagesSent => remote().count(),
            Metric::NonlocalMessagesReceived => {
                received().filter(|note| self.placement.nonlocal(rank, note.peer)).count()
            }
            Metric::NonlocalBlocksSent => remote().map(|note| note.blocks.len()).sum(),
            // Not a property of one round.
            Metric::Scratch => 0,
        };
        count as i64
    }

    /// Whether a rank has a message to another node in a round.
    fn leaves(&self, rank: usize, round: usize) -> bool {
        self.tape.notes(rank, round).iter().any(|note| self.placement.nonlocal(rank, note.peer))
    }

    /// The number of blocks that a rank holds for others before a round.
    fn kept(&self, rank: usize, round: usize) -> i64 {
        let p = self.tape.0.len();
        let slots = self.film[round][rank].line(0).iter().enumerate();
        slots.filter(|(b, value)| value.is_some() && b / p != rank && b % p != rank).count() as i64
    }

    fn total(&self, metric: Metric, rank: usize, before: usize) -> i64 {
        if metric == Metric::Scratch {
            return (0..=before).map(|round| self.kept(rank, round)).max().unwrap_or(0);
        }
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
            BoundScope::Max => {
                compare(largest(&|rank| self.total(bound.metric, rank, all)), value(&mut self.env(0))?)
            }
            BoundScope::Each => {
                (0..p).try_for_each(|rank| compare(self.total(bound.metric, rank, all), value(&mut self.env(rank))?))
            }
            BoundScope::Node => (0..p).filter(|&rank| self.placement.place(rank).local == 0).try_for_each(|first| {
                let mates = (0..p).filter(|&rank| !self.placement.nonlocal(first, rank));
                let together = mates.map(|rank| self.total(bound.metric, rank, all)).sum();
                compare(together, value(&mut self.env(first))?)
            }),
            BoundScope::PerRound(wanted) => self.follow(0, &mut |env, round, n, settled| {
                if settled || n != wanted || self.tape.silent(round) {
                    return Ok(());
                }
                compare(largest(&|rank| self.count(bound.metric, rank, round)), value(env)?)
            }),
        }
    }

    /// Checks the claims about the order in which every result was reduced.
    fn order(&self, shape: &BufferShape) -> Result<(), String> {
        let claimed = self.schedule.claimed_order();
        let Some(end) = self.film.last().filter(|_| claimed.same_tree || claimed.rank_order) else { return Ok(()) };
        for block in 0..shape.blocks {
            let mut first: Option<BTreeSet<Vec<usize>>> = None;
            for (rank, memory) in end.iter().enumerate() {
                let needed = match shape.kind {
                    Kind::ReduceScatter => block == rank,
                    Kind::Reduce => rank == shape.root,
                    _ => true,
                };
                let Some(result) = memory.line(0)[block].as_ref().filter(|_| needed) else { continue };
                if claimed.rank_order && !result.in_rank_order() {
                    return Err(format!("block {block} of rank {rank} is not reduced in the order of ranks"));
                }
                if claimed.same_tree && *first.get_or_insert_with(|| result.unions()) != result.unions() {
                    return Err(format!("block {block} of rank {rank} is not reduced along the tree of others"));
                }
            }
        }
        Ok(())
    }

    /// Checks that the rotation has a value; any value is correct.
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

    /// Checks `holds` between rounds, and the hints in each round.
    fn claims(&self) -> Result<(), String> {
        if self.schedule.reverse_of.is_some() {
            // They are about the forward collective, which is judged apart.
            return Ok(());
        }
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
                let slots = self.film[round][rank].line(0).iter().enumerate();
                let held: Vec<usize> = slots.filter(|(_, value)| value.is_some()).map(|(b, _)| b).collect();
                if claimed == held { Ok(()) } else { wrong("blocks") }
            }
            Hold::Contributors { line, block, ranks } => {
                for (b, slot) in self.film[round][rank].line((*line).into()).iter().enumerate() {
                    block.iter().for_each(|var| env.set(var.slot, b as i64));
                    let mut claimed = Vec::new();
                    env.blocks(ranks, &mut claimed).map_err(|fault| fault.to_string())?;
                    claimed.sort_unstable();
                    if claimed != slot.as_ref().map_or_else(Vec::new, |value| value.sorted()) {
                        return wrong("contributors");
                    }
                }
                Ok(())
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

    /// Calls `visit` before every round of a rank, and after the last round of each loop, with the number of rounds so
    /// far.
    fn follow(&self, rank: usize, visit: Visit<'_>) -> Result<(), String> {
        let mut env = self.env(rank);
        eval::walk(&mut env, &mut Follow { round: 0, own: self.own.as_ref(), visit }).map_err(|halt| match halt {
            Halt::Stopped(reason) => reason,
            fault => explain(rank, &fault),
        })
    }
}

/// Arguments: environment, rounds so far, number of the loop, whether it has ended.
type Visit<'v> = &'v mut dyn FnMut(&mut Env<'_>, usize, usize, bool) -> Result<(), String>;

struct Follow<'v> {
    round: usize,
    own: Option<&'v Trace>,
    visit: Visit<'v>,
}

impl Follow<'_> {
    /// The number of rounds so far, including those of inner collectives.
    fn all_rounds(&self) -> usize {
        self.own.map_or(self.round, |trace| trace.own_round(self.round))
    }
}

impl Walker for Follow<'_> {
    type Stop = String;

    fn round(&mut self, env: &mut Env<'_>, n: usize, _l: &Loop) -> Result<(), Halt<String>> {
        let rounds = self.all_rounds();
        (self.visit)(env, rounds, n, false).map_err(Halt::Stopped)?;
        self.round += 1;
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, _l: &Loop) -> Result<(), Halt<String>> {
        let rounds = self.all_rounds();
        (self.visit)(env, rounds, n, true).map_err(Halt::Stopped)
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

    fn without_groups(rounds: Vec<Vec<Vec<OracleMessage>>>) -> OracleRounds {
        OracleRounds(rounds, Vec::new())
    }

    fn send(peer: usize, blocks: &[usize]) -> OracleMessage {
        OracleMessage { receives: false, peer, blocks: blocks.to_vec(), line: 0, action: Action::Copy }
    }

    fn recv(peer: usize, blocks: &[usize]) -> OracleMessage {
        OracleMessage { receives: true, peer, blocks: blocks.to_vec(), line: 0, action: Action::Copy }
    }

    fn verdict(rounds: &[[Vec<OracleMessage>; 2]]) -> Result<(), String> {
        let tape =
            without_groups((0..2).map(|rank| rounds.iter().map(|round| round[rank].clone()).collect()).collect());
        simulate(&BufferShape { kind: Kind::Allgather, lines: 0, blocks: 2, root: 0 }, &tape).map(|_| ())
    }

    #[test]
    fn an_exchange_is_right() {
        let exchange = [vec![send(1, &[0]), recv(1, &[1])], vec![send(0, &[1]), recv(0, &[0])]];
        assert_eq!(verdict(std::slice::from_ref(&exchange)), Ok(()));
        assert_eq!(verdict(&[[vec![], vec![]], exchange]), Ok(()));
    }

    #[test]
    fn every_fault_is_seen() {
        let says = |rounds: &[[Vec<OracleMessage>; 2]], words: &str| {
            let reason = verdict(rounds).expect_err(words);
            assert!(reason.contains(words), "{reason}");
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
        let alone = |rounds: &[Vec<OracleMessage>]| {
            let tape = without_groups(vec![rounds.to_vec(), vec![vec![recv(0, &[0])]]]);
            believe(&BufferShape { kind: Kind::Allgather, lines: 1, blocks: tape.0.len(), root: 0 }, &tape)
                .map(|_| ())
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
        let one =
            without_groups(vec![vec![vec![], vec![recv(2, &[2]), send(1, &[0]), send(1, &[2])]], vec![], vec![]]);
        let two =
            without_groups(vec![vec![vec![send(1, &[0]), send(1, &[2]), recv(2, &[2])], vec![]], vec![], vec![]]);
        let other = without_groups(vec![vec![vec![send(1, &[2]), send(1, &[0]), recv(2, &[2])]], vec![], vec![]]);
        assert_eq!(one.essence(), two.essence());
        assert_ne!(one.essence(), other.essence());
    }
}
