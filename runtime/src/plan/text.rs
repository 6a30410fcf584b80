//! Plans and parts as text, with a line for each message and each local step: to store, send or read them. A slot is
//! `line.block`, and several slots are `line.first-last`.
//!
//! ```text
//! allreduce p 2 root 0 lines 3 blocks 1
//! round
//! 0 copy 0.0 to 1.0
//! 1 copy 0.0 to 1.0
//! round
//! 0 > 1: 1.0
//! 0 < 1: 2.0
//! 0 combine 1.0 with 2.0 to 1.0
//! 1 > 0: 1.0
//! 1 < 0: 2.0
//! 1 combine 2.0 with 1.0 to 1.0
//! ```
//!
//! The text of a part has `rank 0` after `p 2`, and its steps do not begin with a rank.

use super::{Local, Plan, RankPlan, Slot, SlotMessage, Turn};
use std::fmt;
use std::str::FromStr;

/// Why a text is not a plan, or not a part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The first line is invalid.
    #[error("the text begins with a head such as `{expected}`, but this one with `{found}`")]
    Head {
        /// An example.
        expected: &'static str,
        /// The text found.
        found: String,
    },
    /// A line is not a step.
    #[error(
        "line {number} is no step: `{found}`; write `0 > 1: 1.0`, `0 < 1: 2.0-3`, `0 copy 0.0 to 1.0` or \
         `0 combine 1.0 with 2.0 to 1.0` below a `round`, in a part without the rank"
    )]
    Step {
        /// The line, from 1.
        number: usize,
        /// The text found.
        found: String,
    },
    /// A step names something that does not exist.
    #[error("line {number} names rank, line or block {found}, and there are only {of}")]
    Outside {
        /// The line, from 1.
        number: usize,
        /// The number that it names.
        found: usize,
        /// The limit of such numbers.
        of: usize,
    },
    /// The plan is too large.
    #[error("the head asks for too much memory: give fewer ranks, lines or blocks, at most {MOST} slots together")]
    TooLarge,
}

/// The most slots of a text: of all ranks in a plan, of one rank in a part.
const MOST: usize = 1 << 28;

const PLAN: &str = "allreduce p 2 root 0 lines 3 blocks 1";
const PART: &str = "allreduce p 2 rank 0 root 0 lines 3 blocks 1";

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.line, self.block)
    }
}

impl fmt::Display for SlotMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.peer)?;
        let follows = |a: &Slot, b: &Slot| a.line == b.line && a.block + 1 == b.block;
        for run in self.slots.chunk_by(follows) {
            write!(f, " {}", run[0])?;
            if let [_, .., last] = run {
                write!(f, "-{}", last.block)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Local::Copy { from, to } => write!(f, "copy {from} to {to}"),
            Local::Combine { left, right, into } => write!(f, "combine {left} with {right} to {into}"),
        }
    }
}

impl Turn {
    /// Writes the steps, each with a prefix.
    fn write(&self, f: &mut fmt::Formatter<'_>, before: &str) -> fmt::Result {
        self.sends.iter().try_for_each(|message| writeln!(f, "{before}> {message}"))?;
        self.receives.iter().try_for_each(|message| writeln!(f, "{before}< {message}"))?;
        self.locals.iter().try_for_each(|local| writeln!(f, "{before}{local}"))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { kind, p, root, lines, blocks, .. } = self;
        writeln!(f, "{kind} p {p} root {root} lines {lines} blocks {blocks}")?;
        for round in &self.rounds {
            writeln!(f, "round")?;
            round.iter().enumerate().try_for_each(|(rank, turn)| turn.write(f, &format!("{rank} ")))?;
        }
        Ok(())
    }
}

impl fmt::Display for RankPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankPlan { kind, p, rank, root, lines, blocks, .. } = self;
        writeln!(f, "{kind} p {p} rank {rank} root {root} lines {lines} blocks {blocks}")?;
        for turn in &self.turns {
            writeln!(f, "round")?;
            turn.write(f, "")?;
        }
        Ok(())
    }
}

impl FromStr for Plan {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut lines = NumberedLines::new(text);
        let mut plan = lines.head(PLAN, plan_head)?;
        let limits = TextLimits::new(plan.p, plan.p, plan.lines, plan.blocks)?;
        while let Some(line) = lines.next() {
            if line.text == "round" {
                plan.rounds.push(vec![Turn::default(); plan.p]);
                continue;
            }
            let (rank, step) = line.text.split_once(' ').ok_or_else(|| line.wrong())?;
            let rank: usize = rank.parse().map_err(|_| line.wrong())?;
            line.within(rank, plan.p)?;
            let round = plan.rounds.last_mut().ok_or_else(|| line.wrong())?;
            line.step(step, limits, &mut round[rank])?;
        }
        Ok(plan)
    }
}

impl FromStr for RankPlan {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut lines = NumberedLines::new(text);
        let mut part = lines.head(PART, part_head)?;
        let limits = TextLimits::new(1, part.p, part.lines, part.blocks)?;
        while let Some(line) = lines.next() {
            if line.text == "round" {
                part.turns.push(Turn::default());
                continue;
            }
            let turn = part.turns.last_mut().ok_or_else(|| line.wrong())?;
            line.step(line.text, limits, turn)?;
        }
        Ok(part)
    }
}

impl From<Plan> for String {
    fn from(plan: Plan) -> Self {
        plan.to_string()
    }
}

impl From<RankPlan> for String {
    fn from(part: RankPlan) -> Self {
        part.to_string()
    }
}

impl TryFrom<String> for Plan {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

impl TryFrom<String> for RankPlan {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

/// `allreduce p 2 root 0 lines 3 blocks 1`
fn plan_head(words: &[&str]) -> Option<Plan> {
    let [kind, "p", p, "root", root, "lines", lines, "blocks", blocks] = *words else { return None };
    let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
    let lines = number(lines).filter(|&lines| lines >= 2)?;
    let mut plan = Plan::new(kind.parse().ok()?, number(p)?, lines, number(blocks)?);
    plan.root = root.parse().ok().filter(|&root| root < plan.p)?;
    Some(plan)
}

/// `allreduce p 2 rank 0 root 0 lines 3 blocks 1`
fn part_head(words: &[&str]) -> Option<RankPlan> {
    let [kind, "p", p, "rank", rank, rest @ ..] = words else { return None };
    let Plan { kind, p, root, blocks, lines, .. } = plan_head(&[&[*kind, "p", *p], rest].concat())?;
    let rank = rank.parse().ok().filter(|&rank| rank < p)?;
    Some(RankPlan { kind, p, rank, root, blocks, lines, turns: Vec::new() })
}

/// The limits of the numbers in a step.
#[derive(Clone, Copy)]
struct TextLimits {
    p: usize,
    lines: usize,
    blocks: usize,
}

impl TextLimits {
    /// The limits if the slots of `ranks` ranks are not too many.
    fn new(ranks: usize, p: usize, lines: usize, blocks: usize) -> Result<Self, Malformed> {
        let slots = [lines, blocks].iter().try_fold(ranks, |all, &more| all.checked_mul(more));
        slots.filter(|&slots| slots <= MOST).map(|_| TextLimits { p, lines, blocks }).ok_or(Malformed::TooLarge)
    }
}

/// The lines of a text, with their numbers.
struct NumberedLines<'a>(std::iter::Enumerate<std::str::Lines<'a>>);

impl<'a> NumberedLines<'a> {
    fn new(text: &'a str) -> Self {
        NumberedLines(text.lines().enumerate())
    }

    fn head<T>(&mut self, expected: &'static str, read: impl Fn(&[&str]) -> Option<T>) -> Result<T, Malformed> {
        let first = self.next().map_or("", |line| line.text);
        let words: Vec<&str> = first.split(' ').collect();
        read(&words).ok_or_else(|| Malformed::Head { expected, found: first.into() })
    }

    fn next(&mut self) -> Option<TextLine<'a>> {
        self.0.next().map(|(i, text)| TextLine { number: i + 1, text })
    }
}

/// One line of a text.
#[derive(Clone, Copy)]
struct TextLine<'a> {
    number: usize,
    text: &'a str,
}

impl TextLine<'_> {
    fn wrong(&self) -> Malformed {
        Malformed::Step { number: self.number, found: self.text.into() }
    }

    fn within(&self, found: usize, of: usize) -> Result<(), Malformed> {
        if found < of { Ok(()) } else { Err(Malformed::Outside { number: self.number, found, of }) }
    }

    /// Reads a step into a turn.
    fn step(&self, step: &str, limits: TextLimits, turn: &mut Turn) -> Result<(), Malformed> {
        let words: Vec<&str> = step.split(' ').collect();
        let one = |word: &str| self.slots(word, limits, false).map(|slots| slots[0]);
        match words[..] {
            [">", peer, ref slots @ ..] => turn.sends.push(self.message(peer, slots, limits)?),
            ["<", peer, ref slots @ ..] => turn.receives.push(self.message(peer, slots, limits)?),
            ["copy", from, "to", to] => turn.locals.push(Local::Copy { from: one(from)?, to: one(to)? }),
            ["combine", left, "with", right, "to", into] => {
                turn.locals.push(Local::Combine { left: one(left)?, right: one(right)?, into: one(into)? });
            }
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    /// `1:` and `1.0 2.0-3`
    fn message(&self, peer: &str, slots: &[&str], limits: TextLimits) -> Result<SlotMessage, Malformed> {
        let peer = peer.strip_suffix(':').and_then(|peer| peer.parse().ok()).ok_or_else(|| self.wrong())?;
        self.within(peer, limits.p)?;
        let slots: Result<Vec<_>, _> = slots.iter().map(|word| self.slots(word, limits, true)).collect();
        Ok(SlotMessage::new(peer, slots?.concat()))
    }

    /// `1.0` or, if several are allowed, `1.0-3`
    fn slots(&self, word: &str, limits: TextLimits, several: bool) -> Result<Vec<Slot>, Malformed> {
        let numbers = || {
            let (line, blocks) = word.split_once('.')?;
            let (first, last) = blocks.split_once('-').filter(|_| several).unwrap_or((blocks, blocks));
            Some((line.parse().ok()?, first.parse().ok()?, last.parse().ok()?))
        };
        let (line, first, last): (usize, usize, usize) = numbers().ok_or_else(|| self.wrong())?;
        self.within(line, limits.lines)?;
        self.within(last, limits.blocks)?;
        if first > last {
            return Err(self.wrong());
        }
        Ok((first..=last).map(|block| Slot::new(line as u32, block as u32)).collect())
    }
}
