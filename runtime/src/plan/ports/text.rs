//! Parses and prints the notation.

use super::{DigitGroup, Ports};
use std::fmt;
use std::str::FromStr;

/// Why a text is not in the notation of ports and factors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPorts {
    /// There is no group.
    #[error("there is no group: write at least one, such as `8(1 1 1)`")]
    Empty,
    /// A group is not closed, or has no parenthesis.
    #[error("group {group}, `{found}`, is no group: write a factor and its ports, such as `8(-1 1 1 1)`")]
    Shape {
        /// The number of the group, from 1.
        group: usize,
        /// The text found.
        found: String,
    },
    /// A factor is not a valid number of nodes.
    #[error("group {group} has the factor `{found}`: give a number of nodes from 1 to {MOST}")]
    Factor {
        /// The number of the group, from 1.
        group: usize,
        /// The text found.
        found: String,
    },
    /// A port is not a valid number.
    #[error("group {group} has the port `{found}`: give numbers of ports, not 0, from -{MOST} to {MOST}")]
    Port {
        /// The number of the group, from 1.
        group: usize,
        /// The text found.
        found: String,
    },
}

/// The most nodes, and the most ports.
pub(super) const MOST: usize = 1 << 24;

impl FromStr for Ports {
    type Err = NoPorts;

    fn from_str(text: &str) -> Result<Self, NoPorts> {
        let mut groups = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (one, others) = rest.split_once(')').map_or((rest, None), |(one, others)| (one, Some(others)));
            let number = groups.len() + 1;
            let wrong = || NoPorts::Shape { group: number, found: one.trim().into() };
            groups.push(group(number, one, others.is_some())?.ok_or_else(wrong)?);
            rest = others.unwrap_or("").trim();
        }
        if groups.is_empty() { Err(NoPorts::Empty) } else { Ok(Ports { groups }) }
    }
}

/// `8(-1 1 1 1`, up to the closing parenthesis; `None` if it has another shape.
fn group(number: usize, text: &str, closed: bool) -> Result<Option<DigitGroup>, NoPorts> {
    let Some((factor, ports)) = text.split_once('(').filter(|_| closed) else { return Ok(None) };
    if ports.contains('(') || factor.trim().contains(char::is_whitespace) {
        return Ok(None);
    }
    let read = factor.trim().parse().ok().filter(|factor| (1..=MOST).contains(factor));
    let factor = read.ok_or_else(|| NoPorts::Factor { group: number, found: factor.trim().into() })?;
    let port = |word: &str| {
        let read = word.parse().ok().filter(|&port: &i64| port != 0 && port.unsigned_abs() <= MOST as u64);
        read.ok_or_else(|| NoPorts::Port { group: number, found: word.into() })
    };
    let ports = ports.split_whitespace().map(port).collect::<Result<_, _>>()?;
    Ok(Some(DigitGroup { factor, ports }))
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, group) in self.groups.iter().enumerate() {
            write!(f, "{}{group}", if number > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for DigitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports: Vec<String> = self.ports.iter().map(i64::to_string).collect();
        write!(f, "{}({})", self.factor, ports.join(" "))
    }
}
