//! A plan as text, a line for each message: to keep it, to send it to another machine, to read it.
//!
//! ```text
//! allreduce p 2 root 0 lines 1 blocks 1
//! round
//! 0 > 1 line 0: 0
//! 0 < 1 line 0 right of 0: 0
//! ```

use super::{Message, Plan};
use roundel_spec::record::Direction;
use roundel_spec::{Action, Line};
use std::fmt;
use std::str::FromStr;

/// A text that is not a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The first line.
    #[error("a plan begins with `allreduce p 2 root 0 lines 1 blocks 1`, but this one with `{found}`")]
    Head {
        /// What stands there.
        found: String,
    },
    /// A message.
    #[error(
        "line {number} is no message: `{found}`; write `0 > 1 line 0: 0` or `0 < 1 line 0 right of 0: 0` below a `round`"
    )]
    Message {
        /// Which line, from 1.
        number: usize,
        /// What stands there.
        found: String,
    },
    /// A message that names something that is not there.
    #[error("line {number} names rank, line or block {found}, and there are only {of}")]
    Outside {
        /// Which line, from 1.
        number: usize,
        /// What it names.
        found: usize,
        /// How many there are.
        of: usize,
    },
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} p {} root {} lines {} blocks {}", self.kind, self.p, self.root, self.lines, self.blocks)?;
        for round in &self.rounds {
            writeln!(f, "round")?;
            for (rank, messages) in round.iter().enumerate() {
                messages.iter().try_for_each(|message| writeln!(f, "{rank} {message}"))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.direction == Direction::Send { '>' } else { '<' };
        write!(f, "{sign} {} line {}", self.peer, self.line)?;
        match self.action {
            Action::Copy => {}
            Action::Replace => write!(f, " replaced")?,
            Action::Overwrite => write!(f, " overwritten")?,
            Action::CombineLeft { with } => write!(f, " left of {with}")?,
            Action::CombineRight { with } => write!(f, " right of {with}")?,
        }
        write!(f, ":")?;
        self.blocks.iter().try_for_each(|block| write!(f, " {block}"))
    }
}

impl FromStr for Plan {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut lines = text.lines().enumerate();
        let first = lines.next().map_or("", |(_, line)| line);
        let mut plan = head(first).ok_or_else(|| Malformed::Head { found: first.into() })?;
        for (i, line) in lines {
            if line == "round" {
                plan.rounds.push(vec![Vec::new(); plan.p]);
                continue;
            }
            let number = i + 1;
            let wrong = || Malformed::Message { number, found: line.into() };
            let (rank, message) = message(line).ok_or_else(wrong)?;
            plan.contains(rank, &message).map_err(|(found, of)| Malformed::Outside { number, found, of })?;
            plan.rounds.last_mut().ok_or_else(wrong)?[rank].push(message);
        }
        Ok(plan)
    }
}

impl Plan {
    /// Whether a message names what there is; otherwise what it names, and how many there are.
    fn contains(&self, rank: usize, message: &Message) -> Result<(), (usize, usize)> {
        let operand = match message.action {
            Action::CombineLeft { with } | Action::CombineRight { with } => with,
            Action::Copy | Action::Replace | Action::Overwrite => 0,
        };
        let named = [(rank, self.p), (message.peer, self.p)].into_iter();
        let named = named.chain([message.line, operand].map(|line| (line as usize, self.lines)));
        let mut named = named.chain(message.blocks.iter().map(|&block| (block, self.blocks)));
        named.find(|(found, of)| found >= of).map_or(Ok(()), Err)
    }
}

/// `allreduce p 2 root 0 lines 1 blocks 1`
fn head(line: &str) -> Option<Plan> {
    let words: Vec<&str> = line.split(' ').collect();
    let [kind, "p", p, "root", root, "lines", lines, "blocks", blocks] = words[..] else { return None };
    let number = |text: &str| text.parse().ok().filter(|&number| number > 0);
    let mut plan = Plan::new(kind.parse().ok()?, number(p)?, number(lines)?, number(blocks)?);
    plan.root = root.parse().ok().filter(|&root| root < plan.p)?;
    Some(plan)
}

/// `0 < 1 line 0 right of 0: 0 1 2`
fn message(line: &str) -> Option<(usize, Message)> {
    let (head, blocks) = line.split_once(':')?;
    let words: Vec<&str> = head.split(' ').collect();
    let [rank, sign, peer, "line", to, action @ ..] = &words[..] else { return None };
    let direction = match *sign {
        ">" => Direction::Send,
        "<" => Direction::Recv,
        _ => return None,
    };
    let with = |text: &str| text.parse::<Line>().ok();
    let action = match action {
        [] => Action::Copy,
        ["replaced"] => Action::Replace,
        ["overwritten"] => Action::Overwrite,
        ["left", "of", operand] => Action::CombineLeft { with: with(operand)? },
        ["right", "of", operand] => Action::CombineRight { with: with(operand)? },
        _ => return None,
    };
    let blocks = blocks.split_whitespace().map(|block| block.parse().ok()).collect::<Option<_>>()?;
    Some((rank.parse().ok()?, Message { direction, peer: peer.parse().ok()?, line: with(to)?, action, blocks }))
}
