//! The windows around a rank in which the numbers of blocks and peers lie.
//!
//! Two blocks in the same window of length p are equal modulo p only if they are equal, so the solver need not consider
//! multiples of p. The window is guessed from small p and then proved for all p: a wrong guess can only make a proof
//! fail, never succeed.

use super::numbering::Numbering;
use super::term::{Term, and, ge, lt, sub, within};
use roundel_spec::Schedule;
use roundel_spec::blocks::BlockSet;
use roundel_spec::check::Points;
use roundel_spec::eval::{self, Env, EvalFault, Halt, Walker};
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Hold, Loop, Transfer, Within};
use std::collections::BTreeSet;

/// A window of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberWindow {
    /// `[0, p)`
    Zero,
    /// `[rank, rank + p)`
    Up,
    /// `(rank - p, rank]`
    Down,
    /// `[-p, 2 p)`
    Wide,
}

impl NumberWindow {
    const ALL: [NumberWindow; 4] = [NumberWindow::Zero, NumberWindow::Up, NumberWindow::Down, NumberWindow::Wide];

    /// That `x` lies in it.
    pub(crate) fn contains(self, wheel: Numbering, x: &str) -> Term {
        let (around, here) = (wheel.around(), wheel.here().number);
        match self {
            NumberWindow::Zero => within(x, "0", around),
            NumberWindow::Up => within(&sub(x, &here), "0", around),
            NumberWindow::Down => within(&sub(&here, x), "0", around),
            NumberWindow::Wide => and([ge(x, &format!("(- {around})")), lt(x, &format!("(* 2 {around})"))]),
        }
    }

    /// The multiples of p by which a number in it can differ from the rank in `0..p` that it wraps to.
    pub(crate) fn turns(self) -> &'static [i64] {
        match self {
            NumberWindow::Zero => &[0],
            NumberWindow::Up => &[0, 1],
            NumberWindow::Down => &[0, -1],
            NumberWindow::Wide => &[-1, 0, 1],
        }
    }

    fn has(self, x: i64, here: i64, around: i64) -> bool {
        match self {
            NumberWindow::Zero => (0..around).contains(&x),
            NumberWindow::Up => (0..around).contains(&(x - here)),
            NumberWindow::Down => (0..around).contains(&(here - x)),
            NumberWindow::Wide => true,
        }
    }

    /// The window in words.
    pub(crate) fn text(self, wheel: Numbering) -> String {
        let (around, here) = (wheel.around(), wheel.here().number);
        match self {
            NumberWindow::Zero => format!("[0, {around})"),
            NumberWindow::Up => format!("[{here}, {here} + {around})"),
            NumberWindow::Down => format!("({here} - {around}, {here}]"),
            NumberWindow::Wide => format!("[-{around}, 2{around})"),
        }
    }
}

/// Observations at small p: the windows in which expressions lie, and the clauses of which a rank has messages in the
/// same round.
pub(crate) struct Windows {
    seen: Vec<(Expr, Vec<NumberWindow>)>,
    together: BTreeSet<(u16, u16)>,
    /// Inner collectives that ran.
    ran: BTreeSet<u16>,
}

/// The largest p that is observed.
const LOOK_AT: usize = 12;

impl Windows {
    /// No observations.
    pub(crate) fn none() -> Self {
        Windows { seen: Vec::new(), together: BTreeSet::new(), ran: BTreeSet::new() }
    }

    /// Observes small p.
    pub(crate) fn seen(schedule: &Schedule) -> Self {
        let wheel = Numbering::of(schedule);
        let mut windows = Windows::none();
        for point in Points::new(schedule, 1..=LOOK_AT).iter() {
            if !matches!(roundel_spec::check::in_domain(schedule, &point), Ok(true)) {
                continue;
            }
            for rank in 0..point.placement.p() {
                let place = point.placement.place(rank);
                let mut env = Env::new(schedule, &point.args, &place);
                // A fault ends the observation, and appears again when the obligation is built.
                let blocks = env.eval(&schedule.blocks).unwrap_or(0);
                let (here, around) = match wheel {
                    Numbering::Ranks => (place.rank, place.p),
                    Numbering::Nodes => (place.node, place.nodes),
                };
                let reduces = schedule.kind.reduces();
                let _ =
                    eval::walk(&mut env, &mut Look { windows: &mut windows, wheel, here, around, blocks, reduces });
            }
        }
        windows
    }

    fn note(&mut self, e: &Expr, x: i64, here: i64, around: i64) {
        let position = self.seen.iter().position(|(known, _)| known == e).unwrap_or_else(|| {
            self.seen.push((e.clone(), NumberWindow::ALL.to_vec()));
            self.seen.len() - 1
        });
        self.seen[position].1.retain(|window| window.has(x, here, around));
    }

    /// Whether a rank had messages of both clauses in one round.
    pub(crate) fn together(&self, a: &Transfer, b: &Transfer) -> bool {
        let (a, b) = (a.site.number, b.site.number);
        self.together.contains(&(a.min(b), a.max(b)))
    }

    /// Whether an inner collective ran.
    pub(crate) fn runs(&self, clause: &Within) -> bool {
        self.ran.contains(&clause.site.number)
    }

    /// Whether an item of a comprehension occurred as a block.
    pub(crate) fn occurs(&self, item: &Expr) -> bool {
        self.seen.iter().any(|(known, _)| known == item)
    }

    /// The tightest window of an expression.
    pub(crate) fn of(&self, e: &Expr) -> NumberWindow {
        let seen = self.seen.iter().find(|(known, _)| known == e);
        seen.and_then(|(_, windows)| windows.first().copied()).unwrap_or(NumberWindow::Wide)
    }
}

struct Look<'w> {
    windows: &'w mut Windows,
    wheel: Numbering,
    here: i64,
    around: i64,
    /// The number of blocks; 0 if contributors cannot depend on a block.
    blocks: i64,
    /// Whether conditions inside comprehensions are evaluated.
    reduces: bool,
}

impl Look<'_> {
    /// Notes the number of a rank or a block before it wraps. A fault appears again when the obligation is built.
    fn note(&mut self, env: &mut Env<'_>, e: &Expr) -> Result<(), EvalFault> {
        if let Some((number, _)) = self.wheel.split(e) {
            let x = env.eval(&number)?;
            self.windows.note(e, x, self.here, self.around);
        }
        Ok(())
    }

    fn round_of(&mut self, env: &mut Env<'_>, l: &Loop) -> Result<(), EvalFault> {
        let mut had: Vec<u16> = Vec::new();
        for t in &l.transfers {
            env.over(&t.each, &mut |env| {
                if let Some(when) = &t.when
                    && !env.holds(when)?
                {
                    return Ok(());
                }
                let mut any = false;
                for part in &t.blocks.parts {
                    env.over(&part.over, &mut |env| {
                        any = true;
                        self.note(env, &part.item)
                    })?;
                }
                if any {
                    let number = t.site.number;
                    self.windows.together.extend(had.iter().map(|&earlier| (earlier, number)));
                    had.push(number);
                    self.note(env, &t.peer)?;
                }
                Ok::<(), EvalFault>(())
            })?;
        }
        for clause in &l.within {
            let runs = clause.when.as_ref().map_or(Ok(true), |when| env.holds(when))?;
            if runs {
                self.windows.ran.insert(clause.site.number);
                self.named(env, &clause.brings)?;
            }
        }
        self.held(env, l)
    }

    fn held(&mut self, env: &mut Env<'_>, l: &Loop) -> Result<(), EvalFault> {
        for hold in &l.holds {
            match hold {
                Hold::Blocks(set) => self.named(env, set)?,
                Hold::Contributors { block: None, ranks, .. } => self.named(env, ranks)?,
                Hold::Contributors { block: Some(var), ranks, .. } => {
                    for b in 0..self.blocks {
                        env.set(var.slot, b);
                        self.named(env, ranks)?;
                    }
                }
                Hold::Counter(..) | Hold::Fact(_) => {}
            }
        }
        Ok(())
    }

    fn named(&mut self, env: &mut Env<'_>, set: &BlockSet) -> Result<(), EvalFault> {
        for part in &set.parts {
            env.over(&part.over, &mut |env| {
                if let Some(filter) = &part.filter
                    && (self.reduces || self.wheel == Numbering::Nodes)
                    && !env.holds(filter)?
                {
                    return Ok(());
                }
                self.note(env, &part.item)
            })?;
        }
        Ok(())
    }
}

impl Walker for Look<'_> {
    type Stop = EvalFault;

    fn round(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<EvalFault>> {
        self.round_of(env, l).map_err(Halt::Stopped)
    }

    fn settled(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<EvalFault>> {
        self.held(env, l).map_err(Halt::Stopped)
    }
}
