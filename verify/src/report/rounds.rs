//! The rounds of a run in readable form: who sends which blocks to whom, and what every rank holds afterwards.

use roundel_spec::Kind;
use roundel_spec::contract::ends;
use serde::{Serialize, Serializer};
use std::fmt::Write;

/// How blocks are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By their numbers.
    #[default]
    Numbers,
    /// By source and destination, with this number of ranks.
    Pairs(usize),
}

impl Naming {
    /// The naming for a kind of collective.
    pub fn of(kind: Kind, p: usize) -> Self {
        if kind.moves() { Naming::Pairs(p) } else { Naming::Numbers }
    }

    /// Blocks as text.
    ///
    /// ```
    /// use roundel_verify::report::rounds::Naming;
    /// assert_eq!(Naming::Numbers.text(&[3, 1, 4]), "3 1 4");
    /// assert_eq!(Naming::Pairs(4).text(&[1, 6]), "0→1 1→2");
    /// assert_eq!(Naming::Pairs(3).text(&[1, 2, 3, 4, 5, 6, 7, 8]), "0→1 0→2 1→0 1→1 1→2 … 2→2 (8 blocks)");
    /// ```
    pub fn text(self, blocks: &[usize]) -> String {
        let Naming::Pairs(p) = self else { return compact(blocks) };
        let pair = |&block: &usize| {
            let (source, destination) = ends(block, p);
            format!("{source}→{destination}")
        };
        match blocks {
            [first @ .., last] if blocks.len() > 6 => {
                let first: Vec<String> = first[..5].iter().map(pair).collect();
                format!("{} … {} ({} blocks)", first.join(" "), pair(last), blocks.len())
            }
            few => few.iter().map(pair).collect::<Vec<_>>().join(" "),
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnMessage {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The blocks, in the order in which they are sent.
    pub blocks: Vec<usize>,
    /// How the blocks are named.
    pub naming: Naming,
    /// For a reduction: for each block, the ranks whose contributions it carries, in order.
    pub contributors: Option<Vec<Vec<usize>>>,
    /// Whether it crosses nodes.
    pub nonlocal: bool,
    /// For a reduction: its effect at the receiver, in words.
    pub effect: Option<String>,
}

/// Blocks, for JSON output.
#[derive(Serialize)]
#[serde(untagged)]
enum Named<'a> {
    Numbers(&'a [usize]),
    Pairs(Vec<(usize, usize)>),
}

impl Serialize for DrawnMessage {
    /// A block of an all-to-all is `[source, destination]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            from: usize,
            to: usize,
            blocks: Named<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            contributors: &'a Option<Vec<Vec<usize>>>,
            nonlocal: bool,
        }
        let blocks = match self.naming {
            Naming::Numbers => Named::Numbers(&self.blocks),
            Naming::Pairs(p) => Named::Pairs(self.blocks.iter().map(|&block| ends(block, p)).collect()),
        };
        let DrawnMessage { from, to, contributors, nonlocal, .. } = self;
        Plain { from: *from, to: *to, blocks, contributors, nonlocal: *nonlocal }.serialize(serializer)
    }
}

/// One round: its messages, sorted by sender and receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// The messages.
    pub messages: Vec<DrawnMessage>,
}

impl Round {
    /// The number of blocks sent.
    pub fn blocks(&self) -> usize {
        self.messages.iter().map(|message| message.blocks.len()).sum()
    }
}

/// What every rank holds at one time: for each rank and block, the round in which it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// `slots[rank][block]`
    pub slots: Vec<Vec<SlotContent>>,
    /// How blocks are named: messages move blocks that are pairs.
    pub naming: Naming,
}

/// The content of one slot of a receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotContent {
    /// Nothing yet.
    Empty,
    /// The rank's own block.
    Own,
    /// A block that arrived in this round, counted from 0.
    Arrived {
        /// The round.
        round: usize,
        /// Whether it came from another node.
        nonlocal: bool,
    },
    /// Contributions of some ranks, or blocks from some sources.
    Share(SlotShare),
}

/// The part of a slot that comes from some ranks, for a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotShare {
    /// The number of these ranks.
    pub have: usize,
    /// The number of all ranks.
    pub of: usize,
    /// The ranks, as bits for the first 64.
    pub ranks: u64,
    /// The ranks whose part arrived in this round.
    pub fresh: u64,
    /// The ranks whose part arrived from another node.
    pub remote: u64,
}

impl SlotShare {
    /// Whether all ranks are included.
    pub fn is_complete(&self) -> bool {
        self.have == self.of
    }
}

/// The ranks as bits, as far as a picture shows them.
pub fn bits(ranks: impl IntoIterator<Item = usize>) -> u64 {
    ranks.into_iter().filter(|&rank| rank < 64).fold(0, |bits, rank| bits | 1 << rank)
}

impl Holdings {
    /// For a gather, before the first round.
    pub fn initial(kind: Kind, p: usize, blocks: usize, root: usize) -> Self {
        let slot = |rank, block| {
            if kind.initially_holds(rank, block, root, p) { SlotContent::Own } else { SlotContent::Empty }
        };
        let slots = (0..p).map(|rank| (0..blocks).map(|block| slot(rank, block)).collect()).collect();
        Holdings { slots, naming: Naming::of(kind, p) }
    }

    /// For a gather: applies another round.
    pub fn apply(&mut self, number: usize, round: &Round) {
        for message in &round.messages {
            for &block in &message.blocks {
                if let Some(slot) = self.slots[message.to].get_mut(block) {
                    *slot = SlotContent::Arrived { round: number, nonlocal: message.nonlocal };
                }
                if let Some(slot) = self.slots[message.from].get_mut(block).filter(|_| self.naming != Naming::Numbers)
                {
                    *slot = SlotContent::Empty;
                }
            }
        }
    }

    /// For a picture of pairs: from which sources a rank holds the blocks for each destination. `now` is the last
    /// round.
    pub fn by_destination(&self, now: Option<usize>) -> Option<Holdings> {
        let Naming::Pairs(p) = self.naming else { return None };
        let share = |rank: usize, destination: usize| {
            let held: Vec<(usize, SlotContent)> = (0..p)
                .map(|source| (source, self.slots[rank][source * p + destination]))
                .filter(|(_, slot)| *slot != SlotContent::Empty)
                .collect();
            let sources = |wanted: &dyn Fn(&SlotContent) -> bool| {
                bits(held.iter().filter(|(_, slot)| wanted(slot)).map(|(source, _)| *source))
            };
            let is_new =
                |slot: &SlotContent| matches!(slot, SlotContent::Arrived { round, .. } if Some(*round) == now);
            let is_remote =
                |slot: &SlotContent| is_new(slot) && matches!(slot, SlotContent::Arrived { nonlocal: true, .. });
            let (fresh, remote) = (sources(&is_new), sources(&is_remote));
            SlotShare { have: held.len(), of: p, ranks: sources(&|_| true), fresh, remote }
        };
        let slot = |rank: usize, destination: usize| match share(rank, destination) {
            SlotShare { have: 0, .. } => SlotContent::Empty,
            share => SlotContent::Share(share),
        };
        let slots = (0..p).map(|rank| (0..p).map(|destination| slot(rank, destination)).collect()).collect();
        Some(Holdings { slots, naming: self.naming })
    }

    /// The same, with nothing marked as new.
    pub fn settled(&self) -> Holdings {
        let settled = |slot: &SlotContent| match slot {
            SlotContent::Share(share) => SlotContent::Share(SlotShare { fresh: 0, remote: 0, ..*share }),
            other => *other,
        };
        let slots = self.slots.iter().map(|slots| slots.iter().map(settled).collect()).collect();
        Holdings { slots, naming: self.naming }
    }

    /// The blocks a rank holds.
    pub fn held(&self, rank: usize) -> Vec<usize> {
        let slots = self.slots[rank].iter().enumerate();
        slots.filter(|(_, slot)| **slot != SlotContent::Empty).map(|(block, _)| block).collect()
    }
}

/// A list of blocks as text: a short list in full, a long one by its progressions.
///
/// ```
/// use roundel_verify::report::rounds::compact;
/// assert_eq!(compact(&[3, 1, 4]), "3 1 4");
/// assert_eq!(compact(&[8, 9, 10, 11, 12, 13, 0, 1, 2, 3]), "8–13 0–3");
/// assert_eq!(compact(&[15, 13, 11, 9, 7, 5, 3, 1, 0]), "15 13 … 1 0");
/// ```
pub fn compact(blocks: &[usize]) -> String {
    if blocks.len() <= 6 {
        return join(blocks);
    }
    let mut text = String::new();
    let mut rest = blocks;
    while !rest.is_empty() {
        let len = progression(rest);
        let (run, after) = rest.split_at(len);
        rest = after;
        let gap = if text.is_empty() { "" } else { " " };
        let ascending = len >= 3 && run[1] == run[0] + 1;
        let _ = match run {
            [first, .., last] if ascending => write!(text, "{gap}{first}–{last}"),
            [first, second, .., last] if len >= 4 => write!(text, "{gap}{first} {second} … {last}"),
            _ => write!(text, "{gap}{}", join(run)),
        };
    }
    text
}

/// Blocks with the ranks that have contributed to them; a single block is not named.
///
/// ```
/// use roundel_verify::report::rounds::shares;
/// assert_eq!(shares(&[0], &[vec![0, 1, 2, 3]], 1), "{0–3}");
/// assert_eq!(shares(&[0, 1, 2], &[vec![4], vec![4], vec![1, 4]], 8), "0 1 {4}, 2 {1 4}");
/// ```
pub fn shares(blocks: &[usize], contributors: &[Vec<usize>], of: usize) -> String {
    let mut groups: Vec<(Vec<usize>, &Vec<usize>)> = Vec::new();
    for (&block, ranks) in blocks.iter().zip(contributors) {
        match groups.iter_mut().find(|(_, known)| *known == ranks) {
            Some((members, _)) => members.push(block),
            None => groups.push((vec![block], ranks)),
        }
    }
    let text = |(members, ranks): &(Vec<usize>, &Vec<usize>)| match of {
        1 => format!("{{{}}}", ranges(ranks)),
        _ => format!("{} {{{}}}", compact(members), ranges(ranks)),
    };
    let shown: Vec<String> = groups.iter().take(MOST_GROUPS).map(text).collect();
    match groups.len().saturating_sub(MOST_GROUPS) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The largest number of groups of blocks with different contributors that are listed.
const MOST_GROUPS: usize = 8;

/// Ranks in order; consecutive ones are written as a range.
fn ranges(ranks: &[usize]) -> String {
    let runs: Vec<&[usize]> = ranks.chunk_by(|a, b| a + 1 == *b).collect();
    if runs.len() > 6 {
        return compact(ranks);
    }
    let text = |run: &&[usize]| match run {
        [first, _, .., last] => format!("{first}–{last}"),
        few => join(few),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn join(blocks: &[usize]) -> String {
    blocks.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

/// The length of the longest progression at the beginning; short ones do not count.
fn progression(blocks: &[usize]) -> usize {
    let [first, second, ..] = blocks else { return blocks.len() };
    let step = *second as i64 - *first as i64;
    let same = blocks.windows(2).take_while(|pair| pair[1] as i64 - pair[0] as i64 == step).count();
    let len = same + 1;
    if len >= 4 || (len == 3 && step == 1) { len } else { 1 }
}

/// The messages of every rank in a round, relative to its own rank, if all ranks do the same: one text per message.
pub fn pattern(round: &Round, p: usize) -> Option<Vec<String>> {
    if round.messages.iter().any(|message| message.naming != Naming::Numbers) {
        return pattern_of_pairs(round, p);
    }
    let relative = |rank: usize| -> Vec<(usize, Vec<usize>)> {
        let own = round.messages.iter().filter(|message| message.from == rank);
        let off = |x: usize| (x + p - rank) % p;
        let mut own: Vec<_> = own.map(|m| (off(m.to), m.blocks.iter().map(|&block| off(block)).collect())).collect();
        own.sort();
        own
    };
    let first = relative(0);
    let all_alike = p > 1 && !first.is_empty() && (1..p).all(|rank| relative(rank) == first);
    all_alike.then(|| first.iter().map(|(to, blocks)| sentence(*to, blocks, p)).collect())
}

/// The same for blocks that are pairs: sources are relative to the rank, destinations relative to the source.
fn pattern_of_pairs(round: &Round, p: usize) -> Option<Vec<String>> {
    let relative = |rank: usize| -> Vec<(usize, Vec<(usize, usize)>)> {
        let own = round.messages.iter().filter(|message| message.from == rank);
        let pair = |&block: &usize| {
            let (source, destination) = ends(block, p);
            ((source + p - rank) % p, (destination + p - source) % p)
        };
        let mut own: Vec<_> = own.map(|m| ((m.to + p - rank) % p, m.blocks.iter().map(pair).collect())).collect();
        own.sort();
        own
    };
    let first = relative(0);
    let all_alike = p > 1 && !first.is_empty() && (1..p).all(|rank| relative(rank) == first);
    let sentence = |(to, blocks): &(usize, Vec<(usize, usize)>)| {
        let offsets: Vec<usize> = blocks.iter().map(|(_, offset)| *offset).collect();
        let what = if offsets.len() == 1 { "the block".into() } else { format!("the {} blocks", offsets.len()) };
        format!("{what} for {} further on to {}", compact(&offsets), peer(*to, p))
    };
    all_alike.then(|| first.iter().map(sentence).collect())
}

/// A rank relative to the own one, also by the shorter way around.
fn peer(to: usize, p: usize) -> String {
    match to {
        near if 2 * near <= p => shifted(near as i64),
        far => format!("{} = {}", shifted(far as i64), shifted(far as i64 - p as i64)),
    }
}

fn sentence(to: usize, blocks: &[usize], p: usize) -> String {
    let peer = peer(to, p);
    let what = if blocks.len() == 1 { "block" } else { "blocks" };
    format!("{what} {} to {peer}", relative_blocks(blocks, p))
}

/// Offsets from the own rank, by the shorter way around; a progression by its ends.
fn relative_blocks(offsets: &[usize], p: usize) -> String {
    let near = |offset: usize| {
        let offset = (offset % p) as i64;
        if 2 * offset > p as i64 { offset - p as i64 } else { offset }
    };
    let first = near(offsets[0]);
    let step = offsets.get(1).map_or(0, |&second| near(second + p - offsets[0]));
    let steady = offsets.windows(2).all(|pair| near(pair[1] + p - pair[0]) == step);
    match offsets.len() {
        n if steady && n > 3 => {
            let last = first + step * (n as i64 - 1);
            format!("{}, {} … {}", shifted(first), shifted(first + step), shifted(last))
        }
        n if steady => (0..n as i64).map(|i| shifted(first + step * i)).collect::<Vec<_>>().join(", "),
        n if n <= 6 => offsets.iter().map(|&offset| shifted(near(offset))).collect::<Vec<_>>().join(", "),
        n => format!("{} and {} more", shifted(first), n - 1),
    }
}

fn shifted(offset: i64) -> String {
    match offset {
        0 => "r".into(),
        n if n > 0 => format!("r + {n}"),
        n => format!("r - {}", -n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift(p: usize, to: usize, blocks: &[usize]) -> Round {
        let message = |from: usize| DrawnMessage {
            from,
            to: (from + to) % p,
            blocks: blocks.iter().map(|block| (from + block) % p).collect(),
            naming: Naming::Numbers,
            contributors: None,
            nonlocal: false,
            effect: None,
        };
        Round { messages: (0..p).map(message).collect() }
    }

    #[test]
    fn patterns_are_relative_to_the_rank() {
        assert_eq!(pattern(&shift(5, 4, &[0]), 5), Some(vec!["block r to r + 4 = r - 1".into()]));
        assert_eq!(pattern(&shift(5, 1, &[0, 3]), 5), Some(vec!["blocks r, r - 2 to r + 1".into()]));
        assert_eq!(
            pattern(&shift(16, 8, &[0, 1, 2, 3, 4, 5, 6, 7]), 16),
            Some(vec!["blocks r, r + 1 … r + 7 to r + 8".into()])
        );
        let mut uneven = shift(4, 1, &[0]);
        uneven.messages.pop();
        assert_eq!(pattern(&uneven, 4), None);
        assert_eq!(pattern(&Round { messages: vec![] }, 4), None);
    }

    #[test]
    fn ranks_are_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7]), "0–3 7");
        assert_eq!(ranges(&[0, 1]), "0 1");
        assert_eq!(ranges(&(0..20).map(|k| 2 * k).collect::<Vec<_>>()), "0 2 … 38");
        let each: Vec<Vec<usize>> = (0..9).map(|rank| vec![rank]).collect();
        assert!(shares(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &each, 9).ends_with("7 {7} and 1 more"));
    }

    #[test]
    fn holdings_grow() {
        let mut holdings = Holdings::initial(Kind::Allgather, 3, 3, 0);
        assert_eq!(holdings.held(1), [1]);
        holdings.apply(0, &shift(3, 1, &[0]));
        assert_eq!(holdings.held(1), [0, 1]);
        assert_eq!(holdings.slots[1][0], SlotContent::Arrived { round: 0, nonlocal: false });
    }
}
