//! In which window around a rank the numbers of blocks and peers lie.
//!
//! Two blocks that lie in the same window of length p are equal modulo p only if they are equal, which spares the solver
//! all multiples of p. Which window fits is guessed from small p and then proved for all p: a wrong guess makes a
//! proof fail, never succeed.

use super::term::{Term, and, ge, lt, sub, within};
use roundel_spec::Schedule;
use roundel_spec::blocks::BlockSet;
use roundel_spec::check::Points;
use roundel_spec::eval::{self, Env, Fault, Halt, Walker};
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Hold, Loop, Transfer};
use std::collections::BTreeSet;
use std::fmt;

/// A window of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// `[0, p)`
    Zero,
    /// `[rank, rank + p)`
    Up,
    /// `(rank - p, rank]`
    Down,
    /// `[-p, 2 p)`
    Wide,
}

impl Window {
    const ALL: [Window; 4] = [Window::Zero, Window::Up, Window::Down, Window::Wide];

    /// That `x` lies in it.
    pub(crate) fn contains(self, x: &str) -> Term {
        match self {
            Window::Zero => within(x, "0", "p"),
            Window::Up => within(&sub(x, "rank"), "0", "p"),
            Window::Down => within(&sub("rank", x), "0", "p"),
            Window::Wide => and([ge(x, "(- p)"), lt(x, "(* 2 p)")]),
        }
    }

    /// By which multiples of p a number in it can differ from a rank in `0..p` that it wraps to.
    pub(crate) fn turns(self) -> &'static [i64] {
        match self {
            Window::Zero => &[0],
            Window::Up => &[0, 1],
            Window::Down => &[0, -1],
            Window::Wide => &[-1, 0, 1],
        }
    }

    fn has(self, x: i64, rank: i64, p: i64) -> bool {
        match self {
            Window::Zero => (0..p).contains(&x),
            Window::Up => (0..p).contains(&(x - rank)),
            Window::Down => (0..p).contains(&(rank - x)),
            Window::Wide => true,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Window::Zero => "[0, p)",
            Window::Up => "[rank, rank + p)",
            Window::Down => "(rank - p, rank]",
            Window::Wide => "[-p, 2p)",
        })
    }
}

/// What was seen at small p: the windows in which expressions lie, and clauses of which a rank has messages in one round.
pub(crate) struct Windows {
    seen: Vec<(Expr, Vec<Window>)>,
    together: BTreeSet<(u16, u16)>,
}

/// The largest p that is looked at.
const LOOK_AT: usize = 12;

impl Windows {
    /// Looks at small p.
    pub(crate) fn seen(schedule: &Schedule) -> Self {
        let mut windows = Windows { seen: Vec::new(), together: BTreeSet::new() };
        for point in Points::new(schedule, 1..=LOOK_AT).iter() {
            if !matches!(roundel_spec::check::in_domain(schedule, &point), Ok(true)) {
                continue;
            }
            for rank in 0..point.placement.p() {
                let place = point.placement.place(rank);
                let mut env = Env::new(schedule, &point.args, &place);
                // A fault ends the look, and shows again where the obligation is built.
                let blocks = env.eval(&schedule.blocks).unwrap_or(0);
                let (rank, p, reduces) = (place.rank, place.p, schedule.kind.reduces());
                let _ = eval::walk(&mut env, &mut Look { windows: &mut windows, rank, p, blocks, reduces });
            }
        }
        windows
    }

    fn note(&mut self, e: &Expr, x: i64, rank: i64, p: i64) {
        let position = self.seen.iter().position(|(known, _)| known == e).unwrap_or_else(|| {
            self.seen.push((e.clone(), Window::ALL.to_vec()));
            self.seen.len() - 1
        });
        self.seen[position].1.retain(|window| window.has(x, rank, p));
    }

    /// Whether a rank was seen to have messages of both clauses in one round.
    pub(crate) fn together(&self, a: &Transfer, b: &Transfer) -> bool {
        let (a, b) = (a.site.number, b.site.number);
        self.together.contains(&(a.min(b), a.max(b)))
    }

    /// The tightest window of an expression.
    pub(crate) fn of(&self, e: &Expr) -> Window {
        let seen = self.seen.iter().find(|(known, _)| known == e);
        seen.and_then(|(_, windows)| windows.first().copied()).unwrap_or(Window::Wide)
    }
}

struct Look<'w> {
    windows: &'w mut Windows,
    rank: i64,
    p: i64,
    /// How many blocks there are; none where contributors cannot depend on a block.
    blocks: i64,
    /// Whether conditions inside of comprehensions are looked at.
    reduces: bool,
}

impl Look<'_> {
    fn round_of(&mut self, env: &mut Env<'_>, l: &Loop) -> Result<(), Fault> {
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
                        let x = env.eval(&part.item)?;
                        self.windows.note(&part.item, x, self.rank, self.p);
                        Ok::<(), Fault>(())
                    })?;
                }
                if any {
                    let number = t.site.number;
                    self.windows.together.extend(had.iter().map(|&earlier| (earlier, number)));
                    had.push(number);
                    let x = env.eval(&t.peer)?;
                    self.windows.note(&t.peer, x, self.rank, self.p);
                }
                Ok::<(), Fault>(())
            })?;
        }
        self.held(env, l)
    }

    fn held(&mut self, env: &mut Env<'_>, l: &Loop) -> Result<(), Fault> {
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

    fn named(&mut self, env: &mut Env<'_>, set: &BlockSet) -> Result<(), Fault> {
        for part in &set.parts {
            env.over(&part.over, &mut |env| {
                if let Some(filter) = &part.filter
                    && self.reduces
                    && !env.holds(filter)?
                {
                    return Ok(());
                }
                let x = env.eval(&part.item)?;
                self.windows.note(&part.item, x, self.rank, self.p);
                Ok::<(), Fault>(())
            })?;
        }
        Ok(())
    }
}

impl Walker for Look<'_> {
    type Stop = Fault;

    fn round(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<Fault>> {
        self.round_of(env, l).map_err(Halt::Stopped)
    }

    fn settled(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<Fault>> {
        self.held(env, l).map_err(Halt::Stopped)
    }
}
