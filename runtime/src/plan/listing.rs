//! A pattern of ports and factors as a listing, in the notation of the paper that describes it.
//!
//! ```text
//! STAGE 1 FRAC 5 TO 5 4 FROM 5|0 1|4
//! ```
//!
//! After step 1 this node, 5, has a line of fraction 5. It is computed from its own line 0 and from line 4 of node 1;
//! in the next step it stays here and goes to node 4. `-1` is the user's data: the source of stage 0, and the
//! destination of results. Lines of a stage are counted from 0; lines that no result needs are omitted.
//!
//! Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in message-passing
//! systems, Parallel Computing 107, 2021, figures 8 and 9.

use super::ports::{Fractions, GroupsError, Pattern, Ports, Received, Step};
use roundel_spec::Kind;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// The listing of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The collective.
    pub kind: Kind,
    /// Its ports.
    pub ports: Ports,
    /// The number of nodes.
    pub nodes: usize,
    /// The node.
    pub node: usize,
    /// The number of ranks on a node.
    pub ranks_per_node: usize,
    /// The lengths of the fractions in elements; not printed if empty.
    pub sizes: Vec<usize>,
    /// The lines after each step, the initial ones first.
    pub stages: Vec<ListingStage>,
}

/// The lines after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingStage {
    /// The kind of step.
    pub title: &'static str,
    /// The lines.
    pub lines: Vec<ListingLine>,
}

/// A line of a stage. `None` stands for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingLine {
    /// The fraction of the data.
    pub fraction: u32,
    /// The nodes to which it goes next.
    pub to: Vec<Option<usize>>,
    /// The nodes, and their lines, from which it was computed.
    pub from: Vec<(Option<usize>, usize)>,
}

impl Ports {
    /// The listing of a node. There is one fraction for each node.
    ///
    /// # Errors
    /// If the groups do not make such a collective, or the node does not exist.
    pub fn listing(&self, kind: Kind, node: usize) -> Result<Listing, GroupsError> {
        let pattern = self.pattern(kind, Fractions::All)?;
        let nodes = pattern.nodes();
        if node >= nodes {
            return Err(GroupsError::NoSuchNode { node, nodes });
        }
        let stages = ListingWriter::new(&pattern, node).stages();
        Ok(Listing { kind, ports: self.clone(), nodes, node, ranks_per_node: 1, sizes: Vec::new(), stages })
    }
}

/// A pattern from the point of view of one node.
struct ListingWriter<'a> {
    pattern: &'a Pattern,
    node: usize,
    /// The numbers of the fractions, relative to the node.
    fractions: Vec<u32>,
    /// The lines after each step.
    lines: Vec<Vec<u32>>,
    /// Their numbers.
    numbers: Vec<HashMap<u32, usize>>,
}

impl<'a> ListingWriter<'a> {
    fn new(pattern: &'a Pattern, node: usize) -> Self {
        let mut lines = vec![pattern.initial().filter(|&line| pattern.is_live(line)).collect::<Vec<u32>>()];
        for step in pattern.steps() {
            let before = lines.last().into_iter().flatten().copied();
            lines.push(match &step.kept {
                Some(kept) => kept.iter().copied().filter(|&line| pattern.is_live(line)).collect(),
                None => before.chain(pattern.made(step)).collect(),
            });
        }
        let number = |lines: &Vec<u32>| lines.iter().enumerate().map(|(number, &line)| (line, number)).collect();
        let numbers = lines.iter().map(number).collect();
        ListingWriter { pattern, node, fractions: pattern.numbers(node), lines, numbers }
    }

    fn stages(&self) -> Vec<ListingStage> {
        (0..self.lines.len()).map(|stage| self.stage(stage)).collect()
    }

    fn stage(&self, stage: usize) -> ListingStage {
        let step = stage.checked_sub(1).map(|step| &self.pattern.steps()[step]);
        let title = match step {
            None => "initial data",
            Some(Step { kept: Some(_), .. }) => "reduce_scatter step",
            Some(Step { kept: None, .. }) => "allgather step",
        };
        let to = Destinations::new(self, stage);
        let entry = |(number, &line): (usize, &u32)| ListingLine {
            fraction: self.fractions[self.pattern.line(line).fraction as usize],
            to: to.of(line),
            from: step.map_or(vec![(None, number)], |step| self.from(stage, step, line)),
        };
        ListingStage { title, lines: self.lines[stage].iter().enumerate().map(entry).collect() }
    }

    /// The sources of a line of a stage.
    fn from(&self, stage: usize, step: &Step, line: u32) -> Vec<(Option<usize>, usize)> {
        let before = |line: u32| self.numbers[stage - 1].get(&line).or(self.numbers[stage].get(&line)).copied();
        let here = |line: u32| before(line).map(|number| (Some(self.node), number));
        if !step.made.contains(&line) {
            return here(line).into_iter().collect();
        }
        let there = |arrival: &Received| {
            let node = self.pattern.peer(self.node, step, arrival.distance);
            before(arrival.line).map(|number| (Some(node), number))
        };
        let own = self.pattern.line(line).own.and_then(here);
        let arrivals = self.pattern.received(line).iter().filter_map(there);
        if step.kept.is_some() { own.into_iter().chain(arrivals).collect() } else { arrivals.chain(own).collect() }
    }
}

/// The destinations of the lines of a stage.
struct Destinations {
    node: usize,
    /// The lines that are kept, if not all are.
    stay: Option<HashSet<u32>>,
    sent: HashMap<u32, Vec<usize>>,
    results: HashSet<u32>,
}

impl Destinations {
    fn new(writer: &ListingWriter<'_>, stage: usize) -> Self {
        let (pattern, node) = (writer.pattern, writer.node);
        let mut to = Destinations { node, stay: None, sent: HashMap::new(), results: HashSet::new() };
        let Some(step) = pattern.steps().get(stage) else {
            to.results = pattern.results().iter().copied().collect();
            return to;
        };
        to.stay = step.kept.as_ref().map(|kept| {
            kept.iter()
                .map(|&line| if step.made.contains(&line) { pattern.line(line).own.unwrap_or(line) } else { line })
                .collect()
        });
        for arrival in pattern.made(step).flat_map(|line| pattern.received(line)) {
            let nodes = to.sent.entry(arrival.line).or_default();
            let peer = pattern.peer(node, step, pattern.factor(step) - arrival.distance);
            if !nodes.contains(&peer) {
                nodes.push(peer);
            }
        }
        to
    }

    fn of(&self, line: u32) -> Vec<Option<usize>> {
        let stays = self.stay.as_ref().is_none_or(|stay| stay.contains(&line));
        let own = stays.then_some(Some(self.node));
        let sent = self.sent.get(&line).into_iter().flatten().map(|&node| Some(node));
        own.into_iter().chain(sent).chain(self.results.contains(&line).then_some(None)).collect()
    }
}

/// `-1` for the user.
fn number(node: Option<usize>) -> String {
    node.map_or("-1".into(), |node| node.to_string())
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.ports.groups.len() > 1 { "_GROUP" } else { "" };
        writeln!(f, "PARAMETER COLLECTIVE_TYPE {}{group}", self.kind.name().to_uppercase())?;
        writeln!(f, "PARAMETER NODE {}", self.node)?;
        writeln!(f, "PARAMETER NUM_NODES {}", self.nodes)?;
        writeln!(f, "PARAMETER NUM_PORTS {}", self.ports)?;
        writeln!(f, "PARAMETER NODE_RANK 0")?;
        writeln!(f, "PARAMETER NODE_SIZE {}", self.ranks_per_node)?;
        if !self.sizes.is_empty() {
            let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
            writeln!(f, "PARAMETER MESSAGE_SIZES {}", sizes.join(" "))?;
        }
        writeln!(f, "PARAMETER DATA_TYPE LONG_INT")?;
        for (number, stage) in self.stages.iter().enumerate() {
            writeln!(f, "# {}", stage.title)?;
            stage.lines.iter().try_for_each(|entry| writeln!(f, "STAGE {number} {entry}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for ListingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to: Vec<String> = self.to.iter().map(|&node| number(node)).collect();
        let from: Vec<String> = self.from.iter().map(|&(node, line)| format!("{}|{line}", number(node))).collect();
        write!(f, "FRAC {} TO {} FROM {}", self.fraction, to.join(" "), from.join(" "))?;
        if self.to.contains(&None) { write!(f, " # result") } else { Ok(()) }
    }
}
