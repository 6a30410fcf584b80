//! The intermediate representation: a declaration as plain data.
//!
//! A schedule is a sequence of [`Loop`]s of rounds. Nothing here has a position in a source file; a [`SchedulePart`]
//! names a part of the schedule, and code that has the source maps it to a position.

pub mod affine;
pub mod arguments;
pub mod blocks;
pub mod canonical;
pub mod contract;
mod declare;
pub mod expr;
pub mod message;
pub mod reference;
pub mod reverse;
pub mod similar;
pub mod text;

use crate::schedule::arguments::Arguments;
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Binary, Builtin, Expr, ListVar, PLACEMENT_SLOTS, Unary, Var, slot};
use crate::schedule::message::{Action, Direction, Line, Site};
pub use crate::schedule::reverse::{CombineSide, ReverseOf};
use std::fmt;

/// The parameter that names the root.
pub const ROOT: &str = "root";

/// The values a parameter may take: `lo..` or `lo..=hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    /// The smallest value.
    pub lo: i64,
    /// The largest value, if there is one.
    pub hi: Option<i64>,
}

impl Domain {
    /// Whether `value` lies in the domain.
    pub fn contains(&self, value: i64) -> bool {
        self.lo <= value && self.hi.is_none_or(|hi| value <= hi)
    }

    /// The largest value within a limit.
    pub fn up_to(&self, limit: i64) -> i64 {
        self.hi.map_or(limit, |hi| hi.min(limit))
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hi {
            Some(hi) => write!(f, "{}..={hi}", self.lo),
            None => write!(f, "{}..", self.lo),
        }
    }
}

/// A parameter that is a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    /// Its variable.
    pub var: Var,
    /// Its domain.
    pub domain: Domain,
}

/// A parameter that is a list of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListParameter {
    /// Its variable.
    pub var: ListVar,
    /// The domain of its elements.
    pub domain: Domain,
}

/// A definition, with or without arguments; evaluated where and when it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Var>,
    /// Its value.
    pub body: Expr,
}

/// A variable that changes from round to round: provers handle `D` with `next = 2 * D` better than `2^s`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The variable.
    pub var: Var,
    /// Its value before the first round.
    pub init: Expr,
    /// Its next value.
    pub next: Expr,
    /// The index with which it advances, by its position among the loop's indices.
    pub each: usize,
    /// Whether it runs backwards: `init` is its value after the last round, and `next`, evaluated with the values of
    /// one round, is its value in the round before.
    pub backward: bool,
}

/// A `send` or `recv` clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Whether it sends or receives.
    pub direction: Direction,
    /// Its number among the transfers of the whole schedule.
    pub site: Site,
    /// One message for each value of these indices.
    pub each: Vec<Index>,
    /// The condition under which there is a message.
    pub when: Option<Expr>,
    /// The other rank; it wraps around p.
    pub peer: Expr,
    /// The blocks, in the order in which they are sent.
    pub blocks: BlockSet,
}

/// Another collective as a parameter: only its contract is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inner {
    /// Its name in the declaration.
    pub name: String,
    /// Its contract.
    pub kind: Kind,
    /// Its schedule, if known; otherwise the simplest implementation of its contract stands in
    /// ([`mod@reference`]).
    pub schedule: Option<Box<Schedule>>,
}

/// The ranks that run an inner collective together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// The ranks of my node; the inner collective sees how the node is divided.
    Node,
    /// The ranks with my local index, one per node; ranks beyond the size of the smallest node take no part.
    Lane,
    /// All ranks, as if they were on one node.
    All,
    /// Ranks at equal distances, as if they were on one node: those that differ from mine in one digit.
    Stride {
        /// The distance between consecutive members.
        distance: Expr,
        /// The number of members.
        count: Expr,
    },
    /// Consecutive ranks, as if they were on one node; other ranks take no part.
    Ranks {
        /// The first rank.
        first: Expr,
        /// The number of ranks.
        count: Expr,
    },
}

/// A `within` clause: an inner collective that runs in groups after the messages of a round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Within {
    /// Its number among the clauses that make messages.
    pub site: Site,
    /// The number of the inner collective.
    pub inner: usize,
    /// The group that runs it.
    pub group: Group,
    /// Restricts the group to this many first members.
    pub members: Option<Expr>,
    /// The condition under which it runs; it is the same for all members.
    pub when: Option<Expr>,
    /// The root of an inner collective that has one: the index of a member.
    pub root: Option<Expr>,
    /// For an all-to-all: the index of the member that receives the blocks.
    pub to: Option<Var>,
    /// The blocks that each member contributes. In a sequence and in a reduction: those of a member, if the inner
    /// collective has a block for each, otherwise those on which it runs; empty if it runs on all.
    pub brings: BlockSet,
}

impl Within {
    /// The blocks of a clause in a sequence if nothing else is said. A member of an inner collective that has a block
    /// for each has that of its rank, or, if the whole is divided otherwise, the one with its index in the group.
    pub fn usual_blocks(outer: Kind, inner: Kind, group: &Group) -> BlockSet {
        let item = match group {
            _ if !inner.has_a_block_each() => return BlockSet::default(),
            _ if outer.has_a_block_each() => Expr::built_in(slot::RANK),
            Group::All => Expr::built_in(slot::RANK),
            Group::Node => Expr::built_in(slot::LOCAL),
            Group::Lane => Expr::built_in(slot::NODE),
            Group::Stride { distance, count } => {
                let steps = Expr::binary(Binary::Div, Expr::built_in(slot::RANK), distance.clone());
                Expr::binary(Binary::Rem, steps, count.clone())
            }
            Group::Ranks { first, .. } => Expr::binary(Binary::Sub, Expr::built_in(slot::RANK), first.clone()),
        };
        BlockSet { parts: vec![Comprehension { item, over: Vec::new(), filter: None }] }
    }
}

/// A property that is true before every round of a loop, and after its last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Exactly these blocks are held.
    Blocks(BlockSet),
    /// Exactly these ranks have contributed to the value of a line, block by block. An empty set means that the line is
    /// empty.
    Contributors {
        /// The line.
        line: Line,
        /// The block, if the contributors depend on it.
        block: Option<Var>,
        /// The ranks.
        ranks: BlockSet,
    },
    /// The amount of `metric` that this rank has used since the beginning.
    Counter(Metric, Expr),
    /// A fact about indices and state.
    Fact(Expr),
}

/// A quantity that a bound limits, for one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Metric {
    Rounds,
    MessagesSent,
    MessagesReceived,
    BlocksSent,
    BlocksReceived,
    NonlocalRounds,
    NonlocalMessagesSent,
    NonlocalMessagesReceived,
    NonlocalBlocksSent,
    /// For an all-to-all: the largest number of blocks, between two rounds, that neither come from the rank nor are for
    /// it.
    Scratch,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 10] = [
        Metric::Rounds,
        Metric::MessagesSent,
        Metric::MessagesReceived,
        Metric::BlocksSent,
        Metric::BlocksReceived,
        Metric::NonlocalRounds,
        Metric::NonlocalMessagesSent,
        Metric::NonlocalMessagesReceived,
        Metric::NonlocalBlocksSent,
        Metric::Scratch,
    ];

    /// Its name in declarations.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Rounds => "rounds",
            Metric::MessagesSent => "messages_sent",
            Metric::MessagesReceived => "messages_received",
            Metric::BlocksSent => "blocks_sent",
            Metric::BlocksReceived => "blocks_received",
            Metric::NonlocalRounds => "nonlocal_rounds",
            Metric::NonlocalMessagesSent => "nonlocal_messages_sent",
            Metric::NonlocalMessagesReceived => "nonlocal_messages_received",
            Metric::NonlocalBlocksSent => "nonlocal_blocks_sent",
            Metric::Scratch => "scratch",
        }
    }

    /// Whether it depends on which ranks share a node.
    pub const fn is_nonlocal(self) -> bool {
        use Metric::{NonlocalBlocksSent, NonlocalMessagesReceived, NonlocalMessagesSent, NonlocalRounds};
        matches!(self, NonlocalRounds | NonlocalMessagesSent | NonlocalMessagesReceived | NonlocalBlocksSent)
    }

    /// Whether it counts rounds: those in which any rank has a message, not those of a single rank.
    pub const fn counts_rounds(self) -> bool {
        matches!(self, Metric::Rounds | Metric::NonlocalRounds)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The scope of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundScope {
    /// The largest total over the ranks.
    Max,
    /// The total of every rank.
    Each,
    /// The total of every node over all its ranks. The value is evaluated at its first rank.
    Node,
    /// The largest amount of any rank in each single round of a loop, given by the number of the loop.
    PerRound(usize),
}

/// `metric = value` or `metric <= value`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The quantity.
    pub metric: Metric,
    /// The scope.
    pub scope: BoundScope,
    /// Whether the value must be met exactly, or is an upper limit.
    pub exact: bool,
    /// Whether only exact checks verify it, and inductions ignore it: `#[checked(…)]`.
    pub checked: bool,
    /// The value.
    pub value: Expr,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = match self.scope {
            BoundScope::Max => "",
            BoundScope::Each => "each ",
            BoundScope::Node => "node ",
            BoundScope::PerRound(_) => "per_round ",
        };
        write!(f, "{scope}{} {} {}", self.metric, if self.exact { "=" } else { "<=" }, self.value)
    }
}

/// A loop of rounds; without an index it is a single round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loop {
    /// The nested indices; the last one changes fastest.
    pub indices: Vec<Index>,
    /// The variables that change from round to round.
    pub states: Vec<State>,
    /// The messages of a round.
    pub transfers: Vec<Transfer>,
    /// The inner collectives that run in groups after each round.
    pub within: Vec<Within>,
    /// The invariants between rounds.
    pub holds: Vec<Hold>,
    /// Lemmas that are true in every round: a prover proves them first and then uses them.
    pub hints: Vec<Expr>,
    /// Conditions after the last round that a call in the domain must satisfy.
    pub ends_with: Vec<Expr>,
}

/// The positions of blocks while the collective runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Each block at its final position.
    InPlace,
    /// Block `b` at `wrap(b - by)`, with a rotation at the end.
    Rotated(Expr),
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layout::InPlace => f.write_str("in_place"),
            Layout::Rotated(by) => write!(f, "rotated({by})"),
        }
    }
}

/// The order in which contributions are reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Order {
    /// Every rank reduces the same tree, up to swapped operands.
    pub same_tree: bool,
    /// The operands of every tree are in rank order: safe for operations that do not commute.
    pub rank_order: bool,
}

/// The limits of the check at compile time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The largest p.
    pub p: i64,
    /// The largest value of each number parameter.
    pub numbers: Vec<i64>,
    /// The maximum length of each list parameter, and the largest value of its elements.
    pub lists: Vec<(i64, i64)>,
}

/// A collective as data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The name of the declared type.
    pub name: String,
    /// Its contract.
    pub kind: Kind,
    /// Whether its rounds run from the last to the first, because it is the reverse of what was declared.
    pub reverse_of: Option<ReverseOf>,
    /// Parameters that are numbers.
    pub numbers: Vec<Number>,
    /// Parameters that are lists.
    pub lists: Vec<ListParameter>,
    /// Parameters that are collectives.
    pub inners: Vec<Inner>,
    /// Definitions; each uses only earlier ones.
    pub functions: Vec<Function>,
    /// The conditions of the domain.
    pub requires: Vec<Expr>,
    /// The names of the lines; the first one holds the input and the result.
    pub lines: Vec<String>,
    /// The number of blocks; block sets wrap around it.
    pub blocks: Expr,
    /// The claims about the order of reduction.
    pub order: Order,
    /// The rounds.
    pub loops: Vec<Loop>,
    /// The declared bounds of its cost.
    pub bounds: Vec<Bound>,
    /// The layouts it may use, the preferred one first.
    pub layouts: Vec<Layout>,
    /// The limits of its check at compile time.
    pub limits: Limits,
    /// The number of variables.
    pub slots: usize,
}

impl Schedule {
    /// The same collective with inner ones of which only the contract is known, as in the text of a declaration.
    pub fn by_contract(&self) -> Schedule {
        let inners = self.inners.iter().map(|inner| Inner { schedule: None, ..inner.clone() }).collect();
        Schedule { inners, ..self.clone() }
    }

    /// The same collective without the parts that only exact checks verify: the part that an induction covers.
    pub fn inducted(&self) -> Schedule {
        let mut schedule = self.clone();
        schedule.bounds.retain(|bound| !bound.checked);
        schedule
    }

    /// Whether it states a part itself: a `holds` or `hint` may come from its proof record.
    pub fn states(&self, part: SchedulePart) -> bool {
        let within =
            |n: usize, i: usize, stated: fn(&Loop) -> usize| self.loops.get(n).is_some_and(|l| i < stated(l));
        match part {
            SchedulePart::Hold(n, i) => within(n, i, |l| l.holds.len()),
            SchedulePart::Hint(n, i) => within(n, i, |l| l.hints.len()),
            _ => true,
        }
    }

    /// All `send` and `recv` clauses, in order of their sites.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.loops.iter().flat_map(|l| &l.transfers)
    }

    /// The number of lines that ranks need, including those of inner collectives: the first line of each is one of
    /// ours.
    pub fn lines_in_memory(&self) -> usize {
        let of_inner =
            |inner: &Inner| inner.schedule.as_ref().map_or(1, |schedule| schedule.lines_in_memory().max(1));
        self.lines.len() + self.inners.iter().map(|inner| of_inner(inner) - 1).sum::<usize>()
    }

    /// Whether an expression is a number, and not a condition or a block of an all-to-all.
    pub fn is_number(&self, e: &Expr) -> bool {
        match e {
            Expr::Bool(_) | Expr::Unary(Unary::Not, _) | Expr::Builtin(Builtin::Pair, _) => false,
            Expr::Binary(op, ..) => !op.is_logical(),
            Expr::If(_, then, _) => self.is_number(then),
            Expr::Call(_, index, _) => self.is_number(&self.functions[*index].body),
            _ => true,
        }
    }

    /// All `within` clauses.
    pub fn within(&self) -> impl Iterator<Item = &Within> {
        self.loops.iter().flat_map(|l| &l.within)
    }

    /// Whether a clause is a stage of a sequence: its inner collective keeps a contract of its own, which says what
    /// ranks have afterwards. Otherwise it is of the declared kind, and part of what the declaration does in groups.
    pub fn is_stage(&self, within: &Within) -> bool {
        let kind = self.inners[within.inner].kind;
        kind != self.kind || !matches!(kind, Kind::Allgather | Kind::Allreduce | Kind::Alltoall)
    }

    /// Whether it consists of inner collectives that run one after the other, by their contracts.
    pub fn is_sequence(&self) -> bool {
        let stages = |l: &Loop| {
            l.indices.is_empty() && l.transfers.is_empty() && l.within.iter().all(|within| self.follows(within))
        };
        self.within().any(|within| self.is_stage(within)) && self.loops.iter().all(stages)
    }

    /// Whether a clause may stand in a sequence: all members of its groups run it, and get all that its contract
    /// promises.
    fn follows(&self, within: &Within) -> bool {
        let kind = self.inners[within.inner].kind;
        let replaces = within.site.action == if kind.reduces() { Action::Copy } else { Action::Replace };
        replaces && within.members.is_none() && within.to.is_none()
    }

    /// The claims about its order of reduction that hold with its inner collectives, as far as these are known. Of what
    /// one rank reduces, and others get from it, all of them have the same tree.
    pub fn claimed_order(&self) -> Order {
        let known = |inner: &Inner| inner.schedule.as_ref().map(|schedule| schedule.claimed_order());
        let keeps = |inner: &Inner, kept: fn(Order) -> bool| known(inner).is_none_or(kept);
        let alike = |inner: &Inner| inner.kind != Kind::Allreduce || keeps(inner, |order| order.same_tree);
        let in_order = |inner: &Inner| !inner.kind.reduces() || keeps(inner, |order| order.rank_order);
        Order {
            same_tree: self.order.same_tree && self.inners.iter().all(alike),
            rank_order: self.order.rank_order && self.inners.iter().all(in_order),
        }
    }

    /// The position of the root among the parameters that are numbers, if it has one.
    pub fn root_parameter(&self) -> Option<usize> {
        self.numbers.iter().position(|number| self.kind.has_root() && number.var.name == ROOT)
    }

    /// The root, or 0 for a collective without one.
    pub fn root(&self, args: &Arguments) -> usize {
        let root = self.root_parameter().and_then(|i| args.numbers.get(i));
        root.and_then(|&root| usize::try_from(root).ok()).unwrap_or(0)
    }

    /// Whether its rounds or its cost depend on which ranks share a node.
    pub fn uses_placement(&self) -> bool {
        let mut found = self.bounds.iter().any(|bound| bound.metric.is_nonlocal());
        found |= self.within().any(|within| matches!(within.group, Group::Node | Group::Lane));
        self.for_each_expr(&mut |_, e| {
            e.walk(&mut |e| match e {
                Expr::Var(v) => found |= PLACEMENT_SLOTS.contains(&v.slot),
                Expr::Builtin(Builtin::FirstRank | Builtin::NodeSize, _) => found = true,
                _ => {}
            });
        });
        found
    }

    /// Calls `visit` with every expression and the part of the schedule that it belongs to.
    pub fn for_each_expr(&self, visit: &mut impl FnMut(SchedulePart, &Expr)) {
        // The clone lets one traversal serve both reading and rewriting; the schedule is not changed.
        self.clone().for_each_expr_mut(&mut |spot, e| visit(spot, e));
    }

    /// Calls `visit` with every expression, for changes.
    pub fn for_each_expr_mut(&mut self, visit: &mut impl FnMut(SchedulePart, &mut Expr)) {
        self.functions.iter_mut().enumerate().for_each(|(i, f)| visit(SchedulePart::Define(i), &mut f.body));
        self.requires.iter_mut().enumerate().for_each(|(i, e)| visit(SchedulePart::Requires(i), e));
        visit(SchedulePart::Blocks, &mut self.blocks);
        for (n, l) in self.loops.iter_mut().enumerate() {
            l.for_each_expr_mut(n, visit);
        }
        self.bounds.iter_mut().enumerate().for_each(|(i, b)| visit(SchedulePart::Bound(i), &mut b.value));
        for layout in &mut self.layouts {
            if let Layout::Rotated(by) = layout {
                visit(SchedulePart::Layout, by);
            }
        }
    }
}

impl Loop {
    fn for_each_expr_mut(&mut self, n: usize, visit: &mut impl FnMut(SchedulePart, &mut Expr)) {
        for index in &mut self.indices {
            visit(SchedulePart::Round(n), &mut index.lo);
            visit(SchedulePart::Round(n), &mut index.hi);
        }
        for (i, state) in self.states.iter_mut().enumerate() {
            visit(SchedulePart::State(n, i), &mut state.init);
            visit(SchedulePart::State(n, i), &mut state.next);
        }
        for t in &mut self.transfers {
            for index in &mut t.each {
                visit(SchedulePart::Transfer(t.site, Field::Each), &mut index.lo);
                visit(SchedulePart::Transfer(t.site, Field::Each), &mut index.hi);
            }
            if let Some(when) = &mut t.when {
                visit(SchedulePart::Transfer(t.site, Field::When), when);
            }
            visit(SchedulePart::Transfer(t.site, Field::Peer), &mut t.peer);
            t.blocks.for_each_expr_mut(&mut |e| visit(SchedulePart::Transfer(t.site, Field::Blocks), e));
        }
        self.within.iter_mut().for_each(|within| within.for_each_expr_mut(visit));
        for (i, hold) in self.holds.iter_mut().enumerate() {
            match hold {
                Hold::Blocks(set) | Hold::Contributors { ranks: set, .. } => {
                    set.for_each_expr_mut(&mut |e| visit(SchedulePart::Hold(n, i), e));
                }
                Hold::Counter(_, e) | Hold::Fact(e) => visit(SchedulePart::Hold(n, i), e),
            }
        }
        self.hints.iter_mut().enumerate().for_each(|(i, e)| visit(SchedulePart::Hint(n, i), e));
        self.ends_with.iter_mut().enumerate().for_each(|(i, e)| visit(SchedulePart::EndsWith(n, i), e));
    }
}

impl Within {
    fn for_each_expr_mut(&mut self, visit: &mut impl FnMut(SchedulePart, &mut Expr)) {
        let spot = |field| SchedulePart::Transfer(self.site, field);
        if let Group::Stride { distance: a, count: b } | Group::Ranks { first: a, count: b } = &mut self.group {
            [a, b].into_iter().for_each(|e| visit(spot(Field::Peer), e));
        }
        self.members.iter_mut().chain(&mut self.root).for_each(|e| visit(spot(Field::Peer), e));
        self.when.iter_mut().for_each(|e| visit(spot(Field::When), e));
        self.brings.for_each_expr_mut(&mut |e| visit(spot(Field::Blocks), e));
    }
}

impl BlockSet {
    /// Calls `visit` with every expression of the set, for changes.
    pub fn for_each_expr_mut(&mut self, visit: &mut impl FnMut(&mut Expr)) {
        for part in &mut self.parts {
            visit(&mut part.item);
            for index in &mut part.over {
                visit(&mut index.lo);
                visit(&mut index.hi);
            }
            if let Some(filter) = &mut part.filter {
                visit(filter);
            }
        }
    }
}

/// A field of a `send` or `recv` clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The clause as a whole.
    Whole,
    /// `for … in …`
    Each,
    /// `when`
    When,
    /// `to` or `from`
    Peer,
    /// `blocks`
    Blocks,
}

/// A part of a schedule, by its number; errors point at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchedulePart {
    /// The declaration as a whole.
    Declaration,
    /// A definition.
    Define(usize),
    /// A `requires` clause.
    Requires(usize),
    /// The indices of a loop.
    Round(usize),
    /// A state variable: loop, number.
    State(usize, usize),
    /// A `send` or `recv` clause.
    Transfer(Site, Field),
    /// An item of a `holds` clause: loop, number.
    Hold(usize, usize),
    /// A `hint` clause: loop, number.
    Hint(usize, usize),
    /// A `requires(final …)` clause: loop, number.
    EndsWith(usize, usize),
    /// A bound.
    Bound(usize),
    /// The layout.
    Layout,
    /// The number of blocks.
    Blocks,
    /// The claim that all ranks reduce the same tree.
    SameTree,
    /// The claim that operands are in rank order.
    RankOrder,
}

impl SchedulePart {
    /// The clause of a message, if it is one.
    pub fn site(self) -> Option<Site> {
        match self {
            SchedulePart::Transfer(site, _) => Some(site),
            _ => None,
        }
    }
}
