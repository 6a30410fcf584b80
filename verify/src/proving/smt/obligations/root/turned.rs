//! A collective at root 0, and whether other roots only turn it.

use super::declared_root;
use crate::proving::smt::context::{Context, TermValues};
use crate::proving::smt::numbering::{P, RANK, looks_at_nodes};
use crate::proving::smt::obligations::{ProofContext, Step};
use crate::proving::smt::term::{add, eq, or, sub, within};
use roundel_spec::check::{Point, Points, in_domain, record_schedule};
use roundel_spec::expr::{Binary, Expr, Var};
use roundel_spec::record::Trace;
use roundel_spec::{Direction, Kind, Schedule};

/// A collective that other roots only turn, as far as few ranks tell.
pub(in super::super) struct AtRootZero {
    /// It at root 0, without the parameter.
    pub(in super::super) schedule: Schedule,
    /// It with any root, `(rank - root) % p` as a variable; and after its own definitions those of root 0.
    pub(in super::super) both: Schedule,
    /// It at root 0, calling the definitions of `both`.
    pub(super) shifted: Schedule,
    /// Whether blocks turn with the root, because each belongs to a rank.
    pub(super) blocks_turn: bool,
}

/// The largest p that is looked at.
const LOOK_AT: usize = 6;

impl AtRootZero {
    /// The collective at root 0; `None` if it has no root, or other roots are seen to change more than numbers.
    pub(in super::super) fn of(schedule: &Schedule) -> Option<Self> {
        let mut nodes = schedule.within().next().is_some();
        schedule.for_each_expr(&mut |_, e| e.walk(&mut |e| nodes |= looks_at_nodes(e)));
        // The order of ranks does not turn with the root.
        if !schedule.kind.has_root() || nodes || schedule.order.rank_order {
            return None;
        }
        let of_ranks = matches!(schedule.kind, Kind::Gather | Kind::Scatter);
        // Blocks can turn only if there are as many as ranks.
        let wraps = Context::new(schedule).blocks_wrap();
        let possible = |turn: &bool| !turn || wraps;
        let blocks_turn = [of_ranks, true].into_iter().filter(possible).find(|&turn| turns(schedule, turn))?;
        let zero = at_zero(schedule);
        let mut shifted = zero.clone();
        shifted.for_each_expr_mut(&mut |_, e| later(e, schedule.functions.len()));
        let mut both = counted(schedule);
        both.functions.extend(shifted.functions.iter().cloned());
        Some(AtRootZero { schedule: zero, both, shifted, blocks_turn })
    }

    /// The values for the rank that is counted from the root, at root 0.
    pub(super) fn counted_from_root(&self, frame: &mut ProofContext<'_>) -> Step<TermValues> {
        let root = frame.cx.lower(&declared_root(&self.both), &frame.values)?;
        let counted = frame.cx.constant("counted");
        let way = sub("rank", &root);
        frame.assume(within(&counted, "0", "p"));
        frame.assume(or([eq(&counted, &way), eq(&counted, &add(&way, "p"))]));
        frame.values.set(self.schedule.slots, counted.clone());
        Ok(frame.values.with(RANK, counted))
    }
}

/// The schedule at root 0, simplified so that `(rank - 0) % p` is `rank`.
fn at_zero(schedule: &Schedule) -> Schedule {
    let mut zero = schedule.clone();
    let Expr::Var(root) = declared_root(schedule) else { return zero };
    zero.for_each_expr_mut(&mut |_, e| rewrite(e, &|e| at_root_zero(e, &root)));
    if let Some(position) = zero.root_parameter() {
        zero.numbers.remove(position);
        zero.limits.numbers.remove(position);
    }
    zero
}

fn at_root_zero(e: &Expr, root: &Var) -> Option<Expr> {
    match e {
        Expr::Var(v) if v.slot == root.slot => Some(0.into()),
        Expr::Binary(Binary::Add | Binary::Sub, a, b) if **b == Expr::Int(0) => Some((**a).clone()),
        Expr::Binary(Binary::Rem, a, b) if is(a, RANK) && is(b, P) => Some((**a).clone()),
        _ => None,
    }
}

/// The schedule with the rank counted from the root as a variable of its own.
fn counted(schedule: &Schedule) -> Schedule {
    let mut counted = schedule.clone();
    let Expr::Var(root) = declared_root(schedule) else { return counted };
    let from_root = Expr::var("counted", schedule.slots);
    counted.for_each_expr_mut(&mut |_, e| {
        rewrite(e, &|e| match e {
            Expr::Binary(Binary::Rem, way, p) if is(p, P) => match &**way {
                Expr::Binary(Binary::Sub, a, b) if is(a, RANK) && is(b, root.slot) => Some(from_root.clone()),
                _ => None,
            },
            _ => None,
        })
    });
    counted
}

fn is(e: &Expr, slot: usize) -> bool {
    matches!(e, Expr::Var(v) if v.slot == slot)
}

/// Rewrites an expression from its leaves upwards.
fn rewrite(e: &mut Expr, with: &impl Fn(&Expr) -> Option<Expr>) {
    e.children_mut().into_iter().for_each(|child| rewrite(child, with));
    if let Some(new) = with(e) {
        *e = new;
    }
}

/// Calls definitions that stand `by` places later.
fn later(e: &mut Expr, by: usize) {
    if let Expr::Call(_, index, _) = e {
        *index += by;
    }
    e.children_mut().into_iter().for_each(|child| later(child, by));
}

/// Whether, with few ranks, every root does what root 0 does with other numbers.
fn turns(schedule: &Schedule, blocks_turn: bool) -> bool {
    let Some(position) = schedule.root_parameter() else { return false };
    Points::new(schedule, 1..=LOOK_AT).iter().all(|point| {
        let root = point.args.numbers[position];
        if root == 0 || !matches!(in_domain(schedule, &point), Ok(true)) {
            return true;
        }
        let mut zero: Point = point.clone();
        zero.args.numbers[position] = 0;
        match (record_schedule(schedule, &point), record_schedule(schedule, &zero)) {
            (Ok(here), Ok(there)) => turned(&here, &there, root as usize, blocks_turn),
            _ => false,
        }
    })
}

/// Whether one run is another one, turned by `root`.
fn turned(here: &Trace, there: &Trace, root: usize, blocks_turn: bool) -> bool {
    let p = here.p();
    let messages = |trace: &Trace, rank: usize, by: usize| {
        let log = &trace.ranks[rank];
        let turn = |block: &u32| if blocks_turn { (*block as usize + by) % p } else { *block as usize };
        let message = |round: usize| {
            let all = log.round(round).iter();
            all.map(|m| {
                let blocks: Vec<usize> = log.blocks(m).iter().map(turn).collect();
                (m.direction == Direction::Send, m.site, (m.peer + by) % p, blocks)
            })
            .collect::<Vec<_>>()
        };
        (0..log.rounds()).map(message).collect::<Vec<_>>()
    };
    (0..p).all(|rank| messages(here, (rank + root) % p, 0) == messages(there, rank, root))
}
