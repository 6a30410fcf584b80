//! The obligations of a schedule: what a solver must discharge so that it is correct for all p.
//!
//! The glue is induction over the rounds. If `holds` is true before the first round, if it is preserved by every round,
//! and if it implies the contract after the last, then the contract is met for every p, because the number of
//! rounds is finite. Inside a round, all ranks are alike: an obligation speaks of one arbitrary rank and, for
//! matching, of its peer.

use super::context::{Context, Unsupported, Values};
use super::query::{Attempt, Obligation, Property};
use super::sets::{Element, Piece, Reach, SymbolicSet, different_block, member, other_index, same_block};
use super::term::{Term, add, and, eq, ge, implies, int, ite, le, lt, mul, or, sub, within};
use super::windows::{Window, Windows};
use roundel_spec::Schedule;
use roundel_spec::blocks::BlockSet;
use roundel_spec::expr::{Binary, Builtin, Expr, PLACEMENT_SLOTS};
use roundel_spec::record::Direction;
use roundel_spec::schedule::{Bound, Hold, Layout, Loop, Metric, Scope, Transfer};

const RANK: usize = 0;
const P: usize = 1;

/// A part of the proof that has no obligation, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What is not proved.
    pub property: Property,
    /// Why.
    pub why: String,
}

/// All obligations of a schedule, and what is missing.
pub struct Obligations {
    /// To be discharged.
    pub all: Vec<Obligation>,
    /// Not encoded.
    pub gaps: Vec<Gap>,
}

/// The obligations of a schedule.
pub fn obligations(schedule: &Schedule) -> Obligations {
    let windows = Windows::seen(schedule);
    let mut prover = Prover { schedule, windows, all: Vec::new(), gaps: Vec::new() };
    prover.whole();
    Obligations { all: prover.all, gaps: prover.gaps }
}

/// What is known at a point of the run.
#[derive(Clone)]
struct Frame<'a> {
    cx: Context<'a>,
    values: Values,
    hypotheses: Vec<Term>,
}

impl Frame<'_> {
    fn assume(&mut self, fact: Term) {
        self.hypotheses.push(fact);
    }

    /// Assumes a fact. One that says what a state is (`D == pow(2, s)`) also replaces the state from then on:
    /// solvers do not multiply equations.
    fn adopt(&mut self, fact: &Expr, l: &Loop) -> Step<()> {
        let formula = self.cx.assume(fact, &self.values)?;
        self.assume(formula);
        if let Expr::Binary(Binary::Eq, state, value) = fact
            && let Expr::Var(v) = &**state
            && l.states.iter().any(|known| known.var == *v)
            && !matches!(&**value, Expr::Builtin(Builtin::Min | Builtin::Max, _))
        {
            let value = self.cx.lower(value, &self.values)?;
            self.cx.also_power_of_two(fact, &value);
            self.values.set(v.slot, value);
        }
        Ok(())
    }

    /// The same point as another rank sees it.
    fn seen_by(&self, rank: &str) -> Values {
        self.values.with(RANK, rank)
    }
}

/// What is true where a loop begins.
#[derive(Clone)]
struct Entry<'a> {
    frame: Frame<'a>,
    held: SymbolicSet,
    /// What has been used up so far, for each metric with a counter.
    used: Vec<(Metric, Term)>,
}

impl Entry<'_> {
    fn used(&self, metric: Metric) -> Option<Term> {
        self.used.iter().find(|(known, _)| *known == metric).map(|(_, term)| term.clone())
    }
}

struct Prover<'a> {
    schedule: &'a Schedule,
    windows: Windows,
    all: Vec<Obligation>,
    gaps: Vec<Gap>,
}

type Step<T> = Result<T, Unsupported>;

impl<'a> Prover<'a> {
    fn whole(&mut self) {
        if let Some(why) = self.out_of_reach() {
            return self.gap(Property::Invariant, why);
        }
        self.domain();
        self.rotation();
        let entry = self.base().and_then(|frame| self.start(frame));
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(Unsupported(what)) => return self.gap(Property::Initialisation, format!("{what} is not encoded")),
        };
        for n in 0..self.schedule.loops.len() {
            entry = match self.a_loop(n, entry) {
                Ok(entry) => entry,
                Err(Unsupported(what)) => return self.gap(Property::Invariant, what),
            };
        }
        self.end(entry);
    }

    /// Constructs that the encoding does not know.
    fn out_of_reach(&self) -> Option<String> {
        let mut why = None;
        self.schedule.for_each_expr(&mut |_, e| {
            e.walk(&mut |e| {
                if matches!(e, Expr::Var(v) if PLACEMENT_SLOTS.contains(&v.slot)) {
                    why = Some(format!("`{e}` depends on the placement, which is not encoded"));
                }
            });
        });
        if self.schedule.loops.iter().any(|l| l.indices.len() > 1) {
            why = Some("nested rounds are not encoded".into());
        }
        why
    }

    fn gap(&mut self, property: Property, why: String) {
        self.gaps.push(Gap { property, why });
    }

    /// Adds what `build` makes, or says why not.
    fn attempt(&mut self, property: Property, build: impl FnOnce(&mut Self) -> Step<()>) {
        if let Err(Unsupported(what)) = build(self) {
            self.gap(property, format!("{what} is not encoded"));
        }
    }

    fn prove(&mut self, frame: &Frame<'_>, property: Property, name: &str, claim: &str, goal: Term) {
        if goal != "true" {
            self.push(property, name, claim, vec![Attempt::new(&frame.cx, &frame.hypotheses, goal)]);
        }
    }

    /// Proves that what was lowered since the last question has a value and fits the machine.
    fn computable(&mut self, frame: &mut Frame<'_>, name: &str, what: &str) {
        let defined = and(frame.cx.take_defined());
        self.prove(frame, Property::Defined, name, &format!("{what} has a value"), defined);
        self.fits(frame, name, what);
    }

    /// Proves that every intermediate result since the last question fits 64 bits for every p below 2^31.
    fn fits(&mut self, frame: &mut Frame<'_>, name: &str, what: &str) {
        let computed = frame.cx.take_computed();
        let mut small = frame.clone();
        let numbers = self.schedule.numbers.iter().map(|number| &number.var.name);
        let limited: Vec<Term> = numbers
            .chain(frame.cx.elements())
            .map(String::as_str)
            .chain(["p"])
            .map(|x| lt(x, "2147483648"))
            .collect();
        small.hypotheses.extend(limited);
        let fits = |(condition, term): (Term, Term)| {
            let in_range = and([lt("(- 4611686018427387904)", &term), lt(&term, "4611686018427387904")]);
            implies(&condition, &in_range)
        };
        let goal = and(computed.into_iter().map(fits));
        let claim = format!("every intermediate result of {what} fits 64 bits for p < 2^31");
        self.prove(&small, Property::MachineWidth, name, &claim, goal);
    }

    fn push(&mut self, property: Property, name: &str, claim: &str, attempts: Vec<Attempt>) {
        let name = format!("{:03}-{}-{name}", self.all.len(), property.name());
        self.all.push(Obligation::new(property, name, claim.into(), attempts));
    }

    /// Every clause of `requires` can be evaluated where the clauses before it are true.
    fn domain(&mut self) {
        self.attempt(Property::Defined, |prover| {
            let mut frame = prover.parameters();
            for (i, clause) in prover.schedule.requires.iter().enumerate() {
                let formula = frame.cx.assume(clause, &frame.values)?;
                prover.computable(&mut frame, &format!("requires{i}"), &format!("`{clause}`"));
                frame.assume(formula);
            }
            Ok(())
        });
    }

    /// The rotation of a layout can be evaluated.
    fn rotation(&mut self) {
        for layout in &self.schedule.layouts {
            let Layout::Rotated(by) = layout else { continue };
            self.attempt(Property::Defined, |prover| {
                let mut frame = prover.base()?;
                frame.cx.lower(by, &frame.values)?;
                prover.computable(&mut frame, "rotation", &format!("`{layout}`"));
                Ok(())
            });
        }
    }

    /// p, rank, parameters in their domains, `requires`.
    fn base(&self) -> Step<Frame<'a>> {
        let mut frame = self.parameters();
        for clause in &self.schedule.requires {
            let clause = frame.cx.assume(clause, &frame.values)?;
            frame.assume(clause);
        }
        frame.cx.settle();
        Ok(frame)
    }

    /// p, rank, parameters in their domains.
    fn parameters(&self) -> Frame<'a> {
        let schedule = self.schedule;
        let mut cx = Context::new(schedule);
        let mut values = Values::new(schedule.slots);
        let (p, rank) = (cx.constant("p"), cx.constant("rank"));
        values.set(P, p);
        values.set(RANK, rank);
        let mut hypotheses = vec![ge("p", "1"), within("rank", "0", "p")];
        for number in &schedule.numbers {
            let name = cx.constant(&number.var.name);
            hypotheses.push(ge(&name, &int(number.domain.lo)));
            number.domain.hi.iter().for_each(|hi| hypotheses.push(le(&name, &int(*hi))));
            values.set(number.var.slot, name);
        }
        Frame { cx, values, hypotheses }
    }

    /// Before the first round every rank holds its own block.
    fn start(&self, frame: Frame<'a>) -> Step<Entry<'a>> {
        let own = BlockSet {
            parts: vec![roundel_spec::blocks::Part { item: Expr::var("rank", RANK), over: vec![], filter: None }],
        };
        let held = SymbolicSet::new(&own, &[], None, &frame.values);
        let used = Metric::ALL.into_iter().map(|metric| (metric, "0".to_string())).collect();
        Ok(Entry { frame, held, used })
    }

    fn a_loop(&mut self, n: usize, entry: Entry<'a>) -> Step<Entry<'a>> {
        let l = &self.schedule.loops[n];
        if l.indices.is_empty() { self.bare_round(n, l, entry) } else { self.indexed(n, l, entry) }
    }

    /// A round without an index: what is held afterwards is what was held and what arrived.
    fn bare_round(&mut self, n: usize, l: &'a Loop, entry: Entry<'a>) -> Step<Entry<'a>> {
        let arrived = arrivals(l, &entry.frame.values);
        let after = match held_set(l, &entry.frame.values) {
            Some(declared) => declared,
            None => entry.held.clone().union(arrived),
        };
        let mut frame = entry.frame.clone();
        self.hints(n, l, &mut frame)?;
        if let Some(declared) = held_set(l, &frame.values) {
            self.distinct(n, &frame, &declared);
        }
        self.round(n, l, &frame, &entry.held, &after, &[]);
        self.width(n, l, &frame);
        self.per_round_bounds(n, l, &frame);
        self.no_silent_round(n, l, &frame);
        let mut used = Vec::new();
        for (metric, before) in &entry.used {
            if let Ok(in_round) = usage(&mut frame, l, *metric) {
                used.push((*metric, add(before, &in_round)));
            }
        }
        self.facts(n, l, &frame, &frame.values.clone(), Property::Invariant, "after the round");
        self.counted(n, l, &frame, &used);
        Ok(Entry { frame, held: after, used })
    }

    /// Counters of `holds` after a round without an index.
    fn counted(&mut self, n: usize, l: &Loop, frame: &Frame<'a>, used: &[(Metric, Term)]) {
        for hold in &l.holds {
            let Hold::Counter(metric, value) = hold else { continue };
            self.attempt(Property::Counters, |prover| {
                let mut frame = frame.clone();
                frame.cx.settle();
                let claimed = frame.cx.lower(value, &frame.values)?;
                let found = used.iter().find(|(known, _)| known == metric);
                let (_, found) = found.ok_or_else(|| Unsupported(format!("the {metric} of round {n}")))?;
                let goal = and(frame.cx.take_defined().into_iter().chain([eq(&claimed, found)]));
                let claim = format!("`{metric} = {value}` after the round");
                prover.prove(&frame, Property::Counters, &format!("round{n}-{metric}"), &claim, goal);
                Ok(())
            });
        }
    }

    fn indexed(&mut self, n: usize, l: &'a Loop, entry: Entry<'a>) -> Step<Entry<'a>> {
        let index = &l.indices[0];
        if states_vary(self.schedule, l) {
            return Err(Unsupported("a state that differs between ranks is not encoded".into()));
        }
        // Initialisation, where the loop is entered.
        let mut at_start = entry.frame.clone();
        at_start.cx.settle();
        let first = at_start.cx.lower(&index.lo, &at_start.values)?;
        at_start.cx.lower(&index.hi, &at_start.values)?;
        at_start.values.set(index.var.slot, first);
        for state in &l.states {
            let init = at_start.cx.lower(&state.init, &at_start.values)?;
            at_start.values.set(state.var.slot, init);
        }
        self.computable(&mut at_start, &format!("round{n}-first"), "the range of the rounds and the first state");
        self.initialisation(n, l, &at_start, &entry);

        // An arbitrary round.
        let suffix = if n == 0 { String::new() } else { format!(".{n}") };
        let (somewhere, lo, hi) = self.somewhere(l, &suffix)?;
        let mut inside = somewhere.clone();
        let s = inside.cx.constant(&format!("{}{suffix}", index.var.name));
        inside.assume(lt(&s, &hi));
        self.hints(n, l, &mut inside)?;
        inside.cx.settle();
        let next = self.next_values(l, &mut inside, &s)?;
        self.computable(&mut inside, &format!("round{n}-next"), "the next state");
        let (before, after) = (held_set(l, &inside.values), held_set(l, &next));
        let (Some(before), Some(after)) = (before, after) else {
            return Err(Unsupported(format!(
                "round {n} has no `holds(blocks = …)`, so there is no induction over it"
            )));
        };
        if let Some(held) = held_set(l, &somewhere.values) {
            self.distinct(n, &somewhere, &held);
        }
        self.round(n, l, &inside, &before, &after, &[s.clone(), sub(&s, "1")]);
        self.facts(n, l, &inside, &next, Property::Invariant, "after the round");
        self.width(n, l, &inside);
        self.counters(n, l, &at_start, &inside, &next, &entry);
        self.per_round_bounds(n, l, &inside);
        self.no_silent_round(n, l, &inside);

        // The end.
        let mut exit = somewhere;
        exit.assume(eq(&s, &ite(&le(&lo, &hi), &hi, &lo)));
        for (i, clause) in l.ends_with.iter().enumerate() {
            let formula = exit.cx.assume(clause, &exit.values)?;
            self.computable(&mut exit, &format!("round{n}-final{i}"), &format!("`{clause}`"));
            exit.assume(formula);
        }
        let held = held_set(l, &exit.values).unwrap_or(before);
        let used = self.used_at(l, &mut exit);
        Ok(Entry { frame: exit, held, used })
    }

    /// A frame at any value of the index between its bounds, with the facts of `holds`; and the bounds, as terms of this
    /// frame: a term means something only together with the context that made it.
    fn somewhere(&self, l: &'a Loop, suffix: &str) -> Step<(Frame<'a>, Term, Term)> {
        let mut frame = self.base()?;
        let index = &l.indices[0];
        let lo = frame.cx.lower(&index.lo, &frame.values)?;
        let hi = frame.cx.lower(&index.hi, &frame.values)?;
        let s = frame.cx.constant(&format!("{}{suffix}", index.var.name));
        frame.values.set(index.var.slot, s.clone());
        frame.assume(le(&lo, &s));
        frame.assume(or([le(&s, &hi), eq(&s, &lo)]));
        for state in &l.states {
            let name = frame.cx.constant(&format!("{}{suffix}", state.var.name));
            frame.values.set(state.var.slot, name);
        }
        for hold in &l.holds {
            if let Hold::Fact(fact) = hold {
                frame.adopt(fact, l)?;
            }
        }
        frame.cx.settle();
        Ok((frame, lo, hi))
    }

    /// Proves the hints one after the other, and assumes each from then on.
    fn hints(&mut self, n: usize, l: &Loop, frame: &mut Frame<'a>) -> Step<()> {
        for (i, hint) in l.hints.iter().enumerate() {
            let mut before = frame.clone();
            before.cx.settle();
            let hinted = before.cx.lower(hint, &before.values)?;
            let goal = and(before.cx.take_defined().into_iter().chain([hinted]));
            self.prove(
                &before,
                Property::Hints,
                &format!("round{n}-hint{i}"),
                &format!("`{hint}` in every round"),
                goal,
            );
            frame.adopt(hint, l)?;
        }
        Ok(())
    }

    fn next_values(&self, l: &Loop, frame: &mut Frame<'_>, s: &str) -> Step<Values> {
        let mut next = frame.values.clone();
        for state in &l.states {
            let value = frame.cx.lower(&state.next, &frame.values)?;
            next.set(state.var.slot, value);
        }
        next.set(l.indices[0].var.slot, add(s, "1"));
        Ok(next)
    }

    fn initialisation(&mut self, n: usize, l: &Loop, at_start: &Frame<'a>, entry: &Entry<'a>) {
        self.facts(n, l, at_start, &at_start.values.clone(), Property::Initialisation, "before the first round");
        let Some(claimed) = held_set(l, &at_start.values) else { return };
        self.equal_sets(n, at_start, &entry.held, &claimed, Property::Initialisation, "before the first round");
    }

    /// The facts of `holds`, at given values.
    fn facts(&mut self, n: usize, l: &Loop, frame: &Frame<'a>, values: &Values, property: Property, when: &str) {
        for (i, hold) in l.holds.iter().enumerate() {
            let Hold::Fact(fact) = hold else { continue };
            self.attempt(property, |prover| {
                let mut frame = frame.clone();
                frame.cx.settle();
                let fact_holds = frame.cx.lower(fact, values)?;
                let goal = and(frame.cx.take_defined().into_iter().chain([fact_holds]));
                prover.prove(&frame, property, &format!("round{n}-fact{i}"), &format!("`{fact}` {when}"), goal);
                Ok(())
            });
        }
    }

    fn equal_sets(
        &mut self,
        n: usize,
        frame: &Frame<'a>,
        a: &SymbolicSet,
        b: &SymbolicSet,
        property: Property,
        when: &str,
    ) {
        for (small, large, way) in [(a, b, "no less"), (b, a, "no more")] {
            let claim = format!("`holds` names {way} than is held {when}");
            self.subset(frame, small, large, &[], property, &format!("round{n}-{}", way.replace(' ', "-")), &claim);
        }
    }

    /// That every block of `small` is in `large`, one obligation per piece.
    #[allow(clippy::too_many_arguments)]
    fn subset(
        &mut self,
        frame: &Frame<'a>,
        small: &SymbolicSet,
        large: &SymbolicSet,
        at_hand: &[Term],
        property: Property,
        name: &str,
        claim: &str,
    ) {
        for (i, piece) in small.pieces.iter().enumerate() {
            self.attempt(property, |prover| {
                let mut attempts = Vec::new();
                for reach in [Reach::AtHand, Reach::Quotients] {
                    let mut frame = frame.clone();
                    let element = piece.any(&mut frame.cx, ".e")?;
                    frame.assume(element.condition.clone());
                    let mut terms = element.indices.clone();
                    terms.extend(at_hand.iter().cloned());
                    terms.push("0".into());
                    let goal = member(&mut frame.cx, &element.block, large, &terms, reach)?;
                    if goal == "true" {
                        return Ok(());
                    }
                    attempts.push(Attempt::new(&frame.cx, &frame.hypotheses, goal));
                }
                prover.push(property, &format!("{name}-{i}"), claim, attempts);
                Ok(())
            });
        }
    }

    /// Everything about one round.
    fn round(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &Frame<'a>,
        before: &SymbolicSet,
        after: &SymbolicSet,
        at_hand: &[Term],
    ) {
        for t in &l.transfers {
            self.clause_is_sound(t, frame);
        }
        for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
            let sent = SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), &frame.values);
            let name = format!("round{n}-clause{}", t.site.0);
            self.subset(
                frame,
                &sent,
                before,
                at_hand,
                Property::SendsHeld,
                &name,
                &format!("`{}` is held when it is sent", t.blocks),
            );
        }
        self.matching(n, l, frame);
        let arrived = arrivals(l, &frame.values);
        self.fresh(n, frame, &arrived, before);
        self.once(n, frame, &arrived);
        let claim = "`holds` is preserved";
        self.subset(frame, before, after, at_hand, Property::Invariant, &format!("round{n}-kept"), claim);
        self.subset(frame, &arrived, after, at_hand, Property::Invariant, &format!("round{n}-gained"), claim);
        let union = before.clone().union(arrived);
        self.subset(frame, after, &union, at_hand, Property::Invariant, &format!("round{n}-nothing-else"), claim);
    }

    /// Expressions have values, numbers stay near `0..p`, nobody talks to itself.
    fn clause_is_sound(&mut self, t: &Transfer, frame: &Frame<'a>) {
        let name = format!("clause{}", t.site.0);
        self.attempt(Property::Defined, |prover| {
            let mut frame = frame.clone();
            frame.cx.settle();
            let set = SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), &frame.values);
            for piece in &set.pieces {
                let mut inner = frame.clone();
                let element = piece.any(&mut inner.cx, "")?;
                let ranges = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", t.blocks), ranges);
                inner.assume(element.condition.clone());
                let window = prover.windows.of(&piece.part.item);
                let claim = format!("`{}` lies in {window}", piece.part);
                prover.prove(&inner, Property::WrapRange, &name, &claim, window.contains(&element.block));
                let peer = prover.peer(t, &mut inner, &element)?;
                let defined = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", t.peer), defined);
                let window = prover.windows.of(&t.peer);
                let claim = format!("the peer `{}` lies in {window}", t.peer);
                prover.prove(&inner, Property::WrapRange, &name, &claim, window.contains(&peer));
                inner.assume(window.contains(&peer));
                let claim = format!("the peer `{}` is another rank", t.peer);
                prover.prove(&inner, Property::NoSelfMessage, &name, &claim, different_block(&peer, "rank", 2));
            }
            Ok(())
        });
    }

    /// The peer of a message, as declared, not wrapped.
    fn peer(&self, t: &Transfer, frame: &mut Frame<'_>, element: &Element) -> Step<Term> {
        let values = bind(&frame.values, t, element);
        frame.cx.lower(&t.peer, &values)
    }

    /// Sends and receives of a round are paired in the order in which they are declared. Each message of a send
    /// meets the receive with the same clause index at its peer, element by element, and the reverse.
    fn matching(&mut self, n: usize, l: &'a Loop, frame: &Frame<'a>) {
        let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction).collect::<Vec<_>>();
        let (sends, recvs) = (of(Direction::Send), of(Direction::Recv));
        if sends.len() != recvs.len() {
            let why =
                format!("round {n} has {} sends and {} receives, which have no pairing", sends.len(), recvs.len());
            return self.gap(Property::PeerInverse, why);
        }
        for (send, recv) in sends.into_iter().zip(recvs) {
            self.pair(n, l, send, recv, frame);
            self.pair(n, l, recv, send, frame);
        }
    }

    fn pair(&mut self, n: usize, l: &Loop, here: &Transfer, there: &Transfer, frame: &Frame<'a>) {
        if here.blocks.parts.len() != there.blocks.parts.len() || here.each.len() != there.each.len() {
            let why = format!("`{}` and `{}` have different forms", here.blocks, there.blocks);
            return self.gap(Property::SameBlocks, why);
        }
        let mine = SymbolicSet::new(&here.blocks, &here.each, here.when.as_ref(), &frame.values);
        for (i, piece) in mine.pieces.iter().enumerate() {
            self.attempt(Property::PeerInverse, |prover| {
                let mut frame = frame.clone();
                let element = piece.any(&mut frame.cx, "")?;
                frame.assume(element.condition.clone());
                let declared = prover.peer(here, &mut frame, &element)?;
                let peer = frame.cx.constant("peer!");
                frame.assume(within(&peer, "0", "p"));
                frame.assume(prover.windows.of(&here.peer).contains(&declared));
                frame.assume(same_block(&declared, &peer));
                for hint in &l.hints {
                    // It was proved for any rank, so it is true for the peer too.
                    let hint = frame.cx.lower(hint, &frame.seen_by(&peer))?;
                    frame.assume(hint);
                }
                let theirs = SymbolicSet::new(&there.blocks, &there.each, there.when.as_ref(), &frame.seen_by(&peer));
                let met = prover.counterpart(&mut frame, piece, &theirs.pieces[i], &element)?;
                let values = bind(&frame.seen_by(&peer), there, &met);
                let back = frame.cx.lower(&there.peer, &values)?;
                let name = format!("round{n}-clause{}-{i}", here.site.0);
                let claim = format!("the peer of the peer of `{}` is the rank itself", here.peer);
                prover.prove(&frame, Property::PeerInverse, &name, &claim, same_block(&back, "rank"));
                let claim = format!("`{}` meets `{}`, block by block", here.blocks, there.blocks);
                let goal = and([met.condition.clone(), same_block(&met.block, &element.block)]);
                prover.prove(&frame, Property::SameBlocks, &name, &claim, goal);
                Ok(())
            });
        }
    }

    /// The element at the same position on the other side.
    fn counterpart(&self, frame: &mut Frame<'_>, mine: &Piece, theirs: &Piece, element: &Element) -> Step<Element> {
        if mine.indices.len() != theirs.indices.len() {
            return Err(Unsupported(format!("the pairing of `{}` with `{}`", mine.part, theirs.part)));
        }
        let mut indices = Vec::new();
        let (mut my_values, mut their_values) = (mine.values.clone(), theirs.values.clone());
        for ((a, b), value) in mine.indices.iter().zip(&theirs.indices).zip(&element.indices) {
            let (lo_a, lo_b) = (frame.cx.lower(&a.lo, &my_values)?, frame.cx.lower(&b.lo, &their_values)?);
            let same_position = if lo_a == lo_b { value.clone() } else { add(&sub(value, &lo_a), &lo_b) };
            my_values.set(a.var.slot, value.clone());
            their_values.set(b.var.slot, same_position.clone());
            indices.push(same_position);
        }
        theirs.at(&mut frame.cx, &indices)
    }

    /// What arrives is not held yet.
    fn fresh(&mut self, n: usize, frame: &Frame<'a>, arrived: &SymbolicSet, before: &SymbolicSet) {
        for (i, new) in arrived.pieces.iter().enumerate() {
            for (k, old) in before.pieces.iter().enumerate() {
                self.attempt(Property::SingleWrite, |prover| {
                    let mut frame = frame.clone();
                    let (a, b) = (new.any(&mut frame.cx, "")?, old.any(&mut frame.cx, ".held")?);
                    let apart = prover.in_windows(&mut frame, [(new, &a), (old, &b)]);
                    let name = format!("round{n}-new-{i}-{k}");
                    let claim = format!("`{}` is not held yet when it arrives", new.part);
                    prover.prove(
                        &frame,
                        Property::SingleWrite,
                        &name,
                        &claim,
                        different_block(&a.block, &b.block, apart),
                    );
                    Ok(())
                });
            }
        }
    }

    /// Assumes that two elements exist and lie in their windows, which are obligations of their own. Gives how many
    /// times p the two can be apart.
    fn in_windows(&self, frame: &mut Frame<'_>, elements: [(&Piece, &Element); 2]) -> i64 {
        let windows = elements.map(|(piece, element)| {
            let window = self.windows.of(&piece.part.item);
            frame.assume(element.condition.clone());
            frame.assume(window.contains(&element.block));
            window
        });
        if windows[0] == windows[1] && windows[0] != Window::Wide { 0 } else { 3 }
    }

    /// No block arrives twice in a round.
    fn once(&mut self, n: usize, frame: &Frame<'a>, arrived: &SymbolicSet) {
        self.pairwise(
            frame,
            arrived,
            Property::SingleWrite,
            &format!("round{n}-once"),
            "no block arrives twice in a round",
        );
    }

    /// `holds` names no block twice.
    fn distinct(&mut self, n: usize, frame: &Frame<'a>, held: &SymbolicSet) {
        self.pairwise(
            frame,
            held,
            Property::Invariant,
            &format!("round{n}-distinct"),
            "`holds` names no block twice",
        );
        for (i, piece) in held.pieces.iter().enumerate() {
            self.attempt(Property::WrapRange, |prover| {
                let mut frame = frame.clone();
                frame.cx.settle();
                let element = piece.any(&mut frame.cx, "")?;
                let (name, defined) = (format!("round{n}-held{i}"), and(frame.cx.take_defined()));
                prover.prove(
                    &frame,
                    Property::Defined,
                    &name,
                    &format!("`{}` of `holds` has a value", piece.part),
                    defined,
                );
                frame.assume(element.condition.clone());
                let window = prover.windows.of(&piece.part.item);
                let claim = format!("`{}` lies in {window}", piece.part);
                prover.prove(&frame, Property::WrapRange, &name, &claim, window.contains(&element.block));
                Ok(())
            });
        }
    }

    fn pairwise(&mut self, frame: &Frame<'a>, set: &SymbolicSet, property: Property, name: &str, claim: &str) {
        for (i, a) in set.pieces.iter().enumerate() {
            for (k, b) in set.pieces.iter().enumerate().skip(i) {
                if i == k && a.indices.is_empty() {
                    continue;
                }
                self.attempt(property, |prover| {
                    let mut frame = frame.clone();
                    let (x, y) = (a.any(&mut frame.cx, "")?, b.any(&mut frame.cx, ".other")?);
                    let apart = prover.in_windows(&mut frame, [(a, &x), (b, &y)]);
                    if i == k {
                        frame.assume(other_index(&x, &y));
                    }
                    prover.prove(
                        &frame,
                        property,
                        &format!("{name}-{i}-{k}"),
                        claim,
                        different_block(&x.block, &y.block, apart),
                    );
                    Ok(())
                });
            }
        }
    }

    /// Every intermediate result of the clauses fits the machine.
    fn width(&mut self, n: usize, l: &'a Loop, frame: &Frame<'a>) {
        for t in &l.transfers {
            self.attempt(Property::MachineWidth, |prover| {
                let set = SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), &frame.values);
                for piece in &set.pieces {
                    let mut inner = frame.clone();
                    inner.cx.settle();
                    let element = piece.any(&mut inner.cx, "")?;
                    let name = format!("round{n}-clause{}", t.site.0);
                    prover.fits(&mut inner, &name, &format!("`{}`", piece.part));
                    inner.assume(element.condition.clone());
                    prover.peer(t, &mut inner, &element)?;
                    prover.fits(&mut inner, &format!("{name}-peer"), &format!("the peer `{}`", t.peer));
                }
                Ok(())
            });
        }
    }

    /// Counters of `holds`: right at the start, and advanced by what a round uses.
    fn counters(
        &mut self,
        n: usize,
        l: &'a Loop,
        at_start: &Frame<'a>,
        inside: &Frame<'a>,
        next: &Values,
        entry: &Entry<'a>,
    ) {
        for hold in &l.holds {
            let Hold::Counter(metric, value) = hold else { continue };
            self.attempt(Property::Counters, |prover| {
                let mut start = at_start.clone();
                start.cx.settle();
                let first = start.cx.lower(value, &start.values)?;
                let defined = and(start.cx.take_defined());
                let used =
                    entry.used(*metric).ok_or_else(|| Unsupported(format!("the {metric} of the rounds before")))?;
                let claim = format!("`{metric} = {value}` before the first round");
                prover.prove(
                    &start,
                    Property::Counters,
                    &format!("round{n}-{metric}-start"),
                    &claim,
                    and([defined, eq(&first, &used)]),
                );
                let mut frame = inside.clone();
                frame.cx.settle();
                let (now, then) = (frame.cx.lower(value, &frame.values)?, frame.cx.lower(value, next)?);
                let defined = and(frame.cx.take_defined());
                let used = match usage(&mut frame, l, *metric) {
                    Ok(used) => used,
                    Err(_) if matches!(metric, Metric::BlocksSent | Metric::BlocksReceived) => {
                        prover.balance(n, l, inside)?;
                        growth(&mut frame, l, next)?
                    }
                    Err(unsupported) => return Err(unsupported),
                };
                let claim = format!("`{metric} = {value}` advances by what a round uses");
                prover.prove(
                    &frame,
                    Property::Counters,
                    &format!("round{n}-{metric}-step"),
                    &claim,
                    and([defined, eq(&then, &add(&now, &used))]),
                );
                Ok(())
            });
        }
    }

    /// A rank sends as many blocks as it receives: then what it sends is what it gains.
    fn balance(&mut self, n: usize, l: &'a Loop, inside: &Frame<'a>) -> Step<()> {
        let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction);
        for (send, recv) in of(Direction::Send).zip(of(Direction::Recv)) {
            let mut frame = inside.clone();
            let mine = SymbolicSet::new(&send.blocks, &send.each, send.when.as_ref(), &frame.values);
            let theirs = SymbolicSet::new(&recv.blocks, &recv.each, recv.when.as_ref(), &frame.values);
            for (i, (a, b)) in mine.pieces.iter().zip(&theirs.pieces).enumerate() {
                let element = a.any(&mut frame.cx, "")?;
                let other = self.counterpart(&mut frame, a, b, &element)?;
                let goal = eq(&element.condition, &other.condition);
                let name = format!("round{n}-balance{}-{i}", send.site.0);
                self.prove(&frame, Property::Counters, &name, "a rank sends as many blocks as it receives", goal);
            }
        }
        Ok(())
    }

    /// What each metric with a counter has used up where a loop ends.
    fn used_at(&mut self, l: &Loop, exit: &mut Frame<'a>) -> Vec<(Metric, Term)> {
        let mut used = Vec::new();
        for hold in &l.holds {
            if let Hold::Counter(metric, value) = hold
                && let Ok(term) = exit.cx.lower(value, &exit.values)
            {
                used.push((*metric, term));
            }
        }
        used
    }

    fn per_round_bounds(&mut self, n: usize, l: &'a Loop, inside: &Frame<'a>) {
        for (i, bound) in self.schedule.bounds.iter().enumerate() {
            if bound.scope != Scope::PerRound(n) {
                continue;
            }
            self.attempt(Property::Bounds, |prover| {
                let mut frame = inside.clone();
                frame.cx.settle();
                let value = frame.cx.lower(&bound.value, &frame.values)?;
                let defined = and(frame.cx.take_defined());
                let used = match usage(&mut frame, l, bound.metric) {
                    Ok(used) => used,
                    Err(_) if !bound.exact => at_most(&mut frame, l, bound.metric)?,
                    Err(unsupported) => return Err(unsupported),
                };
                let goal = and([defined, compare(bound, &used, &value)]);
                prover.prove(&frame, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
                Ok(())
            });
        }
    }

    /// A round without messages is no round; an exact number of rounds needs a message in each.
    fn no_silent_round(&mut self, n: usize, l: &'a Loop, inside: &Frame<'a>) {
        let exact = |bound: &&Bound| bound.metric == Metric::Rounds && bound.exact;
        if self.schedule.bounds.iter().find(exact).is_none() {
            return;
        }
        self.attempt(Property::Rounds, |prover| {
            let mut frame = inside.clone();
            frame.assume(eq("rank", "0"));
            let mut some = Vec::new();
            for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
                let set = SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), &frame.values);
                for piece in &set.pieces {
                    let mut values = piece.values.clone();
                    let mut first = Vec::new();
                    for index in &piece.indices {
                        let lo = frame.cx.lower(&index.lo, &values)?;
                        values.set(index.var.slot, lo.clone());
                        first.push(lo);
                    }
                    some.push(piece.at(&mut frame.cx, &first)?.condition);
                }
            }
            prover.prove(
                &frame,
                Property::Rounds,
                &format!("round{n}-not-silent"),
                "rank 0 sends in every round",
                or(some),
            );
            Ok(())
        });
    }

    /// After the last round: the contract, the bounds on the whole run.
    fn end(&mut self, entry: Entry<'a>) {
        self.attempt(Property::Coverage, |prover| {
            let mut frame = entry.frame.clone();
            let (goal, claim) = match size(&mut frame, &entry.held) {
                // `holds` names no block twice, so p of them are all of them.
                Ok(size) => (eq(&size, "p"), "p different blocks are held after the last round"),
                Err(_) => {
                    let block = frame.cx.constant("block!");
                    frame.assume(within(&block, "0", "p"));
                    let goal = member(&mut frame.cx, &block, &entry.held, &["0".into()], Reach::Quotients)?;
                    (goal, "every block is held after the last round")
                }
            };
            prover.prove(&frame, Property::Coverage, "every-block", claim, goal);
            Ok(())
        });
        for (i, bound) in self.schedule.bounds.iter().enumerate() {
            if matches!(bound.scope, Scope::PerRound(_)) {
                continue;
            }
            self.attempt(Property::Bounds, |prover| {
                let mut frame = entry.frame.clone();
                frame.cx.settle();
                let value = frame.cx.lower(&bound.value, &frame.values)?;
                let defined = and(frame.cx.take_defined());
                let used = match bound.metric {
                    Metric::Rounds => prover.rounds(&mut frame)?,
                    metric => entry
                        .used(metric)
                        .ok_or_else(|| Unsupported(format!("the bound `{bound}` without `holds({metric} = …)`")))?,
                };
                prover.prove(
                    &frame,
                    Property::Bounds,
                    &format!("bound{i}"),
                    &format!("`{bound}`"),
                    and([defined, compare(bound, &used, &value)]),
                );
                Ok(())
            });
        }
    }
}

impl Prover<'_> {
    /// The number of rounds of all loops, in the terms of one frame.
    fn rounds(&self, frame: &mut Frame<'_>) -> Step<Term> {
        let mut total = "0".to_string();
        for l in &self.schedule.loops {
            let Some(index) = l.indices.first() else {
                total = add(&total, "1");
                continue;
            };
            let lo = frame.cx.lower(&index.lo, &frame.values)?;
            let hi = frame.cx.lower(&index.hi, &frame.values)?;
            total = add(&total, &ite(&le(&lo, &hi), &sub(&hi, &lo), "0"));
        }
        Ok(total)
    }
}

fn compare(bound: &Bound, used: &str, value: &str) -> Term {
    if bound.exact { eq(used, value) } else { le(used, value) }
}

/// The values of a clause's own indices.
fn bind(values: &Values, t: &Transfer, element: &Element) -> Values {
    let mut values = values.clone();
    t.each.iter().zip(&element.indices).for_each(|(index, term)| values.set(index.var.slot, term.clone()));
    values
}

fn held_set(l: &Loop, values: &Values) -> Option<SymbolicSet> {
    l.holds.iter().find_map(|hold| match hold {
        Hold::Blocks(set) => Some(SymbolicSet::new(set, &[], None, values)),
        _ => None,
    })
}

fn arrivals(l: &Loop, values: &Values) -> SymbolicSet {
    let recvs = l.transfers.iter().filter(|t| t.direction == Direction::Recv);
    recvs.fold(SymbolicSet { pieces: vec![] }, |all, t| {
        all.union(SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), values))
    })
}

/// Whether a state's value may differ between ranks.
fn states_vary(schedule: &Schedule, l: &Loop) -> bool {
    fn mentions(schedule: &Schedule, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| match e {
            Expr::Var(v) => found |= v.slot == RANK,
            Expr::Call(_, index, _) => found |= mentions(schedule, &schedule.functions[*index].body),
            _ => {}
        });
        found
    }
    l.states.iter().any(|state| mentions(schedule, &state.init) || mentions(schedule, &state.next))
}

/// What one rank uses of a metric in a round, exactly; only where no clause has indices of its own.
fn usage(frame: &mut Frame<'_>, l: &Loop, metric: Metric) -> Step<Term> {
    let direction = match metric {
        Metric::MessagesSent | Metric::BlocksSent => Direction::Send,
        Metric::MessagesReceived | Metric::BlocksReceived => Direction::Recv,
        _ => return Err(Unsupported(format!("{metric}"))),
    };
    let mut total = "0".to_string();
    for t in l.transfers.iter().filter(|t| t.direction == direction) {
        if !t.each.is_empty() {
            return Err(Unsupported(format!("the sum of {metric} over `for`")));
        }
        let blocks = blocks_of(frame, t)?;
        let amount = match metric {
            Metric::MessagesSent | Metric::MessagesReceived => ite(&lt("0", &blocks), "1", "0"),
            _ => blocks,
        };
        total = add(&total, &amount);
    }
    Ok(total)
}

/// How many blocks a clause without indices of its own carries.
fn blocks_of(frame: &mut Frame<'_>, t: &Transfer) -> Step<Term> {
    let set = SymbolicSet::new(&t.blocks, &[], None, &frame.values);
    let mut blocks = "0".to_string();
    for piece in &set.pieces {
        blocks = add(&blocks, &piece.count(&mut frame.cx, &piece.values)?);
    }
    match &t.when {
        Some(when) => {
            let when = frame.cx.lower(when, &frame.values)?;
            Ok(ite(&when, &blocks, "0"))
        }
        None => Ok(blocks),
    }
}

/// An upper bound on the messages of a round: one for each value of the clause's indices.
fn at_most(frame: &mut Frame<'_>, l: &Loop, metric: Metric) -> Step<Term> {
    let direction = match metric {
        Metric::MessagesSent => Direction::Send,
        Metric::MessagesReceived => Direction::Recv,
        _ => return Err(Unsupported(format!("the sum of {metric} over `for`"))),
    };
    let mut total = "0".to_string();
    for t in l.transfers.iter().filter(|t| t.direction == direction) {
        let mut count = "1".to_string();
        for index in &t.each {
            let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
            let size = ite(&le(&lo, &hi), &sub(&hi, &lo), "0");
            count = mul(&count, &size);
        }
        total = add(&total, &count);
    }
    Ok(total)
}

/// How many blocks a set has, where it names none twice.
fn size(frame: &mut Frame<'_>, set: &SymbolicSet) -> Step<Term> {
    let mut total = "0".to_string();
    for piece in &set.pieces {
        if piece.guard.is_some() {
            return Err(Unsupported("the size of a guarded set".into()));
        }
        total = add(&total, &piece.count(&mut frame.cx, &piece.values)?);
    }
    Ok(total)
}

/// How many blocks are gained in a round: `holds` names none twice and is met exactly, so sizes subtract.
fn growth(frame: &mut Frame<'_>, l: &Loop, next: &Values) -> Step<Term> {
    let missing = || Unsupported("`holds(blocks = …)`".into());
    let (now, then) = (held_set(l, &frame.values).ok_or_else(missing)?, held_set(l, next).ok_or_else(missing)?);
    Ok(sub(&size(frame, &then)?, &size(frame, &now)?))
}
