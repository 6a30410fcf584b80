//! Enumerates candidate lists of ports.

/// The most messages at once.
pub(super) const MOST: i64 = 12;

/// Groups up to this size try every number of ports in every round.
const EVERY: usize = 1024;

/// Larger groups try these.
const SOME: [i64; 6] = [1, 2, 3, 5, 7, 11];

/// Lists with which `q` nodes gather all data, without a superfluous port in the last round. Ports do not increase:
/// later rounds of an allgather have longer messages, which gain least from many ports.
pub(super) fn all(q: usize) -> Vec<Vec<i64>> {
    let every: Vec<i64> = (1..=MOST).collect();
    let mut found = Vec::new();
    if q > 1 {
        extend(q, if q <= EVERY { &every } else { &SOME }, 1, &mut Vec::new(), &mut found);
    }
    found
}

fn extend(q: usize, choices: &[i64], width: usize, list: &mut Vec<i64>, found: &mut Vec<Vec<i64>>) {
    let most = list.last().copied().unwrap_or(MOST);
    for &ports in choices.iter().take_while(|&&ports| ports <= most) {
        let next = width.saturating_mul(ports as usize + 1);
        list.push(ports);
        if next >= q {
            found.push(list.clone());
            list.pop();
            // More ports would be superfluous.
            return;
        }
        extend(q, choices, next, list, found);
        list.pop();
    }
}

/// One list for each number of rounds, with ports as equal as possible.
pub(super) fn balanced(q: usize) -> Vec<Vec<i64>> {
    let enough = (0usize..).take_while(|&rounds| rounds == 0 || 1usize << (rounds - 1) < q).last().unwrap_or(0);
    (1..=enough).filter_map(|rounds| equal(q, rounds as u32)).collect()
}

/// Ports for a number of rounds, as equal as possible, if they are few enough.
fn equal(q: usize, rounds: u32) -> Option<Vec<i64>> {
    let mut left = q;
    let radix = |left: usize, rounds: u32| (2..=MOST as usize + 1).find(|radix| radix.saturating_pow(rounds) >= left);
    let ports = (0..rounds).rev().map(|after| {
        let radix = radix(left, after + 1)?;
        left = left.div_ceil(radix);
        Some(radix as i64 - 1)
    });
    ports.collect()
}

/// At most `ports` ports in every round, and exactly that many in all but the last.
pub(super) fn constant(q: usize, ports: i64) -> Vec<i64> {
    let (mut width, mut list) = (1usize, Vec::new());
    while width < q {
        let needed = q.div_ceil(width) as i64 - 1;
        list.push(ports.min(needed));
        width = width.saturating_mul(ports as usize + 1);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(list: &[i64]) -> usize {
        list.iter().map(|&ports| ports as usize + 1).product()
    }

    #[test]
    fn every_list_reaches_and_none_by_far() {
        for q in 2..300 {
            for list in all(q) {
                assert!(reached(&list) >= q && list.is_sorted_by(|a, b| a >= b), "{q} {list:?}");
                let mut less = list.clone();
                *less.last_mut().expect("has rounds") -= 1;
                assert!(reached(&less) < q, "{q} {list:?}");
            }
            for list in balanced(q) {
                assert!(reached(&list) >= q && list.iter().all(|ports| (1..=MOST).contains(ports)), "{q} {list:?}");
            }
            for ports in 1..=MOST {
                assert!(reached(&constant(q, ports)) >= q, "{q} {ports}");
            }
        }
    }

    /// All lists of Table 2 of the paper, for 160 nodes.
    #[test]
    fn the_lists_of_the_paper_are_there() {
        let lists = all(160);
        let expected: [&[i64]; 9] = [
            &[12, 12],
            &[10, 4, 2],
            &[8, 5, 2],
            &[8, 2, 2, 1],
            &[6, 2, 1, 1, 1],
            &[4, 1, 1, 1, 1, 1],
            &[5, 1, 1, 1, 1, 1],
            &[2, 1, 1, 1, 1, 1, 1],
            &[1; 8],
        ];
        for list in expected {
            assert!(lists.iter().any(|found| found == list), "{list:?}");
        }
        assert_eq!((balanced(160)[0].clone(), balanced(16)[1].clone()), (vec![12, 12], vec![2, 2, 1]));
        assert_eq!((balanced(10)[0].clone(), balanced(16)[0].clone()), (vec![9], vec![3, 3]));
    }

    #[test]
    fn large_groups_have_few_lists() {
        assert!(all(1024).len() < 1000 && all(65_536).len() < 1000 && all(1 << 20).len() < 3000);
        assert_eq!((all(1).len(), balanced(1).len(), constant(1, 3).len()), (0, 0, 0));
    }
}
