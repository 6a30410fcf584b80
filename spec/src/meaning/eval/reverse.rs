//! Walks through the rounds of a collective that is the reverse of another one: from the last to the first.
//!
//! States are declared forwards, so each loop is first walked through to see their values in every round.

use super::{Env, Halt, Walker, at, nest};
use crate::schedule::{Loop, SchedulePart};
use std::marker::PhantomData;

/// Walks through all rounds of one rank, the last one first.
pub(super) fn walk<W: Walker>(env: &mut Env<'_>, walker: &mut W) -> Result<(), Halt<W::Stop>> {
    let schedule = env.schedule;
    for (n, l) in schedule.loops.iter().enumerate().rev() {
        for (i, state) in l.states.iter().enumerate() {
            env.values[state.var.slot] = at(SchedulePart::State(n, i), env.eval(&state.init))?;
        }
        let mut rounds = Rounds { values: Vec::new(), stop: PhantomData };
        nest(env, n, l, 0, &[], &mut rounds)?;
        walker.settled(env, n, l)?;
        for values in rounds.values.iter().rev() {
            slots(l).zip(values).for_each(|(slot, value)| env.set(slot, *value));
            walker.round(env, n, l)?;
        }
    }
    Ok(())
}

/// The variables that differ from round to round.
fn slots(l: &Loop) -> impl Iterator<Item = usize> {
    l.indices.iter().map(|index| index.var.slot).chain(l.states.iter().map(|state| state.var.slot))
}

/// Notes the values of the variables in every round.
struct Rounds<E> {
    values: Vec<Vec<i64>>,
    /// It never stops, but its errors are those of the walk it is a part of.
    stop: PhantomData<E>,
}

impl<E> Walker for Rounds<E> {
    type Stop = E;

    fn round(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<E>> {
        self.values.push(slots(l).map(|slot| env.get(slot)).collect());
        Ok(())
    }

    fn settled(&mut self, _env: &mut Env<'_>, _n: usize, _l: &Loop) -> Result<(), Halt<E>> {
        Ok(())
    }
}
