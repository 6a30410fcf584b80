//! A recorded run, and its description: its rounds, and what every rank holds in between.
//!
//! Gathers and reductions differ here in one respect only. A slot of a gather is empty or full; a slot of a reduction
//! holds the contributions of some ranks, which the exact check provides.

use crate::report::rounds::{self, DrawnMessage, Holdings, Naming, Round, SlotContent, SlotShare};
use roundel_spec::Direction;
use roundel_spec::check::{self, Point, ReductionStates};
use roundel_spec::contract::ends;
use roundel_spec::eval;
use roundel_spec::record::{self};
use roundel_spec::{Action, Line, Schedule, Site, Trace};
use std::convert::Infallible;

/// The run of all ranks at one point.
#[derive(Debug)]
pub struct PointRun<'a> {
    schedule: &'a Schedule,
    point: &'a Point,
    trace: &'a Trace,
    /// For a reduction: the contributors of every slot, up to the first fault.
    memory: Option<ReductionStates>,
}

impl<'a> PointRun<'a> {
    /// Derives the states from a recording.
    pub fn new(schedule: &'a Schedule, point: &'a Point, trace: &'a Trace) -> Self {
        PointRun { schedule, point, trace, memory: check::contributions(schedule, point, trace) }
    }

    /// The numbers of the rounds with messages; others do not count as rounds.
    pub fn active_rounds(&self) -> Vec<usize> {
        (0..self.trace.rounds()).filter(|&number| self.trace.has_messages(number)).collect()
    }

    /// The number of blocks on each line.
    pub fn blocks(&self) -> usize {
        if let Some(memory) = &self.memory {
            return memory.blocks();
        }
        let blocks = eval::blocks::<Infallible>(self.schedule, &self.point.args, &self.point.placement.place(0));
        blocks.map_or(self.trace.p(), |blocks| blocks as usize)
    }

    /// How blocks are named.
    pub fn naming(&self) -> Naming {
        Naming::of(self.schedule.kind, self.trace.p())
    }

    /// One round, as seen by its senders.
    pub fn round(&self, number: usize) -> Round {
        let mut messages = Vec::new();
        for (from, log) in self.trace.ranks.iter().enumerate() {
            let mut earlier: Vec<usize> = Vec::new();
            for sent in log.directed(number, Direction::Send) {
                let nth = earlier.iter().filter(|&&peer| peer == sent.peer).count();
                earlier.push(sent.peer);
                let blocks: Vec<usize> = log.blocks(sent).iter().map(|&block| block as usize).collect();
                messages.push(DrawnMessage {
                    from,
                    to: sent.peer,
                    contributors: self.contributors(number, from, sent.site.line, &blocks),
                    blocks,
                    naming: self.naming(),
                    nonlocal: self.point.placement.nonlocal(from, sent.peer),
                    effect: self.effect(number, from, sent.peer, nth),
                });
            }
        }
        messages.sort_by_key(|message| (message.from, message.to));
        Round { messages }
    }

    /// The contributors to these blocks, on a line of a rank, before a round.
    fn contributors(&self, round: usize, rank: usize, line: Line, blocks: &[usize]) -> Option<Vec<Vec<usize>>> {
        let memory = self.memory.as_ref()?;
        let ranks = |&block: &usize| memory.contributors(round, rank, line, block).0.into_iter().collect();
        Some(blocks.iter().map(ranks).collect())
    }

    /// For a reduction: the effect of the `nth` message of a pair.
    fn effect(&self, round: usize, from: usize, to: usize, nth: usize) -> Option<String> {
        let is_from = |message: &&record::Message| message.peer == from;
        let received = self.trace.ranks[to].directed(round, Direction::Recv).filter(is_from).nth(nth)?;
        self.memory.as_ref().map(|_| self.effect_of(received.site))
    }

    /// The effect of a receive, in words.
    pub fn effect_of(&self, site: Site) -> String {
        let name = |line: Line| self.schedule.lines.get(usize::from(line)).map_or("", String::as_str);
        let line = name(site.line);
        let side = |side: &str, with: Line| match with == site.line {
            true => format!("{side} of {line}"),
            false => format!("{side} of {}, into {line}", name(with)),
        };
        match site.action {
            Action::Copy => format!("into {line}"),
            Action::Replace => format!("replaces {line}"),
            Action::Overwrite => format!("overwrites {line}"),
            Action::CombineLeft { with } => side("left", with),
            Action::CombineRight { with } => side("right", with),
        }
    }

    /// What every rank holds before the first of some rounds and after each.
    pub fn film(&self, numbers: &[usize]) -> Vec<Holdings> {
        match &self.memory {
            Some(memory) => {
                let after = numbers.iter().map(|number| self.shares(memory, number + 1));
                std::iter::once(self.shares(memory, 0)).chain(after).collect()
            }
            None => {
                let mut holdings = Holdings::initial(
                    self.schedule.kind,
                    self.trace.p(),
                    self.blocks(),
                    self.schedule.root(&self.point.args),
                );
                let mut film = vec![holdings.clone()];
                for (shown, &number) in numbers.iter().enumerate() {
                    holdings.apply(shown, &self.round(number));
                    film.push(holdings.clone());
                }
                film
            }
        }
    }

    /// The same for a picture; for an all-to-all, from which sources ranks hold the blocks for each destination.
    pub fn pictured(&self, numbers: &[usize]) -> Vec<Holdings> {
        let film = self.film(numbers).into_iter().enumerate();
        film.map(|(i, holdings)| holdings.by_destination(i.checked_sub(1)).unwrap_or(holdings)).collect()
    }

    /// The slots of a reduction before a round: line after line, block after block.
    fn shares(&self, memory: &ReductionStates, round: usize) -> Holdings {
        let (p, blocks) = (self.trace.p(), memory.blocks());
        let remote = round.checked_sub(1).map_or_else(Vec::new, |last| self.arrivals_from_other_nodes(last));
        let slot = |rank: usize, row: usize| {
            let (line, block) = ((row / blocks) as Line, row % blocks);
            let ranks = |round| rounds::bits(memory.contributors(round, rank, line, block).0);
            let (have, now) = (memory.count(round, rank, line, block), ranks(round));
            let fresh = if round == 0 { 0 } else { now & !ranks(round - 1) };
            let is_remote = remote.contains(&(rank, block));
            match have {
                0 => SlotContent::Empty,
                _ => SlotContent::Share(SlotShare {
                    have,
                    of: p,
                    ranks: now,
                    fresh,
                    remote: if is_remote { fresh } else { 0 },
                }),
            }
        };
        let rows = memory.lines() * blocks;
        let slots = (0..p).map(|rank| (0..rows).map(|row| slot(rank, row)).collect()).collect();
        Holdings { slots, naming: Naming::Numbers }
    }

    /// The ranks and blocks for which something arrives from another node in a round.
    fn arrivals_from_other_nodes(&self, round: usize) -> Vec<(usize, usize)> {
        let messages = self.round(round).messages.into_iter().filter(|message| message.nonlocal);
        messages.flat_map(|message| message.blocks.into_iter().map(move |block| (message.to, block))).collect()
    }

    /// What a rank of a reduction holds before a round, in words; `None` for gathers.
    pub fn shares_of(&self, rank: usize, round: usize) -> Option<String> {
        let memory = self.memory.as_ref()?;
        let all: Vec<usize> = (0..memory.blocks()).collect();
        let mut parts = Vec::new();
        for (line, name) in self.schedule.lines.iter().enumerate() {
            let contributors = self.contributors(round, rank, line as Line, &all)?;
            let (blocks, contributors): (Vec<usize>, Vec<Vec<usize>>) =
                all.iter().copied().zip(contributors).filter(|(_, ranks)| !ranks.is_empty()).unzip();
            if !blocks.is_empty() {
                let text = rounds::shares(&blocks, &contributors, memory.blocks());
                parts.push(if self.schedule.lines.len() == 1 { text } else { format!("{name}: {text}") });
            }
        }
        Some(parts.join("; "))
    }

    /// The contents of a message, in words.
    pub fn content(&self, message: &DrawnMessage) -> String {
        match &message.contributors {
            Some(contributors) => rounds::shares(&message.blocks, contributors, self.blocks()),
            None => message.naming.text(&message.blocks),
        }
    }

    /// The row of a block among the slots of a rank, in a picture.
    pub fn row(&self, line: &str, block: usize) -> usize {
        if let Naming::Pairs(p) = self.naming() {
            return ends(block, p).1;
        }
        let line = self.schedule.lines.iter().position(|name| name == line).unwrap_or(0);
        line * self.blocks() + block
    }
}
