//! Runs the bodies of the Kani harnesses on a schedule without generated code, such as a mutant.
//!
//! Kani and the tests that the derive emits run these bodies on generated code. Their claims are only worth something
//! if they notice faults, so here the evaluator feeds the same functions: [`matched`](step::matched),
//! [`valid`](step::valid) and [`Coverage`]. Rounds and states are those of a real run, at every rank of one point.

use roundel_spec::check::Point;
use roundel_spec::eval::{self, Env, EvalFault, Halt, Walker};
use roundel_spec::harness::claims::{Relation, claimed, facts, pairs};
use roundel_spec::harness::step::{self, StepMessage};
use roundel_spec::harness::whole::Coverage;
use roundel_spec::harness::{RankUsage, Stop, WHOLE};
use roundel_spec::schedule::{Loop, Schedule, Transfer};
use roundel_spec::{Arguments, Blocks, Place, Sink, Site, Stripe};
use std::cell::Cell;
use std::convert::Infallible;

/// A harness of `docs/kani.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harness {
    /// Every expression has a value, and ranks and blocks lie in `0..p`.
    Functions,
    /// Every send has a matching receive.
    SendsMatch,
    /// Every receive has a matching send.
    ReceivesMatch,
    /// The facts of `holds` are true.
    Facts,
    /// Over all rounds of a rank: every block arrives exactly once, and the bounds hold.
    Whole,
}

impl Harness {
    /// All harnesses.
    pub const ALL: [Harness; 5] =
        [Harness::Functions, Harness::SendsMatch, Harness::ReceivesMatch, Harness::Facts, Harness::Whole];

    /// The last part of its name in generated code.
    pub const fn name(self) -> &'static str {
        match self {
            Harness::Functions => "functions",
            Harness::SendsMatch => "sends_match",
            Harness::ReceivesMatch => "receives_match",
            Harness::Facts => "facts",
            Harness::Whole => "whole",
        }
    }

    /// Runs the body on every rank of a point that it [`reaches`], and returns the number of messages that the ranks
    /// send. Ranks that the domain refuses do not count.
    ///
    /// # Errors
    /// Returns the claim that is false, or the expression without a value, where generated code would panic.
    pub fn run(self, schedule: &Schedule, point: &Point) -> Result<i64, Wrong> {
        let mut messages = 0;
        for rank in 0..point.placement.p() {
            let at = point.placement.place(rank);
            if eval::admits(schedule, &point.args, &at) != Ok(None) {
                continue;
            }
            messages += match self {
                Harness::Whole => whole(schedule, &point.args, &at)?.messages_sent,
                _ => {
                    if self == Harness::Functions {
                        eval::rotation(schedule, &point.args, &at).map_err(halted)?;
                    }
                    let mut rounds = RoundBodies { harness: self, at, begun: None };
                    eval::walk(&mut Env::new(schedule, &point.args, &at), &mut rounds).map_err(halted)?;
                    0
                }
            };
        }
        Ok(messages)
    }
}

/// Whether the harnesses cover a point: all ranks on one node, and no more than the bodies support.
pub fn reaches(point: &Point) -> bool {
    let p = point.placement.p();
    point.placement.ppn() == p && p <= WHOLE as usize
}

/// Why a body rejects a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A claim is false.
    Claim(&'static str),
    /// An expression has no value.
    NoValue(EvalFault),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Claim(text) => write!(f, "it is not true that {text}"),
            Wrong::NoValue(fault) => fault.fmt(f),
        }
    }
}

impl From<EvalFault> for Wrong {
    fn from(fault: EvalFault) -> Self {
        Wrong::NoValue(fault)
    }
}

impl From<Stop> for Wrong {
    fn from(stop: Stop) -> Self {
        Wrong::Claim(stop.text())
    }
}

impl From<Infallible> for Wrong {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

fn halted<E: Into<Wrong>>(halt: Halt<E>) -> Wrong {
    match halt {
        Halt::Fault(_, fault) => Wrong::NoValue(fault),
        Halt::Stopped(stop) => stop.into(),
    }
}

/// The body of `whole`, for one rank.
fn whole(schedule: &Schedule, args: &Arguments, at: &Place) -> Result<RankUsage, Wrong> {
    let mut rank = Grouped { coverage: Coverage::new(at), p: at.p };
    eval::rounds(schedule, args, at, &mut rank).map_err(halted)?;
    let used = rank.coverage.finish()?;
    for bound in &schedule.bounds {
        let (Some(relation), Some(found)) = (claimed(bound), used.of(bound.metric)) else { continue };
        let value = Env::new(schedule, args, at).eval(&bound.value)?;
        match relation {
            Relation::Met if found != value => return Err(Wrong::Claim("a bound is met")),
            Relation::Kept if found > value => return Err(Wrong::Claim("a bound is kept")),
            _ => {}
        }
    }
    Ok(used)
}

/// The bodies about single rounds, applied to all rounds of a rank.
struct RoundBodies<'a> {
    harness: Harness,
    at: Place<'a>,
    /// The loop that has begun. Nothing is claimed about a loop without rounds.
    begun: Option<usize>,
}

impl RoundBodies<'_> {
    /// The message of a clause, if it has one for these values of its indices.
    fn message(
        &self,
        mut env: Env<'_>,
        t: &Transfer,
        values: &[i64],
    ) -> Result<Option<StepMessage<Grouping>>, EvalFault> {
        for (index, &value) in t.each.iter().zip(values) {
            env.set(index.var.slot, value);
            if value < env.eval(&index.lo)? || value >= env.eval(&index.hi)? {
                return Ok(None);
            }
        }
        let mut blocks = Vec::new();
        let peer = env.message(t, &mut blocks).map_err(|(_, fault)| fault)?;
        Ok(peer.and_then(|peer| step::message(Grouping::of(&blocks, self.at.p), || peer)))
    }

    fn valid(&self, env: &Env<'_>, t: &Transfer) -> Result<(), Wrong> {
        env.on(&self.at).over(&t.each, &mut |env| {
            let found = self.message(env.clone(), t, &values(env, t))?;
            step::valid(&self.at, self.at.p, found).map_err(Wrong::from)
        })
    }

    fn matched(&self, env: &Env<'_>, mine: &Transfer, theirs: &Transfer) -> Result<(), Wrong> {
        env.on(&self.at).over(&mine.each, &mut |env| {
            let values = values(env, mine);
            // Generated code panics where an expression has no value; the body only sees messages.
            let panicked = Cell::new(None);
            let see = |at: &Place, t: &Transfer| {
                self.message(env.on(at), t, &values).unwrap_or_else(|fault| {
                    panicked.set(Some(fault));
                    None
                })
            };
            let mine = see(&self.at, mine);
            let verdict = step::peer(&self.at, mine.as_ref()).and_then(|there| match there {
                Some(there) => step::matched(&self.at, mine, see(&there, theirs)),
                None => Ok(()),
            });
            panicked.take().map_or(Ok(()), |fault| Err(Wrong::NoValue(fault)))?;
            verdict.map_err(Wrong::from)
        })
    }

    fn facts(&self, env: &mut Env<'_>, l: &Loop) -> Result<(), Wrong> {
        facts(l).try_for_each(|fact| match env.holds(fact)? {
            true => Ok(()),
            false => Err(Wrong::Claim("a fact of `holds` is true")),
        })
    }

    fn round(&self, env: &mut Env<'_>, l: &Loop) -> Result<(), Wrong> {
        match self.harness {
            Harness::Functions => l.transfers.iter().try_for_each(|t| self.valid(env, t)),
            Harness::SendsMatch => pairs(l).try_for_each(|(send, recv)| self.matched(env, send, recv)),
            Harness::ReceivesMatch => pairs(l).try_for_each(|(send, recv)| self.matched(env, recv, send)),
            Harness::Facts if !l.indices.is_empty() => self.facts(env, l),
            Harness::Facts | Harness::Whole => Ok(()),
        }
    }
}

impl Walker for RoundBodies<'_> {
    type Stop = Wrong;

    fn round(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Wrong>> {
        self.begun = Some(n);
        RoundBodies::round(self, env, l).map_err(Halt::Stopped)
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Wrong>> {
        let claimed = self.harness == Harness::Facts && self.begun == Some(n) && !l.indices.is_empty();
        if claimed { self.facts(env, l).map_err(Halt::Stopped) } else { Ok(()) }
    }
}

/// The values of a clause's own indices.
fn values(env: &Env<'_>, t: &Transfer) -> Vec<i64> {
    t.each.iter().map(|index| env.get(index.var.slot)).collect()
}

/// Blocks in the form of generated code: as stripes, or as a single stripe if one suffices.
#[derive(Clone, Debug)]
struct Grouping(Vec<Stripe>);

impl Grouping {
    /// Makes each stripe as long as possible, starting with the first block.
    fn of(blocks: &[usize], p: i64) -> Self {
        let step = |pair: &[usize]| (pair[1] as i64 - pair[0] as i64).rem_euclid(p);
        let (mut stripes, mut rest) = (Vec::new(), blocks);
        while let Some(&first) = rest.first() {
            let by = rest.get(..2).map_or(0, step);
            let count = 1 + rest.windows(2).take_while(|pair| step(pair) == by).count();
            stripes.push(Stripe::new(first as i64, by, count as i64, p));
            rest = &rest[count..];
        }
        Grouping(stripes)
    }
}

impl Blocks for Grouping {
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        self.0.into_iter()
    }

    fn as_stripe(&self) -> Option<Stripe> {
        match self.0[..] {
            [stripe] => Some(stripe),
            _ => None,
        }
    }
}

/// Passes rounds on with their blocks in stripes.
struct Grouped {
    coverage: Coverage,
    p: i64,
}

impl Grouped {
    fn group(&self, blocks: &impl Blocks) -> Grouping {
        Grouping::of(&blocks.each().collect::<Vec<_>>(), self.p)
    }
}

impl Sink for Grouped {
    type Error = Stop;

    fn begin_round(&mut self) -> Result<(), Stop> {
        self.coverage.begin_round()
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Stop> {
        let blocks = self.group(&blocks);
        self.coverage.send(site, to, blocks)
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Stop> {
        let blocks = self.group(&blocks);
        self.coverage.recv(site, from, blocks)
    }

    fn end_round(&mut self) -> Result<(), Stop> {
        self.coverage.end_round()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::of_entry;
    use roundel::algorithms::{Entry, catalogue};
    use roundel_spec::check::Points;
    use roundel_spec::harness::claims::has_harnesses;

    #[test]
    fn blocks_are_grouped_as_they_come() {
        let lists: [(&[usize], usize); 5] =
            [(&[], 0), (&[3], 1), (&[3, 5, 0, 2], 1), (&[4, 4, 4], 1), (&[0, 1, 2, 5, 3, 1, 0], 3)];
        for (blocks, stripes) in lists {
            let grouping = Grouping::of(blocks, 7);
            assert_eq!(grouping.each().collect::<Vec<_>>(), blocks);
            assert_eq!(grouping.0.len(), stripes, "{grouping:?}");
        }
    }

    fn with_harnesses() -> impl Iterator<Item = &'static Entry> {
        catalogue().iter().filter(|entry| has_harnesses(&of_entry(entry)))
    }

    #[test]
    fn the_catalogue_passes_every_body() {
        for entry in with_harnesses() {
            let schedule = of_entry(entry);
            for point in Points::new(&schedule, 1..=9).iter() {
                for harness in Harness::ALL {
                    let verdict = harness.run(&schedule, &point);
                    assert!(verdict.is_ok(), "{} {harness:?}: {verdict:?}", entry.name);
                }
            }
        }
    }
}
