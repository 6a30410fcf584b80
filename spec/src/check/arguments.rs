//! The parameters of a check: all combinations within limits, generated one by one.
//!
//! There may be very many, so they are numbered instead of listed: the n-th combination is computed from n.

use crate::schedule::arguments::Arguments;
use crate::schedule::{Domain, Limits, Schedule};
use std::ops::RangeInclusive;

/// All combinations of parameter values.
#[derive(Clone, Debug)]
pub struct Choices {
    parameters: Vec<ParameterValues>,
    /// The parameters of inner collectives: the minimum of each.
    inner: Vec<Arguments>,
}

/// The values of one parameter.
#[derive(Clone, Debug)]
enum ParameterValues {
    /// `count` numbers, starting at `lo`.
    Number { lo: i64, count: u64 },
    /// Lists of up to `len` such numbers, the shortest first.
    List { lo: i64, count: u64, len: i64 },
    /// Only this number.
    FixedNumber(i64),
    /// Only this list.
    FixedList(Vec<i64>),
}

impl Choices {
    /// The values of the domains that lie within limits.
    pub fn within(schedule: &Schedule, limits: &Limits) -> Self {
        let numbers = schedule.numbers.iter().zip(&limits.numbers);
        let numbers =
            numbers.map(|(n, &limit)| ParameterValues::Number { lo: n.domain.lo, count: values(&n.domain, limit) });
        let lists = schedule.lists.iter().zip(&limits.lists);
        let lists = lists.map(|(l, &(len, limit))| ParameterValues::List {
            lo: l.domain.lo,
            count: values(&l.domain, limit),
            len,
        });
        Choices { parameters: numbers.chain(lists).collect(), inner: least_inner(schedule) }
    }

    /// A single combination.
    pub fn only(args: Arguments) -> Self {
        let numbers = args.numbers.into_iter().map(ParameterValues::FixedNumber);
        let parameters = numbers.chain(args.lists.into_iter().map(ParameterValues::FixedList)).collect();
        Choices { parameters, inner: args.inner }
    }

    /// The largest values: of each number, and the length and elements of each list. `None` unless the combinations
    /// cover all values from the minimum of each domain up to these.
    #[allow(clippy::type_complexity)]
    pub fn limits(&self, schedule: &Schedule) -> Option<(Vec<Option<i64>>, Vec<Option<(i64, i64)>>)> {
        let (mut numbers, mut lists) = (Vec::new(), Vec::new());
        let largest = |lo: i64, count: u64| lo.saturating_add_unsigned(count).saturating_sub(1);
        for parameter in &self.parameters {
            match *parameter {
                ParameterValues::Number { lo, count } if lo <= schedule.numbers.get(numbers.len())?.domain.lo => {
                    numbers.push(Some(largest(lo, count)));
                }
                ParameterValues::List { lo, count, len } if lo <= schedule.lists.get(lists.len())?.domain.lo => {
                    lists.push(Some((len, largest(lo, count))));
                }
                _ => return None,
            }
        }
        Some((numbers, lists))
    }

    /// The same, but only with these values of number parameter `n`.
    pub fn with_number(mut self, n: usize, values: RangeInclusive<i64>) -> Self {
        let is_number = |choice: &&mut ParameterValues| {
            matches!(choice, ParameterValues::Number { .. } | ParameterValues::FixedNumber(_))
        };
        if let Some(choice) = self.parameters.iter_mut().filter(is_number).nth(n) {
            let count = if values.is_empty() { 0 } else { values.end().abs_diff(*values.start()).saturating_add(1) };
            *choice = ParameterValues::Number { lo: *values.start(), count };
        }
        self
    }

    /// The same, but only with this value of list parameter `n`.
    pub fn with_list(mut self, n: usize, list: Vec<i64>) -> Self {
        let is_list = |choice: &&mut ParameterValues| {
            matches!(choice, ParameterValues::List { .. } | ParameterValues::FixedList(_))
        };
        if let Some(choice) = self.parameters.iter_mut().filter(is_list).nth(n) {
            *choice = ParameterValues::FixedList(list);
        }
        self
    }

    /// The number of combinations, capped at `u64::MAX`.
    pub fn count(&self) -> u64 {
        self.parameters.iter().map(ParameterValues::count).fold(1, u64::saturating_mul)
    }

    /// The approximate number of combinations, without a cap.
    pub fn estimate(&self) -> f64 {
        self.parameters.iter().map(ParameterValues::estimate).product()
    }

    /// Combination number `n`; the last parameter changes fastest.
    pub fn nth(&self, n: u64) -> Arguments {
        let mut rest = n;
        let mut digits: Vec<u64> = Vec::with_capacity(self.parameters.len());
        for choice in self.parameters.iter().rev() {
            let count = choice.count().max(1);
            digits.push(rest % count);
            rest /= count;
        }
        let mut args = Arguments { inner: self.inner.clone(), ..Arguments::default() };
        for (choice, &digit) in self.parameters.iter().zip(digits.iter().rev()) {
            choice.push(digit, &mut args);
        }
        args
    }

    /// All combinations, in order.
    pub fn iter(&self) -> impl Iterator<Item = Arguments> + '_ {
        (0..self.count()).map(|n| self.nth(n))
    }
}

/// The minimum of every parameter, for inner collectives whose schedule is known.
pub fn least_inner(schedule: &Schedule) -> Vec<Arguments> {
    let least = |inner: &Schedule| Arguments {
        numbers: inner.numbers.iter().map(|number| number.domain.lo).collect(),
        lists: inner.lists.iter().map(|_| Vec::new()).collect(),
        inner: least_inner(inner),
    };
    schedule.inners.iter().filter_map(|inner| inner.schedule.as_deref()).map(least).collect()
}

impl ParameterValues {
    fn count(&self) -> u64 {
        match *self {
            ParameterValues::Number { count, .. } => count,
            ParameterValues::List { count, len, .. } => {
                let longest = |len: i64| count.saturating_pow(len.min(u32::MAX.into()) as u32);
                // With one value, the sum has one term per length; with more values, it soon exceeds any number.
                match count {
                    0 | 1 => 1 + count * len.max(0) as u64,
                    _ => (0..=len.clamp(0, 64)).map(longest).fold(0, u64::saturating_add),
                }
            }
            ParameterValues::FixedNumber(_) | ParameterValues::FixedList(_) => 1,
        }
    }

    fn estimate(&self) -> f64 {
        match *self {
            ParameterValues::Number { count, .. } => count as f64,
            ParameterValues::List { count, len, .. } if count > 1 => {
                let count = count as f64;
                (count.powf(len as f64 + 1.0) - 1.0) / (count - 1.0)
            }
            ParameterValues::List { .. } => self.count() as f64,
            ParameterValues::FixedNumber(_) | ParameterValues::FixedList(_) => 1.0,
        }
    }

    fn push(&self, n: u64, args: &mut Arguments) {
        match self {
            ParameterValues::Number { lo, .. } => args.numbers.push(lo.saturating_add_unsigned(n)),
            ParameterValues::FixedNumber(value) => args.numbers.push(*value),
            ParameterValues::FixedList(values) => args.lists.push(values.clone()),
            ParameterValues::List { lo, count, .. } => args.lists.push(list(*lo, *count, n)),
        }
    }
}

/// List number `n` over `count` values starting at `lo`: sorted by length, then by elements.
fn list(lo: i64, count: u64, n: u64) -> Vec<i64> {
    let (mut rest, mut len, mut of_len) = (n, 0, 1u64);
    while rest >= of_len {
        rest -= of_len;
        of_len = of_len.saturating_mul(count);
        len += 1;
    }
    let mut list = vec![lo; len];
    for element in list.iter_mut().rev() {
        *element = lo.saturating_add_unsigned(rest % count.max(1));
        rest /= count.max(1);
    }
    list
}

/// The number of values of a domain within a limit.
fn values(domain: &Domain, limit: i64) -> u64 {
    let most = domain.up_to(limit);
    if most < domain.lo { 0 } else { most.abs_diff(domain.lo).saturating_add(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_shortest_first() {
        let choices = Choices { parameters: vec![ParameterValues::List { lo: 1, count: 2, len: 2 }], inner: vec![] };
        let lists: Vec<_> = choices.iter().flat_map(|args| args.lists).collect();
        assert_eq!(lists, [vec![], vec![1], vec![2], vec![1, 1], vec![1, 2], vec![2, 1], vec![2, 2]]);
        let ones = Choices { parameters: vec![ParameterValues::List { lo: 7, count: 1, len: 3 }], inner: vec![] };
        assert_eq!(ones.iter().map(|args| args.lists[0].len()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn the_last_parameter_changes_fastest() {
        let parameters = vec![
            ParameterValues::Number { lo: 2, count: 2 },
            ParameterValues::FixedNumber(9),
            ParameterValues::Number { lo: 0, count: 3 },
        ];
        let numbers: Vec<_> = Choices { parameters, inner: vec![] }.iter().map(|args| args.numbers).collect();
        assert_eq!(numbers, [[2, 9, 0], [2, 9, 1], [2, 9, 2], [3, 9, 0], [3, 9, 1], [3, 9, 2]]);
    }

    #[test]
    fn parameters_are_set_one_by_one() {
        let parameters =
            vec![ParameterValues::Number { lo: 2, count: 7 }, ParameterValues::List { lo: 1, count: 2, len: 2 }];
        let choices = Choices { parameters, inner: vec![] }.with_number(0, 5..=6).with_list(0, vec![3, 1]);
        let all: Vec<_> = choices.iter().map(|args| (args.numbers[0], args.lists[0].clone())).collect();
        assert_eq!(all, [(5, vec![3, 1]), (6, vec![3, 1])]);
    }

    #[test]
    fn there_may_be_very_many() {
        let parameters = vec![
            ParameterValues::List { lo: 1, count: 1 << 40, len: 60 },
            ParameterValues::Number { lo: 1, count: u64::MAX },
            ParameterValues::List { lo: 1, count: 1, len: i64::MAX - 1 },
        ];
        let choices = Choices { parameters, inner: vec![] };
        assert_eq!(choices.count(), u64::MAX);
        assert!(choices.estimate() > 1e40);
        assert_eq!(choices.iter().nth(5).map(|args| args.lists[1].len()), Some(5));
    }
}
