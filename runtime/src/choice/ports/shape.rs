//! The cost of the rounds of a notation, computed without making the plan.
//!
//! A group of q nodes gathers by cyclic shift: when every node has the data of W nodes from its own upwards, the
//! partner at the distance j W sends the data of W nodes from there, or of as many as are left of q. The data of one
//! node has as many lines as the node kept when it scattered: one after a complete scatter, q if there was none, and
//! then the same line of different nodes is combined. Lines that no node needs are not sent (section 2.1 of Jocksch et
//! al.). The number of lines sent has a closed form, which the tests compare with a removal one by one.

use crate::choice::clock::RoundCost;
use crate::plan::ports::{DigitGroup, Ports};
use roundel_spec::Kind;

/// The rounds of one node, rounded up to the slowest, in an allreduce or a reduce_scatter of a vector of `bytes`
/// bytes, or in an allgather whose result has `bytes` bytes.
pub fn shape(notation: &Ports, kind: Kind, bytes: u64) -> Vec<RoundCost> {
    let mut vector = Vector { bytes, parts: 1 };
    let mut rounds = Vec::new();
    match kind {
        Kind::Allgather => {
            vector.parts = notation.groups.iter().map(|group| group.factor as u64).product();
            notation.groups.iter().for_each(|group| vector.gather(group, &mut rounds));
        }
        Kind::ReduceScatter => notation.groups.iter().for_each(|group| vector.scatter(group, &mut rounds)),
        _ => {
            let (scatters, reduces, gathers) = notation.thirds();
            scatters.iter().for_each(|group| vector.scatter(group, &mut rounds));
            reduces.iter().for_each(|group| vector.reduce(group, &mut rounds));
            gathers.iter().for_each(|group| vector.gather(group, &mut rounds));
        }
    }
    rounds
}

/// A vector of which every node of a group has a part.
struct Vector {
    bytes: u64,
    /// The number of parts.
    parts: u64,
}

impl Vector {
    /// The bytes of a number of lines of a group, rounded up: each line is one of `pieces` equal pieces of a part.
    fn lines(&self, pieces: usize) -> impl Fn(usize) -> u64 {
        let (bytes, of) = (u128::from(self.bytes), u128::from(self.parts) * pieces as u128);
        move |lines| (lines as u128 * bytes).div_ceil(of.max(1)) as u64
    }

    fn gather(&mut self, group: &DigitGroup, rounds: &mut Vec<RoundCost>) {
        self.parts /= group.factor as u64;
        rounds.extend(gathered(group.factor, 1, &group.ports, self.lines(group.factor)));
    }

    fn scatter(&mut self, group: &DigitGroup, rounds: &mut Vec<RoundCost>) {
        let back: Vec<i64> = group.ports.iter().rev().map(|ports| -ports).collect();
        let reversed = gathered(group.factor, 1, &back, self.lines(group.factor));
        rounds.extend(reversed.into_iter().rev().map(|round| RoundCost { combined: round.sent, ..round }));
        self.parts *= group.factor as u64;
    }

    /// An allreduce of the part, with or without an initial partial scatter.
    fn reduce(&self, group: &DigitGroup, rounds: &mut Vec<RoundCost>) {
        let (q, lines) = (group.factor, self.lines(group.factor));
        let scatters = group.ports.iter().take_while(|&&ports| ports < 0).count();
        let (first, then) = group.ports.split_at(scatters);
        let mut kept = q;
        for &ports in first {
            let (round, left) = divided(kept, -ports, &lines);
            rounds.push(round);
            kept = left;
        }
        rounds.extend(gathered(q, kept, then, lines));
    }
}

/// A round of a partial scatter: divides the lines among the ports and the node itself. Also returns the number of
/// lines that remain.
fn divided(kept: usize, ports: i64, lines: impl Fn(usize) -> u64) -> (RoundCost, usize) {
    let left = kept.div_ceil(ports as usize + 1);
    let peers = kept.div_ceil(left) - 1;
    let sent = lines(kept - left);
    (RoundCost { ports: peers, longest: lines(left.min(kept - left)), sent, combined: sent, copied: 0 }, left)
}

/// The rounds of a group of `q` nodes that gathers, if every node begins with `kept` lines.
fn gathered(q: usize, kept: usize, ports: &[i64], lines: impl Fn(usize) -> u64) -> Vec<RoundCost> {
    let (mut rounds, mut width) = (Vec::new(), 1);
    for &ports in ports {
        if width >= q {
            break;
        }
        let next = width.saturating_mul(ports as usize + 1).min(q);
        rounds.push(Shift { q, kept, width, next, ports: ports as usize }.round(&lines));
        width = next;
    }
    rounds
}

/// A round of a cyclic shift.
struct Shift {
    q: usize,
    kept: usize,
    /// The number of nodes whose data a node has, before and after the round.
    width: usize,
    next: usize,
    ports: usize,
}

impl Shift {
    fn round(&self, lines: impl Fn(usize) -> u64) -> RoundCost {
        let peers = self.ports.min((self.q - 1) / self.width);
        let (mut longest, mut sum) = (0, 0);
        for peer in 1..=peers {
            let message = self.message(peer);
            longest = longest.max(message);
            sum += message;
        }
        // Data that was present on either side is combined; the rest is new.
        let new = self.known(self.next) - self.known(self.width);
        let (longest, sent, combined) = (lines(longest), lines(sum), lines(sum.saturating_sub(new)));
        RoundCost { ports: peers, longest, sent, combined, copied: 0 }
    }

    /// The number of different lines that `width` neighbours have.
    fn known(&self, width: usize) -> usize {
        self.q.min(width + self.kept - 1)
    }

    /// The lines for the partner at that distance: those of the nodes that it lacks and, for one of the partners, the
    /// prefixes for the last round if that will not be full.
    fn message(&self, peer: usize) -> usize {
        let whole = self.known(self.width.min(self.q - peer * self.width));
        whole + if self.needs_prefix(peer) { self.prefixes() } else { 0 }
    }

    fn needs_prefix(&self, peer: usize) -> bool {
        let rest = self.q - 1;
        let (digit, full) = (rest / self.width % (self.ports + 1), rest % self.width + 1 == self.width);
        self.next < self.q && !full && digit == peer
    }

    /// The lines that extend beyond the end of a prefix: all of them if nothing was scattered, otherwise those that
    /// begin before it.
    fn prefixes(&self) -> usize {
        if self.kept == self.q { self.q } else { self.kept - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lists;
    use super::*;
    use crate::algorithms::CyclicShiftAllreduce;
    use roundel_spec::check::{self, Census, CheckInput, Point};
    use roundel_spec::{Collective, Placement};
    use std::collections::BTreeSet;

    fn notation(groups: &[(usize, &[i64])]) -> Ports {
        Ports { groups: groups.iter().map(|&(factor, ports)| DigitGroup::gathers(factor, ports)).collect() }
    }

    /// The number of rounds and of bytes sent.
    fn cost(groups: &[(usize, &[i64])], bytes: u64) -> (usize, u64) {
        let rounds = shape(&notation(groups), Kind::Allreduce, bytes);
        (rounds.len(), rounds.iter().map(|round| round.sent).sum())
    }

    /// Table 1 of the paper, with a vector of 39 bytes.
    #[test]
    fn thirty_nine_nodes() {
        let ones = |n: usize| vec![1i64; n];
        let back = |n: usize| vec![-1i64; n];
        assert_eq!(cost(&[(39, &ones(6))], 39), (6, 8 * 39));
        assert_eq!(cost(&[(3, &ones(2)), (13, &ones(4))], 39), (6, 7 * 39));
        assert_eq!(cost(&[(13, &back(4)), (3, &back(2)), (3, &ones(2)), (13, &ones(4))], 39), (12, 76));
        assert_eq!(cost(&[(39, &back(6)), (39, &ones(6))], 39), (12, 76));
    }

    /// The listings of the paper's figures 8 and 9, by the lines that they send: 4, 4, 5, 7 and 4, 4, 4, 4 of 8.
    #[test]
    fn eight_nodes() {
        let sent = |groups: &[(usize, &[i64])]| -> Vec<u64> {
            shape(&notation(groups), Kind::Allreduce, 8).iter().map(|round| round.sent).collect()
        };
        assert_eq!(sent(&[(8, &[-1, 1, 1, 1])]), [4, 4, 5, 7]);
        assert_eq!(sent(&[(2, &[-1]), (4, &[1, 1]), (2, &[1])]), [4, 4, 4, 4]);
    }

    /// The lines of a partial scatter, removed one by one as in the paper's algorithm 1: the number for each partner
    /// in each round.
    ///
    /// Line (o, k) of a node is the sum for its o-th fraction, over those of the first k nodes from its own upwards
    /// that kept a part of it.
    fn removed_one_by_one(q: usize, kept: usize, ports: &[i64]) -> Vec<Vec<usize>> {
        let holds = |o: usize, i: usize| (o + q - i) % q < kept;
        // Lines with the same summands are the same line.
        let line = |o: usize, k: usize| (o, (0..k).rev().find(|&i| holds(o, i)).map_or(0, |i| i + 1));
        let widths = ports.iter().scan(1, |width, &ports| {
            let before = *width;
            *width = q.min(before * (ports as usize + 1));
            Some(before)
        });
        let mut needed: BTreeSet<(usize, usize)> = (0..q).map(|o| line(o, q)).collect();
        let mut rounds = Vec::new();
        for (width, &ports) in widths.collect::<Vec<_>>().into_iter().zip(ports).rev() {
            let mut sent = vec![BTreeSet::new(); ports as usize];
            let mut before: BTreeSet<(usize, usize)> = needed.iter().copied().filter(|&(_, k)| k <= width).collect();
            for &(o, k) in needed.iter().filter(|&&(_, k)| k > width) {
                let last = k.div_ceil(width) - 1;
                before.insert(line(o, width));
                for peer in 1..=last {
                    let of = if peer < last { width } else { k - last * width };
                    sent[peer - 1].insert(line((o + q * width - peer * width) % q, of));
                }
            }
            sent.iter_mut().for_each(|lines| lines.retain(|&(_, k)| k > 0));
            before.extend(sent.iter().flatten());
            before.retain(|&(_, k)| k > 0);
            rounds.push(sent.iter().map(BTreeSet::len).filter(|&lines| lines > 0).collect());
            needed = before;
        }
        rounds.reverse();
        rounds
    }

    #[test]
    fn lines_that_nobody_needs_are_not_sent() {
        for q in 2usize..=26 {
            // A round of a scatter leaves at most half of the lines.
            for kept in (1..=q.div_ceil(2)).chain([q]) {
                for ports in lists::all(q) {
                    let expected = removed_one_by_one(q, kept, &ports);
                    let rounds = gathered(q, kept, &ports, |lines| lines as u64);
                    let found = rounds.iter().map(|round| (round.ports, round.longest, round.sent));
                    let summary = |lines: &Vec<usize>| {
                        (
                            lines.len(),
                            lines.iter().copied().max().unwrap_or(0) as u64,
                            lines.iter().sum::<usize>() as u64,
                        )
                    };
                    assert!(found.eq(expected.iter().map(summary)), "{q} nodes keep {kept}, {ports:?}: {expected:?}");
                }
            }
        }
    }

    #[test]
    fn groups_of_the_same_factor_have_their_phases() {
        let rounds = shape(&notation(&[(4, &[-3]), (4, &[3]), (4, &[3])]), Kind::Allreduce, 1600);
        let longest: Vec<u64> = rounds.iter().map(|round| round.longest).collect();
        let combined: Vec<u64> = rounds.iter().map(|round| round.combined).collect();
        assert_eq!((longest, combined), (vec![400, 400, 400], vec![1200, 1200, 0]));
    }

    /// The generated code of the cyclic shift sends as many vectors in every round.
    #[test]
    fn prefixes_are_those_of_the_catalogue() {
        for q in 2..=40 {
            for ports in lists::all(q) {
                let collective = CyclicShiftAllreduce { ports: ports.clone() };
                let placement = Placement::consecutive(q, q);
                let trace = check::record_code(&collective, &placement);
                let (schedule, args) = (CyclicShiftAllreduce::schedule(), collective.arguments());
                let point = Point { placement, args };
                let census = Census::of(&CheckInput { schedule: &schedule, point: &point, trace: &trace });
                let rounds = shape(&Ports::one(q, &ports), Kind::Allreduce, 1);
                let sent: u64 = rounds.iter().map(|round| round.sent).sum();
                let counted = census.max(roundel_spec::schedule::Metric::BlocksSent);
                assert_eq!((rounds.len(), sent), (ports.len(), counted as u64), "{q} {ports:?}");
            }
        }
    }

    /// Regardless of the ports, every node receives the data that it lacks exactly once.
    #[test]
    fn gathers_and_scatters_move_everything_once() {
        for q in 2..=70 {
            for ports in lists::all(q) {
                let gather = Ports::one(q, &ports);
                let sent = |rounds: &[RoundCost]| rounds.iter().map(|round| round.sent).sum::<u64>();
                let rounds = shape(&gather, Kind::Allgather, 10 * q as u64);
                assert_eq!(sent(&rounds), 10 * (q as u64 - 1), "{gather}");
                assert!(rounds.iter().all(|round| round.combined == 0), "{gather}");
                let scatter = Ports { groups: vec![gather.groups[0].reversed()] };
                let back = shape(&scatter, Kind::ReduceScatter, 10 * q as u64);
                assert_eq!(sent(&back), sent(&rounds));
                assert!(
                    back.iter().zip(rounds.iter().rev()).all(|(a, b)| a.longest == b.longest && a.ports == b.ports)
                );
            }
        }
    }
}
