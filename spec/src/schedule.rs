//! The intermediate representation: a declaration as plain data.
//!
//! A schedule is a sequence of [`Loop`]s of rounds. Nothing here has a position in a source file; a [`SchedulePart`]
//! names a part of the schedule, and whoever has the source maps spots to positions.

use crate::blocks::{BlockSet, Index};
use crate::collective::Arguments;
use crate::contract::Kind;
use crate::expr::{Builtin, Expr, ListVar, PLACEMENT_SLOTS, Var};
use crate::record::Direction;
use crate::sink::{Line, Site};
use std::fmt;

/// The parameter that says which rank is unlike the others, where one is.
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

    /// The largest value up to a limit.
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

/// A definition, with or without arguments; evaluated where it is used, when it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Var>,
    /// Its value.
    pub body: Expr,
}

/// A variable that changes from round to round: provers want `D` with `next = 2 * D`, not `2^s`.
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
    /// one round, is its value one round before.
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
    /// Only where this is true.
    pub when: Option<Expr>,
    /// The other rank; it wraps around p.
    pub peer: Expr,
    /// The blocks, in the order in which they travel.
    pub blocks: BlockSet,
}

/// Another collective, as a parameter: known by its contract alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inner {
    /// Its name in the declaration.
    pub name: String,
    /// What it promises.
    pub kind: Kind,
    /// What it does, where that is known; otherwise its contract is carried out in the plainest way
    /// ([`reference`](crate::reference)).
    pub schedule: Option<Box<Schedule>>,
}

/// Which ranks run an inner collective together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// The ranks of my node; the inner collective sees how the node is divided.
    Node,
    /// The ranks with my local index, one of each node; ranks beyond the smallest node take no part.
    Lane,
    /// All ranks, as if they sat on one node.
    All,
    /// Ranks at a distance from each other, as if they sat on one node: those that differ from mine in one digit.
    Stride {
        /// From one to the next.
        distance: Expr,
        /// How many.
        count: Expr,
    },
    /// Ranks that follow each other, as if they sat on one node; others take no part.
    Ranks {
        /// The first.
        first: Expr,
        /// How many.
        count: Expr,
    },
}

/// A `within` clause: after the messages of a round, an inner collective runs in groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Within {
    /// Its number among the clauses that make messages.
    pub site: Site,
    /// The inner collective, by its number.
    pub inner: usize,
    /// Who runs it together.
    pub group: Group,
    /// Only the first so many members of the group.
    pub members: Option<Expr>,
    /// Only where this is true; it is the same for all members.
    pub when: Option<Expr>,
    /// Of an all-to-all: the index of the member that blocks are brought for.
    pub to: Option<Var>,
    /// The blocks that each member brings; none for a reduction.
    pub brings: BlockSet,
}

/// Something that is true before every round of a loop, and after its last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Exactly these blocks are held.
    Blocks(BlockSet),
    /// Exactly these ranks have contributed to what a line holds, block by block. An empty set: nothing is there.
    Contributors {
        /// The line.
        line: Line,
        /// The block, where the contributors depend on it.
        block: Option<Var>,
        /// The ranks.
        ranks: BlockSet,
    },
    /// So much of `metric` has this rank used up since the beginning.
    Counter(Metric, Expr),
    /// A fact about indices and state.
    Fact(Expr),
}

/// What a bound counts, for one rank.
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
    /// Of an all-to-all: the largest number of blocks between two rounds that neither come from the rank nor are for
    /// it.
    Scratch,
}

impl Metric {
    /// All of them.
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

    /// Whether it counts rounds: those in which any rank has a message, not one rank's own.
    pub const fn counts_rounds(self) -> bool {
        matches!(self, Metric::Rounds | Metric::NonlocalRounds)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a bound speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundScope {
    /// The largest total over the ranks.
    Max,
    /// The total of every rank.
    Each,
    /// The total of every node: what its ranks use together. The value is read at its first rank.
    Node,
    /// The largest amount of any rank in each single round of a loop, given by its number.
    PerRound(usize),
}

/// `metric = value` or `metric <= value`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// What is counted.
    pub metric: Metric,
    /// Over what.
    pub scope: BoundScope,
    /// Whether the value must be met, or only not be passed.
    pub exact: bool,
    /// Whether it is left to exact checks, and no matter of an induction: `#[checked(…)]`.
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

/// A loop of rounds; without an index it is one round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loop {
    /// The indices, nested, the last one fastest.
    pub indices: Vec<Index>,
    /// The variables that change from round to round.
    pub states: Vec<State>,
    /// What a round does.
    pub transfers: Vec<Transfer>,
    /// What runs inside of groups after each round.
    pub within: Vec<Within>,
    /// What is true between rounds.
    pub holds: Vec<Hold>,
    /// What is true in every round, for a prover to prove first and to use then.
    pub hints: Vec<Expr>,
    /// What must be true after the last round for a call to lie in the domain.
    pub ends_with: Vec<Expr>,
}

/// Where blocks lie while the collective runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Each block where it belongs in the end.
    InPlace,
    /// Block `b` at `wrap(b - by)`, and a rotation at the end.
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

/// In which order contributions are reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Order {
    /// Every rank has reduced the same tree, up to swapped operands.
    pub same_tree: bool,
    /// The operands of every tree stand in the order of ranks: safe for operations that do not commute.
    pub rank_order: bool,
}

/// How far the check at compile time goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Every p up to this one.
    pub p: i64,
    /// For each number parameter, its values up to this one.
    pub numbers: Vec<i64>,
    /// For each list parameter: lists up to this length, elements up to this value.
    pub lists: Vec<(i64, i64)>,
}

/// A collective, as data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The name of the declared type.
    pub name: String,
    /// What it promises.
    pub kind: Kind,
    /// Parameters that are numbers.
    pub numbers: Vec<Number>,
    /// Parameters that are lists.
    pub lists: Vec<ListParameter>,
    /// Parameters that are collectives.
    pub inners: Vec<Inner>,
    /// Definitions, each using earlier ones only.
    pub functions: Vec<Function>,
    /// The domain.
    pub requires: Vec<Expr>,
    /// The names of the lines; the first one holds the input and the result.
    pub lines: Vec<String>,
    /// How many blocks there are; block sets wrap around it.
    pub blocks: Expr,
    /// What is claimed about the order of reduction.
    pub order: Order,
    /// The rounds.
    pub loops: Vec<Loop>,
    /// What it costs at most.
    pub bounds: Vec<Bound>,
    /// The layouts it may run in, the preferred one first.
    pub layouts: Vec<Layout>,
    /// How far it is checked at compile time.
    pub limits: Limits,
    /// How many variables there are.
    pub slots: usize,
}

impl Schedule {
    /// The same collective with inner ones that are known by their contract alone, as in the text of a declaration.
    pub fn by_contract(&self) -> Schedule {
        let inners = self.inners.iter().map(|inner| Inner { schedule: None, ..inner.clone() }).collect();
        Schedule { inners, ..self.clone() }
    }

    /// The same collective without what is left to exact checks: what an induction speaks of.
    pub fn inducted(&self) -> Schedule {
        let mut schedule = self.clone();
        schedule.bounds.retain(|bound| !bound.checked);
        schedule
    }

    /// All `send` and `recv` clauses, in order of their sites.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.loops.iter().flat_map(|l| &l.transfers)
    }

    /// The number of lines that ranks need, those of inner collectives included: the first one of each is one of ours.
    pub fn lines_in_memory(&self) -> usize {
        let of_inner =
            |inner: &Inner| inner.schedule.as_ref().map_or(1, |schedule| schedule.lines_in_memory().max(1));
        self.lines.len() + self.inners.iter().map(|inner| of_inner(inner) - 1).sum::<usize>()
    }

    /// All `within` clauses.
    pub fn within(&self) -> impl Iterator<Item = &Within> {
        self.loops.iter().flat_map(|l| &l.within)
    }

    /// The root, where the collective has one, and 0 elsewhere.
    pub fn root(&self, args: &Arguments) -> usize {
        let named = |number: &&Number| number.var.name == ROOT;
        let root = self.numbers.iter().zip(&args.numbers).find(|(number, _)| self.kind.has_root() && named(number));
        root.and_then(|(_, &root)| usize::try_from(root).ok()).unwrap_or(0)
    }

    /// Whether what it does, or what it costs, depends on which ranks share a node.
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

    /// Calls `visit` with every expression and the spot it stands at.
    pub fn for_each_expr(&self, visit: &mut impl FnMut(SchedulePart, &Expr)) {
        // The schedule is not changed: the clone only lets one traversal serve reading and rewriting.
        self.clone().for_each_expr_mut(&mut |spot, e| visit(spot, e));
    }

    /// Calls `visit` with every expression, to change it.
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
        self.members.iter_mut().for_each(|e| visit(spot(Field::Peer), e));
        self.when.iter_mut().for_each(|e| visit(spot(Field::When), e));
        self.brings.for_each_expr_mut(&mut |e| visit(spot(Field::Blocks), e));
    }
}

impl BlockSet {
    /// Calls `visit` with every expression of the set, to change it.
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

/// A part of a schedule, by its number: what an error points at.
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
    /// The claim that operands stand in the order of ranks.
    RankOrder,
}
