//! Enumerates the candidate notations.

use super::lists::{all, balanced, constant};
use crate::plan::ports::{DigitGroup, Ports};
use roundel_spec::Kind;
use std::collections::BTreeSet;

/// Ports of a partial scatter.
const PARTIAL: [i64; 6] = [1, 2, 3, 5, 7, 11];

/// The numbers of ports for which small primes are merged; and the most nodes for which partial scatters are tried
/// with every list.
const LIMITS: [i64; 7] = [1, 2, 3, 5, 7, 11, 12];
const SMALL: usize = 64;

/// The number of ways to split the nodes into two factors that are tried, those with similar factors first.
const SPLITS: usize = 16;

/// All candidates, in a fixed order.
pub(super) fn candidates(kind: Kind, nodes: usize, same_bits: bool) -> BTreeSet<Ports> {
    if nodes < 2 {
        return BTreeSet::from([Ports::one(1, &[])]);
    }
    let lists = lists(nodes);
    let single = lists.iter().map(|list| vec![DigitGroup::gathers(nodes, list)]);
    let gathers = single.chain(factorised(nodes));
    let mut found: BTreeSet<Ports> = match kind {
        Kind::Allgather => gathers.map(|groups| Ports { groups }).collect(),
        Kind::ReduceScatter => gathers.map(|groups| Ports { groups: reversed(&groups) }).collect(),
        _ => gathers.flat_map(|groups| split(&groups)).collect(),
    };
    if kind == Kind::Allreduce {
        found.extend(three_phases(nodes));
        found.extend(partial(nodes, &lists));
        found.retain(|notation| !same_bits || notation.is_complete());
    }
    found
}

/// All lists of a group, and the balanced ones.
fn lists(q: usize) -> Vec<Vec<i64>> {
    let lists: BTreeSet<Vec<i64>> = all(q).into_iter().chain(balanced(q)).collect();
    lists.into_iter().collect()
}

/// The groups that scatter what these gather.
fn reversed(groups: &[DigitGroup]) -> Vec<DigitGroup> {
    groups.iter().rev().map(DigitGroup::reversed).collect()
}

/// Allreduces with these groups: the last ones scatter and gather, and those before reduce.
fn split(groups: &[DigitGroup]) -> Vec<Ports> {
    let at = |reduces: usize| {
        let (middle, around) = groups.split_at(reduces);
        Ports { groups: [&reversed(around), middle, around].concat() }
    };
    (0..=groups.len()).map(at).collect()
}

/// The nodes as a product of primes, with small ones merged, in ascending and in descending order.
fn factorised(nodes: usize) -> Vec<Vec<DigitGroup>> {
    let primes = primes(nodes);
    let mut found = Vec::new();
    for limit in LIMITS {
        let factors = merged(&primes, limit as usize + 1);
        if factors.len() > 1 {
            let groups = factors.iter().map(|&factor| DigitGroup::gathers(factor, &constant(factor, limit)));
            let groups: Vec<DigitGroup> = groups.collect();
            found.push(groups.iter().rev().cloned().collect());
            found.push(groups);
        }
    }
    found
}

/// Prime factors, ascending.
fn primes(n: usize) -> Vec<usize> {
    let (mut left, mut found, mut prime) = (n, Vec::new(), 2);
    while prime * prime <= left {
        while left.is_multiple_of(prime) {
            found.push(prime);
            left /= prime;
        }
        prime += 1;
    }
    found.extend((left > 1).then_some(left));
    found
}

/// Merges neighbours whose product does not exceed a limit.
fn merged(primes: &[usize], limit: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for &prime in primes {
        match found.last_mut() {
            Some(last) if *last * prime <= limit => *last *= prime,
            _ => found.push(prime),
        }
    }
    found
}

/// `a(-…) b(…) a(…)`: a scatter among a nodes, an allreduce among b, and the gather.
fn three_phases(nodes: usize) -> Vec<Ports> {
    let mut found = Vec::new();
    for outer in divisors(nodes) {
        let inner = nodes / outer;
        for around in balanced(outer) {
            let around = DigitGroup::gathers(outer, &around);
            for middle in balanced(inner) {
                let groups = vec![around.reversed(), DigitGroup::gathers(inner, &middle), around.clone()];
                found.push(Ports { groups });
            }
        }
    }
    found
}

/// Some divisors other than 1 and the number itself.
fn divisors(n: usize) -> Vec<usize> {
    let small = (2..).take_while(|d| d * d <= n).filter(|&d| n.is_multiple_of(d));
    let mut all: Vec<usize> = small.flat_map(|d| [d, n / d]).collect();
    all.sort_unstable();
    all.dedup();
    all.sort_by_key(|&d| (d.max(n / d), d));
    all.truncate(SPLITS);
    all
}

/// `p(-m … …)`: one round of a scatter, and then an allreduce of the rest.
fn partial(nodes: usize, lists: &[Vec<i64>]) -> Vec<Ports> {
    let equal = balanced(nodes);
    let lists = if nodes <= SMALL { lists } else { &equal };
    let root = (nodes.isqrt() as i64 - 1).clamp(1, super::lists::MOST);
    let scatters = PARTIAL.into_iter().chain([root]).filter(|&ports| (ports as usize) < nodes / 2);
    let one = |first: i64, list: &Vec<i64>| Ports::one(nodes, &[&[-first], &list[..]].concat());
    scatters.flat_map(|first| lists.iter().map(move |list| one(first, list))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(kind: Kind, nodes: usize, same_bits: bool) -> Vec<String> {
        candidates(kind, nodes, same_bits).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_paper_s_notations_are_tried() {
        let found = texts(Kind::Allreduce, 160, false);
        let expected = [
            "160(12 12)",
            "160(-12 -12) 160(12 12)",
            "16(-3 -3) 10(9) 16(3 3)",
            "160(-2 -4 -10) 160(10 4 2)",
            "160(-1 -1 -1 -2 -6) 160(6 2 1 1 1)",
            "160(-1 -1 -1 -1 -1 -1 -2) 160(2 1 1 1 1 1 1)",
        ];
        for text in expected {
            assert!(found.iter().any(|found| found == text), "{text}");
        }
        let found = texts(Kind::Allreduce, 39, false);
        for text in ["39(1 1 1 1 1 1)", "3(1 1) 13(1 1 1 1)", "13(-1 -1 -1 -1) 3(-1 -1) 3(1 1) 13(1 1 1 1)"] {
            assert!(found.iter().any(|found| found == text), "{text}");
        }
        assert!(texts(Kind::Allreduce, 8, false).contains(&"8(-1 1 1 1)".to_string()));
    }

    #[test]
    fn groups_make_up_all_nodes() {
        for kind in [Kind::Allreduce, Kind::Allgather, Kind::ReduceScatter] {
            for nodes in 2..=130 {
                for notation in candidates(kind, nodes, false) {
                    let (first, second, third) = notation.thirds();
                    let product = |groups: &[DigitGroup]| groups.iter().map(|group| group.factor).product::<usize>();
                    let (whole, reach) = match kind {
                        Kind::Allreduce => (product(first) * product(second), product(third) * product(second)),
                        _ => (product(&notation.groups), nodes),
                    };
                    assert_eq!((whole, reach), (nodes, nodes), "{notation}");
                }
            }
        }
    }

    #[test]
    fn same_bits_need_a_complete_scatter() {
        let all = texts(Kind::Allreduce, 12, true);
        assert!(all.contains(&"12(-11) 12(11)".to_string()) && !all.contains(&"12(11)".to_string()), "{all:?}");
        assert!(!all.iter().any(|text| text.starts_with("12(-1 1")), "{all:?}");
        assert!(all.contains(&"3(-2) 4(-3) 4(3) 3(2)".to_string()), "{all:?}");
    }

    #[test]
    fn there_are_never_more_than_a_few_thousand() {
        for nodes in [2, 64, 160, 720, 1024, 1025, 5040, 65_536, 65_537, 720_720] {
            let count = candidates(Kind::Allreduce, nodes, false).len();
            assert!((1..8000).contains(&count), "{nodes}: {count}");
        }
        assert_eq!(texts(Kind::Allreduce, 1, false), ["1()"]);
    }

    #[test]
    fn numbers_are_factorised() {
        assert_eq!((primes(160), primes(97), primes(1)), (vec![2, 2, 2, 2, 2, 5], vec![97], vec![]));
        assert_eq!((merged(&[2, 2, 2, 2, 2, 5], 13), merged(&[3, 13], 2)), (vec![8, 4, 5], vec![3, 13]));
    }
}
