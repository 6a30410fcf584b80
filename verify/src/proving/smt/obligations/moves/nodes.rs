//! All-to-alls that look at nodes: rounds without an index, and inner all-to-alls by their contract.
//!
//! What a rank holds is a formula on a block, which every round changes: what is sent goes, what arrives comes. So no
//! `holds` is needed; where a round has one, it is proved to say the same, and takes the formula's place. In an inner
//! all-to-all every member of a group brings blocks for every member, and holds afterwards, in the place of those that
//! it brought for others, those that others brought for it. Nothing more is assumed of it; its own proof shows that it
//! does so.

use super::super::{ProofContext, Prover, Step};
use super::seats::{PlacedSet, SeatedBlock, same};
use crate::proving::smt::context::{Context, NoEncoding, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, LANES, LOCAL, NODE, NODES, PPN};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, implies, not, or, sub, within};
use roundel_spec::Direction;
use roundel_spec::blocks::Index;
use roundel_spec::expr::{Binary, Expr, Var};
use roundel_spec::schedule::{Group, Hold, Loop, Transfer, Within};

/// What this rank holds.
#[derive(Clone)]
enum PlacedMemory {
    /// The blocks that come from it.
    OwnSources,
    /// What `holds` says.
    Declared(Vec<PlacedSet>),
    /// What it held and did not send, and what arrived.
    After { before: Box<PlacedMemory>, sent: Vec<PlacedSet>, arrived: Vec<PlacedSet> },
}

impl PlacedMemory {
    fn has(&self, cx: &mut Context<'_>, block: &SeatedBlock) -> Step<Term> {
        match self {
            PlacedMemory::OwnSources => Ok(same(&block.source, &here())),
            PlacedMemory::Declared(sets) => any_has(sets, cx, block),
            PlacedMemory::After { before, sent, arrived } => {
                let kept = and([before.has(cx, block)?, not(&any_has(sent, cx, block)?)]);
                Ok(or([kept, any_has(arrived, cx, block)?]))
            }
        }
    }
}

fn any_has(sets: &[PlacedSet], cx: &mut Context<'_>, block: &SeatedBlock) -> Step<Term> {
    Ok(or(sets.iter().map(|set| set.has(cx, block)).collect::<Step<Vec<Term>>>()?))
}

fn here() -> CyclicTerm {
    CyclicTerm { number: "node".into(), seat: "local".into() }
}

/// The members of a node or a lane, and what they bring for each other.
struct InnerGroup<'w> {
    clause: &'w Within,
    /// The variable of the member that something is brought for.
    to: Var,
    /// The variable that tells members apart.
    member: Var,
    /// The variable that has its value on the rank itself.
    own: Var,
    /// The number of members.
    size: Expr,
    /// When the rank takes part.
    runs: Option<Expr>,
}

impl<'w> InnerGroup<'w> {
    fn new(clause: &'w Within, slots: usize) -> Step<Self> {
        let to = clause.to.clone().ok_or_else(|| NoEncoding::new("an inner all-to-all without `to`".into()))?;
        let var = |name: &str, slot| Var { name: name.into(), slot };
        let (member, own, size) = match clause.group {
            Group::Node => (var("local", LOCAL), var("local", slots), Expr::var("ppn", PPN)),
            _ => (var("node", NODE), var("node", slots + 1), Expr::var("nodes", NODES)),
        };
        // On lanes, ranks from `lanes` on take no part.
        let lane = Expr::binary(Binary::Lt, Expr::var("local", LOCAL), Expr::var("lanes", LANES));
        let takes_part = (clause.group == Group::Lane).then_some(lane);
        let runs = takes_part.into_iter().chain(clause.when.clone()).reduce(both);
        Ok(InnerGroup { clause, to, member, own, size, runs })
    }

    fn sets(&self, var: &Var, guard: Option<&Expr>, values: &TermValues) -> Step<Vec<PlacedSet>> {
        let index = Index { var: var.clone(), lo: 0.into(), hi: self.size.clone() };
        PlacedSet::all(&self.clause.brings, &[index], guard, values)
    }

    /// That a variable is not the rank's own value, where the collective runs.
    fn but_own(&self, var: &Var) -> Expr {
        let other = Expr::binary(Binary::Ne, Expr::Var(var.clone()), Expr::Var(self.own.clone()));
        self.runs.clone().map_or(other.clone(), |runs| both(runs, other))
    }

    /// What a rank brings for all members.
    fn brought(&self, values: &TermValues) -> Step<Vec<PlacedSet>> {
        self.sets(&self.to, self.runs.as_ref(), values)
    }

    /// What a rank brings for the others.
    fn sent(&self, values: &TermValues) -> Step<Vec<PlacedSet>> {
        self.sets(&self.to, Some(&self.but_own(&self.to)), values)
    }

    /// What a rank brings for one member.
    fn for_member(&self, values: &TermValues, member: &CyclicTerm) -> Step<Vec<PlacedSet>> {
        let values = values.with(self.to.slot, self.index(member));
        PlacedSet::all(&self.clause.brings, &[], self.runs.as_ref(), &values)
    }

    /// What the others bring for a rank, of which these are the values.
    fn arrived(&self, values: &TermValues, rank: &CyclicTerm) -> Step<Vec<PlacedSet>> {
        let values = values.with(self.to.slot, self.index(rank)).with(self.own.slot, self.index(rank));
        self.sets(&self.member, Some(&self.but_own(&self.member)), &values)
    }

    /// Which member a rank is.
    fn index(&self, rank: &CyclicTerm) -> Term {
        if self.clause.group == Group::Node { rank.seat.clone() } else { rank.number.clone() }
    }

    /// That a rank is in this rank's group.
    fn shared_with(&self, rank: &CyclicTerm) -> Term {
        if self.clause.group == Group::Node { eq(&rank.number, "node") } else { eq(&rank.seat, "local") }
    }
}

fn both(a: Expr, b: Expr) -> Expr {
    Expr::binary(Binary::And, a, b)
}

impl<'a> Prover<'a> {
    /// The obligations of an all-to-all that looks at nodes.
    pub(super) fn all_to_all_on_nodes(&mut self) {
        self.domain();
        self.divided_into_parts();
        self.rotation();
        let run = self.base().and_then(|frame| {
            let mut held = PlacedMemory::OwnSources;
            for n in 0..self.schedule.loops.len() {
                held = self.placed_round(n, &frame, held)?;
            }
            Ok((frame, held))
        });
        match run {
            Ok((frame, held)) => {
                self.all_arrived(&frame, &held);
                self.bounds_on_nodes(&frame);
            }
            Err(construct) => self.not_encoded(Property::Invariant, construct),
        }
    }

    /// Constructs that the encoding does not know.
    pub(super) fn placed_out_of_reach(&self) -> Option<String> {
        let encoded = |within: &Within| matches!(within.group, Group::Node | Group::Lane) && within.members.is_none();
        if !self.schedule.within().all(encoded) {
            return Some("all-to-alls inside of other groups than nodes and lanes are not encoded".into());
        }
        let indexed = self.schedule.loops.iter().any(|l| !l.indices.is_empty() || !l.states.is_empty());
        indexed.then(|| "rounds with an index, of an all-to-all that looks at nodes, are not encoded".into())
    }

    /// One round: its messages, then its inner all-to-alls.
    fn placed_round(&mut self, n: usize, frame: &ProofContext<'a>, before: PlacedMemory) -> Step<PlacedMemory> {
        let l = &self.schedule.loops[n];
        if l.holds.iter().any(|hold| matches!(hold, Hold::Counter(..))) {
            return Err(NoEncoding::new("a counter of `holds`, of an all-to-all that looks at nodes,".into()));
        }
        let mut frame = frame.clone();
        self.hints(n, l, &mut frame)?;
        let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction).collect::<Vec<_>>();
        let (sends, recvs) = (of(Direction::Send), of(Direction::Recv));
        if sends.len() != recvs.len() {
            return Err(NoEncoding::new(format!("a round with {} sends and {} receives", sends.len(), recvs.len())));
        }
        for (send, recv) in sends.iter().zip(&recvs) {
            for (one, other) in [(send, recv), (recv, send)] {
                self.peer_is_rank(n, one, &frame);
                self.placed_met(n, one, other, &frame);
            }
        }
        let carried = |all: &[&Transfer]| {
            let sets = all.iter().map(|t| PlacedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values));
            sets.collect::<Step<Vec<_>>>().map(|sets| sets.concat())
        };
        let mut held = before;
        if !sends.is_empty() {
            held = self.exchanged(&format!("round{n}"), &frame, held, carried(&sends)?, carried(&recvs)?)?;
        }
        for clause in &l.within {
            held = self.inner_exchange(n, clause, &frame, held)?;
        }
        self.declared_on_nodes(n, l, &frame, held)
    }

    /// What is sent is held, what arrives is not; each goes one way.
    fn exchanged(
        &mut self,
        name: &str,
        frame: &ProofContext<'a>,
        before: PlacedMemory,
        sent: Vec<PlacedSet>,
        arrived: Vec<PlacedSet>,
    ) -> Step<PlacedMemory> {
        self.by_seat(&format!("{name}-send"), &sent, frame, "is sent")?;
        self.by_seat(&format!("{name}-recv"), &arrived, frame, "arrives")?;
        self.are_held(&format!("{name}-send"), frame, &before, &sent, "sent")?;
        for (i, one) in arrived.iter().enumerate() {
            let mut inner = frame.clone();
            let block = SeatedBlock::any(self, &mut inner);
            let there = one.has(&mut inner.cx, &block)?;
            let goal = not(&and([there, before.has(&mut inner.cx, &block)?]));
            let claim = format!("`{}` is not held yet when it arrives", one.text);
            self.prove(&inner, Property::SingleWrite, &format!("{name}-new{i}"), &claim, goal);
        }
        Ok(PlacedMemory::After { before: Box::new(before), sent, arrived })
    }

    fn are_held(
        &mut self,
        name: &str,
        frame: &ProofContext<'a>,
        before: &PlacedMemory,
        sets: &[PlacedSet],
        what: &str,
    ) -> Step<()> {
        for (i, one) in sets.iter().enumerate() {
            let mut inner = frame.clone();
            let block = SeatedBlock::any(self, &mut inner);
            let goal = implies(&one.has(&mut inner.cx, &block)?, &before.has(&mut inner.cx, &block)?);
            let claim = format!("`{}` is held when it is {what}", one.text);
            self.prove(&inner, Property::SendsHeld, &format!("{name}{i}"), &claim, goal);
        }
        Ok(())
    }

    /// An inner all-to-all, by its contract.
    fn inner_exchange(
        &mut self,
        n: usize,
        clause: &'a Within,
        frame: &ProofContext<'a>,
        before: PlacedMemory,
    ) -> Step<PlacedMemory> {
        let group = InnerGroup::new(clause, self.schedule.slots)?;
        let name = format!("round{n}-clause{}", clause.site.number);
        // Also what it brings for itself, it holds.
        let brought = group.brought(&frame.values)?;
        self.are_held(&format!("{name}-brings"), frame, &before, &brought, "brought")?;
        self.by_seat(&format!("{name}-brings"), &brought, frame, "is brought")?;
        self.all_take_part(&name, clause, frame)?;
        self.brought_arrives(&name, &group, frame)?;
        let (sent, arrived) = (group.sent(&frame.values)?, group.arrived(&frame.values, &here())?);
        self.exchanged(&name, frame, before, sent, arrived)
    }

    /// What a rank brings for another member arrives there.
    fn brought_arrives(&mut self, name: &str, group: &InnerGroup<'_>, frame: &ProofContext<'a>) -> Step<()> {
        let mut frame = frame.clone();
        let (other, block) = (self.any_rank(&mut frame, "member!"), SeatedBlock::any(self, &mut frame));
        frame.assume(group.shared_with(&other));
        frame.assume(not(&same(&other, &here())));
        let sent = group.for_member(&frame.values, &other)?;
        let arrived = group.arrived(&frame.seen_at(&other), &other)?;
        let goal = implies(&any_has(&sent, &mut frame.cx, &block)?, &any_has(&arrived, &mut frame.cx, &block)?);
        let claim = "what a rank brings for another member arrives there";
        self.prove(&frame, Property::PeerInverse, &format!("{name}-arrives"), claim, goal);
        Ok(())
    }

    /// The condition of an inner all-to-all is the same for all members of a group.
    fn all_take_part(&mut self, name: &str, clause: &Within, frame: &ProofContext<'a>) -> Step<()> {
        let Some(when) = &clause.when else { return Ok(()) };
        let mut frame = frame.clone();
        frame.cx.settle();
        let other = self.any_rank(&mut frame, "member!");
        frame.assume(InnerGroup::new(clause, self.schedule.slots)?.shared_with(&other));
        let (mine, theirs) = (frame.cx.lower(when, &frame.values)?, frame.cx.lower(when, &frame.seen_at(&other))?);
        let goal = and(frame.cx.take_defined().into_iter().chain([eq(&mine, &theirs)]));
        let claim = format!("`{when}` is the same for all members of the group");
        self.prove(&frame, Property::PeerInverse, &format!("{name}-together"), &claim, goal);
        Ok(())
    }

    /// Where a round has `holds(blocks = …)`, it says what is held.
    fn declared_on_nodes(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &ProofContext<'a>,
        held: PlacedMemory,
    ) -> Step<PlacedMemory> {
        self.facts(n, l, frame, &frame.values.clone(), Property::Invariant, "after the round");
        let mut sets = l.holds.iter().filter_map(|hold| match hold {
            Hold::Blocks(set) => Some(set),
            _ => None,
        });
        let set = match (sets.next(), sets.next()) {
            (None, _) => return Ok(held),
            (Some(set), None) => set,
            _ => return Err(NoEncoding::new("more than one `holds(blocks = …)`".into())),
        };
        let declared = PlacedSet::all(set, &[], None, &frame.values)?;
        self.by_seat(&format!("round{n}-holds"), &declared, frame, "is named")?;
        let mut inner = frame.clone();
        let block = SeatedBlock::any(self, &mut inner);
        let goal = eq(&any_has(&declared, &mut inner.cx, &block)?, &held.has(&mut inner.cx, &block)?);
        let claim = "`holds` names what is held after the round, no less and no more";
        self.prove(&inner, Property::Invariant, &format!("round{n}-holds"), claim, goal);
        Ok(PlacedMemory::Declared(declared))
    }

    /// After the last round a rank holds all blocks for it.
    fn all_arrived(&mut self, frame: &ProofContext<'a>, held: &PlacedMemory) {
        self.attempt(Property::Coverage, |prover| {
            let mut frame = frame.clone();
            let block = SeatedBlock::any(prover, &mut frame);
            frame.assume(same(&block.destination, &here()));
            let goal = held.has(&mut frame.cx, &block)?;
            let claim = "every block for the rank is held after the last round";
            prover.prove(&frame, Property::Coverage, "every-block", claim, goal);
            Ok(())
        });
    }

    /// The peer of every message is another rank; two messages of a clause have different peers, so that those of a
    /// pair of ranks meet in the order of clauses.
    fn peer_is_rank(&mut self, n: usize, t: &Transfer, frame: &ProofContext<'a>) {
        let name = format!("round{n}-clause{}", t.site.number);
        self.attempt(Property::Defined, |prover| {
            for one in PlacedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)? {
                let mut inner = frame.clone();
                let (terms, element) = one.any(&mut inner.cx, "")?;
                inner.assume(element.condition.clone());
                inner.cx.settle();
                let peer = inner.cx.cell(&t.peer, &bound(&inner.values, t, &terms))?;
                let defined = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", t.peer), defined);
                prover.fits(&mut inner, &format!("{name}-peer"), &format!("the peer `{}`", t.peer));
                let seated = prover.seated(&mut inner.cx, &peer);
                let near = and([within(&peer.number, "(- nodes)", "(* 2 nodes)"), seated]);
                let claim = format!("the peer `{}` is a rank, on a node in [-nodes, 2nodes)", t.peer);
                prover.prove(&inner, Property::WrapRange, &format!("{name}-peer"), &claim, near);
                let claim = format!("the peer `{}` is another rank", t.peer);
                let other = prover.wheel.different(&peer, &here(), 2);
                prover.prove(&inner, Property::NoSelfMessage, &name, &claim, other);
                if t.each.is_empty() {
                    continue;
                }
                let (others, twin) = one.any(&mut inner.cx, ".other")?;
                let second = inner.cx.cell(&t.peer, &bound(&inner.values, t, &others))?;
                let each = t.each.len();
                let equal = and(terms[..each].iter().zip(&others[..each]).map(|(a, b)| eq(a, b)));
                let goal = or([not(&twin.condition), equal, prover.wheel.different(&peer, &second, 3)]);
                let claim = format!("messages of one clause have different peers `{}`", t.peer);
                prover.prove(&inner, Property::PeerInverse, &format!("{name}-peers"), &claim, goal);
            }
            Ok(())
        });
    }

    /// Every block of a message has its place in the message of the peer: the receive whose peer is this rank has the
    /// same block at the same position.
    fn placed_met(&mut self, n: usize, mine: &Transfer, theirs: &Transfer, frame: &ProofContext<'a>) {
        self.attempt(Property::PeerInverse, |prover| {
            let ours = PlacedSet::all(&mine.blocks, &mine.each, mine.when.as_ref(), &frame.values)?;
            for (i, one) in ours.iter().enumerate() {
                let mut frame = frame.clone();
                let (terms, element) = one.any(&mut frame.cx, "")?;
                frame.assume(element.condition.clone());
                let declared = frame.cx.cell(&mine.peer, &bound(&frame.values, mine, &terms))?;
                let peer = prover.any_rank(&mut frame, "peer!");
                frame.assume(prover.wheel.same(&declared, &peer));
                let seen = frame.seen_at(&peer);
                let counterparts = PlacedSet::all(&theirs.blocks, &theirs.each, theirs.when.as_ref(), &seen)?;
                let Some(other) = counterparts.get(i).filter(|other| other.has_form_of(one)) else {
                    let (a, b) = (&mine.blocks, &theirs.blocks);
                    return Err(NoEncoding::new(format!(
                        "the pairing of `{a}` and `{b}`, which have different forms,"
                    )));
                };
                let mut at = prover.index_of_message(&mut frame, theirs, &seen)?;
                let (mut my_values, mut their_values) =
                    (bound(&frame.values, mine, &terms), bound(&seen, theirs, &at));
                let over = one.indices[one.each().len()..].iter().zip(&other.indices[other.each().len()..]);
                for ((a, b), term) in over.zip(&terms[one.each().len()..]) {
                    let (lo_a, lo_b) = (frame.cx.lower(&a.lo, &my_values)?, frame.cx.lower(&b.lo, &their_values)?);
                    let position = if lo_a == lo_b { term.clone() } else { add(&sub(term, &lo_a), &lo_b) };
                    my_values.set(a.var.slot, term.clone());
                    their_values.set(b.var.slot, position.clone());
                    at.push(position);
                }
                let met = other.at(&mut frame.cx, &at)?;
                let back = frame.cx.cell(&theirs.peer, &bound(&seen, theirs, &at))?;
                let name = format!("round{n}-clause{}-{i}", mine.site.number);
                let claim = format!("the peer of the peer of `{}` is the rank itself", mine.peer);
                prover.prove(&frame, Property::PeerInverse, &name, &claim, prover.wheel.same(&back, &here()));
                let ends = element.ends.iter().zip(&met.ends);
                let equal = ends.filter_map(|(a, b)| Some(prover.wheel.same(a.as_ref()?, b.as_ref()?)));
                let goal = and(std::iter::once(met.condition.clone()).chain(equal));
                let claim = format!("`{}` meets `{}`, block by block", mine.blocks, theirs.blocks);
                prover.prove(&frame, Property::SameBlocks, &name, &claim, goal);
            }
            Ok(())
        });
    }

    /// The indices of a clause at which its peer is this rank; wrong ones only make a proof fail.
    fn index_of_message(&self, frame: &mut ProofContext<'_>, t: &Transfer, seen: &TermValues) -> Step<Vec<Term>> {
        let [index] = t.each.as_slice() else {
            return match t.each.len() {
                0 => Ok(vec![]),
                _ => Err(NoEncoding::new("a clause with several indices".into())),
            };
        };
        let (number, seat) = frame.cx.coordinates(&t.peer)?;
        let slot = index.var.slot;
        let values = seen.with(slot, "0");
        let solve = |side: &Expr| roundel_spec::affine::affine(side, slot).filter(|_| side.mentions(slot));
        if let Some((base, Expr::Int(step @ (1 | -1)))) = solve(&seat) {
            let way = sub("local", &frame.cx.lower(&base, &values)?);
            return Ok(vec![if step == 1 { way } else { sub("0", &way) }]);
        }
        if let Some((base, Expr::Int(step @ (1 | -1)))) = solve(&number) {
            let way = sub("node", &frame.cx.lower(&base, &values)?);
            let way = if step == 1 { way } else { sub("0", &way) };
            // Once around, if it is not in range otherwise.
            let (lo, hi) = (frame.cx.lower(&index.lo, &values)?, frame.cx.lower(&index.hi, &values)?);
            let turned = [add(&way, "nodes"), sub(&way, "nodes")];
            let inside = |x: &str| within(x, &lo, &hi);
            let chosen =
                turned.iter().rfold(way.clone(), |found, x| crate::proving::smt::term::ite(&inside(x), x, &found));
            return Ok(vec![crate::proving::smt::term::ite(&inside(&way), &way, &chosen)]);
        }
        Err(NoEncoding::new(format!("`for {index}`, which the peer `{}` does not tell,", t.peer)))
    }
}

/// The values with the indices of a clause.
pub(super) fn bound(values: &TermValues, t: &Transfer, terms: &[Term]) -> TermValues {
    let mut values = values.clone();
    t.each.iter().zip(terms).for_each(|(index, term)| values.set(index.var.slot, term.clone()));
    values
}
