//! Caches the last value of every definition: in `[x; x in 0..p, from(x, b)]`, most of what `from` computes depends on
//! `b` alone.

use crate::schedule::Function;
use crate::schedule::expr::Expr;

/// The largest number of variables that a cached value may depend on; with more, caching costs more than it saves.
const MOST: usize = 6;

/// A definition whose value has not been asked for twice in so many calls is not cached any more.
const PATIENCE: u32 = 64;

/// What is known about one definition.
#[derive(Clone, Debug, Default)]
enum Memoized {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It depends on too many variables to be cached, or always on other values.
    Never,
    /// Its last value.
    Last(Seen),
}

/// The last value of a definition, with the variables on which it depends and the steps it took.
#[derive(Clone, Debug)]
struct Seen {
    /// The number of variables.
    count: usize,
    slots: [usize; MOST],
    variables: [i64; MOST],
    value: i64,
    steps: i64,
    /// How often in succession another value was needed.
    misses: u32,
}

/// The last values of all definitions of a schedule, on one rank.
#[derive(Clone, Debug)]
pub(super) struct Memo(Vec<Memoized>);

impl Memo {
    /// An empty cache for this number of definitions.
    pub(super) fn new(functions: usize) -> Self {
        Memo(vec![Memoized::Unknown; functions])
    }

    /// The cached value of a definition whose arguments have been set, and the steps it takes.
    pub(super) fn get(&mut self, index: usize, values: &[i64]) -> Option<(i64, i64)> {
        let Memoized::Last(seen) = &mut self.0[index] else { return None };
        for i in 0..seen.count.min(MOST) {
            if values[seen.slots[i]] != seen.variables[i] {
                return None;
            }
        }
        seen.misses = 0;
        Some((seen.value, seen.steps))
    }

    /// Caches the value of a definition.
    pub(super) fn put(&mut self, functions: &[Function], index: usize, values: &[i64], value: i64, steps: i64) {
        let slot = &mut self.0[index];
        match slot {
            Memoized::Never => return,
            Memoized::Unknown => *slot = first(&dependencies(functions, index)),
            Memoized::Last(seen) if seen.misses == PATIENCE => *slot = Memoized::Never,
            Memoized::Last(seen) => seen.misses += 1,
        }
        if let Memoized::Last(seen) = slot {
            for i in 0..seen.count.min(MOST) {
                seen.variables[i] = values[seen.slots[i]];
            }
            (seen.value, seen.steps) = (value, steps);
        }
    }
}

/// A definition with these dependencies, before its first value.
fn first(dependencies: &[usize]) -> Memoized {
    if dependencies.len() > MOST {
        return Memoized::Never;
    }
    let mut slots = [0; MOST];
    slots[..dependencies.len()].copy_from_slice(dependencies);
    let count = dependencies.len();
    Memoized::Last(Seen { count, slots, variables: [0; MOST], value: 0, steps: 0, misses: 0 })
}

/// The variables on which a definition depends: its arguments, and everything that it and the definitions it calls
/// mention besides their arguments. Lists and the placement do not change during the life of a [`Memo`].
fn dependencies(functions: &[Function], index: usize) -> Vec<usize> {
    let mut slots = Vec::new();
    collect(functions, &functions[index].body, &mut slots);
    slots.sort_unstable();
    slots.dedup();
    slots
}

fn collect(functions: &[Function], body: &Expr, slots: &mut Vec<usize>) {
    body.walk(&mut |e| match e {
        Expr::Var(v) => slots.push(v.slot),
        Expr::Call(_, callee, _) => {
            let own = &functions[*callee].args;
            let outer = dependencies(functions, *callee).into_iter();
            slots.extend(outer.filter(|slot| own.iter().all(|arg| arg.slot != *slot)));
        }
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::expr::{Binary, Var};

    fn function(args: &[(&str, usize)], body: Expr) -> Function {
        let args = args.iter().map(|&(name, slot)| Var { name: name.into(), slot }).collect();
        Function { name: "f".into(), args, body }
    }

    /// `f(a) = a + rank`, and `g = f(s) + 1`.
    fn two() -> [Function; 2] {
        let sum = |a, b| Expr::binary(Binary::Add, a, b);
        let call = Expr::Call("f".into(), 0, vec![Expr::var("s", 7)]);
        [function(&[("a", 8)], sum(Expr::var("a", 8), Expr::var("rank", 0))), function(&[], sum(call, 1.into()))]
    }

    #[test]
    fn what_a_callee_mentions_counts_and_its_arguments_do_not() {
        assert_eq!(dependencies(&two(), 0), [0, 8]);
        assert_eq!(dependencies(&two(), 1), [0, 7]);
    }

    #[test]
    fn a_value_is_known_until_a_variable_changes() {
        let (functions, mut memo, mut values) = (two(), Memo::new(2), [0; 9]);
        assert_eq!(memo.get(1, &values), None);
        memo.put(&functions, 1, &values, 42, 3);
        values[8] = 5;
        assert_eq!(memo.get(1, &values), Some((42, 3)), "the argument of another definition");
        values[0] = 1;
        assert_eq!(memo.get(1, &values), None, "rank is mentioned by what it calls");
    }

    #[test]
    fn a_value_that_always_changes_is_not_cached_any_more() {
        let (functions, mut memo, mut values) = (two(), Memo::new(2), [0; 9]);
        for call in 0..200 {
            values[8] = call;
            assert_eq!(memo.get(0, &values), None, "call {call}");
            memo.put(&functions, 0, &values, call, 1);
        }
        assert_eq!(memo.get(0, &values), None);
        memo.put(&functions, 1, &values, 42, 3);
        assert_eq!(memo.get(1, &values), Some((42, 3)), "other definitions still are");
    }

    #[test]
    fn a_value_that_is_asked_for_now_and_then_stays_cached() {
        let (functions, mut memo, mut values) = (two(), Memo::new(2), [0; 9]);
        for call in 0..200 {
            values[8] = call / 50;
            let found = memo.get(0, &values);
            assert_eq!(found, (call % 50 != 0).then_some((call / 50, 1)), "call {call}");
            if found.is_none() {
                memo.put(&functions, 0, &values, call / 50, 1);
            }
        }
    }
}
