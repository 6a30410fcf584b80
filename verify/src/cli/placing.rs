//! Placements on the command line: a number of ranks per node, cyclic, or from a file.

use crate::cli::number;
use crate::cli::range::ProcessRange;
use crate::error::Error;
use clap::Args;
use roundel_spec::Placement;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// `--ppn` and `--placement`
#[derive(Clone, Debug, Default, Args)]
pub struct Placing {
    /// Ranks per node; all on one node if left out.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::count)]
    pub ppn: Option<usize>,
    /// How ranks are placed: node by node, cyclically, or by a file that has a line for each rank with the name of its
    /// node (and of its part of the node, and so on) [default: consecutive]
    #[arg(long, value_name = "consecutive|cyclic|FILE")]
    pub placement: Option<RankSpread>,
}

/// How ranks are placed on nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankSpread {
    /// Fills one node after another.
    Consecutive,
    /// Distributes ranks cyclically.
    Cyclic,
    /// Takes the placement from a file.
    File(PathBuf),
}

impl FromStr for RankSpread {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "consecutive" => RankSpread::Consecutive,
            "cyclic" => RankSpread::Cyclic,
            file => RankSpread::File(file.into()),
        })
    }
}

impl Placing {
    /// One placement for every p of a range, if the command line specifies any; a file has one p of its own.
    pub fn over(
        &self,
        range: Option<ProcessRange>,
        default: ProcessRange,
    ) -> Result<Option<(ProcessRange, Vec<Placement>)>, Error> {
        let range = match (&self.placement, self.ppn, range) {
            (None, None, _) => return Ok(None),
            (Some(RankSpread::File(path)), _, None) => {
                let p = read(path)?.len();
                ProcessRange { from: p, to: p }
            }
            (_, _, range) => range.unwrap_or(default),
        };
        let placements: Result<Vec<Placement>, Error> = range.iter().map(|p| self.of(p)).collect();
        Ok(Some((range, placements?)))
    }

    /// The placement of p ranks.
    pub fn of(&self, p: usize) -> Result<Placement, Error> {
        if self.ppn == Some(0) {
            return Err(Error::NoRanksPerNode { p });
        }
        match (&self.placement, self.ppn) {
            (Some(RankSpread::File(path)), None) => of_file(path, p),
            (Some(RankSpread::File(_)), Some(_)) => Err(Error::PlacedTwice),
            (Some(RankSpread::Cyclic), None) => Err(Error::CyclicOverWhat),
            (Some(RankSpread::Cyclic), Some(ppn)) => Ok(Placement::cyclic(p, ppn)),
            (Some(RankSpread::Consecutive) | None, ppn) => Ok(Placement::consecutive(p, ppn.unwrap_or(p))),
        }
    }
}

fn of_file(path: &Path, p: usize) -> Result<Placement, Error> {
    let paths = read(path)?;
    if paths.len() == p {
        Ok(Placement::from_levels(&paths))
    } else {
        Err(Error::OtherPlacement { path: path.into(), found: paths.len(), p })
    }
}

fn read(path: &Path) -> Result<Vec<Vec<usize>>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
    Ok(paths(&text))
}

/// The path on each line. Names are numbered in order of appearance.
pub(crate) fn paths(text: &str) -> Vec<Vec<usize>> {
    let mut names: Vec<&str> = Vec::new();
    let mut number = |name| match names.iter().position(|known| *known == name) {
        Some(number) => number,
        None => {
            names.push(name);
            names.len() - 1
        }
    };
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().map(&mut number).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_the_node_of_every_rank() {
        let paths = paths("# rank by rank\nfast 0\nslow 0\n\nfast 1 # the other socket\nslow 0\n");
        assert_eq!(paths, [vec![0, 1], vec![2, 1], vec![0, 3], vec![2, 1]]);
        let placement = Placement::from_levels(&paths);
        assert_eq!((0..4).map(|rank| placement.node(rank)).collect::<Vec<_>>(), [0, 1, 0, 1]);
    }

    #[test]
    fn contradictions_are_refused() {
        let placing = |ppn, text: &str| Placing { ppn, placement: text.parse().ok() };
        assert!(matches!(placing(Some(0), "cyclic").of(4), Err(Error::NoRanksPerNode { p: 4 })));
        assert!(matches!(placing(None, "cyclic").of(4), Err(Error::CyclicOverWhat)));
        assert!(matches!(placing(Some(2), "nodes.txt").of(4), Err(Error::PlacedTwice)));
        assert!(matches!(placing(None, "/no/such/file").of(4), Err(Error::Read { .. })));
        assert_eq!(placing(Some(2), "cyclic").of(4).map(|placement| placement.node(2)).ok(), Some(0));
    }
}
