//! What was seen where nothing fits: a table of what ranks hold, round by round.

use super::MissingClause;
use super::sights::{Held, Sight, Sights};
use roundel_spec::Schedule;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::Loop;
use std::collections::BTreeSet;

/// The largest p of which all ranks are shown.
const SHOWN_P: i64 = 6;

/// The ranks that are shown if every p of the domain is larger.
const SHOWN_RANKS: usize = 3;

/// The longest line of a table; a longer one is broken into one for each rank.
const WIDTH: usize = 116;

/// Says what ranks hold before the rounds of a loop, and what to write.
pub(super) fn nothing_fits(schedule: &Schedule, n: usize, sights: &Sights) -> MissingClause {
    let l = &schedule.loops[n];
    let seen = &sights.of_loops[n];
    let all = || seen.iter().map(|sight| sights.p(sight));
    let p = all().filter(|&p| p <= SHOWN_P).max().or(all().min()).unwrap_or(SHOWN_P);
    let ranks = if p <= SHOWN_P { p as usize } else { SHOWN_RANKS };
    let point = seen.iter().find(|sight| sights.p(sight) == p).map(|sight| sight.point);
    let shown = seen.iter().filter(|sight| Some(sight.point) == point && sight.rank < ranks);
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for sight in shown {
        let (when, held) = (when(l, sight), held(schedule, sight, p as usize));
        match rows.iter_mut().find(|(known, _)| *known == when) {
            Some((_, cells)) => cells.push(held),
            None => rows.push((when, vec![held])),
        }
    }
    let place = if schedule.loops.len() > 1 { format!("round {n}") } else { "the round".into() };
    let of = if p <= SHOWN_P { String::new() } else { format!(" of the first {ranks} ranks") };
    let what = if schedule.kind.reduces() { ", whose contributions the blocks of a rank have" } else { "" };
    let seen = format!(
        "no invariant was found for {place}: what ranks hold fits no shape that is known. With p = {p} this was \
         seen{of}{what}:\n{}",
        table(&rows)
    );
    MissingClause { seen, advice: Some(advice(schedule)) }
}

/// What to write.
fn advice(schedule: &Schedule) -> String {
    let (clause, what) = match schedule.kind.reduces() {
        false if schedule.kind.moves() => {
            ("blocks = [rank - j % X -> rank - j % X + j; j in 0..p]".into(), "the blocks that a rank has")
        }
        false if schedule.blocks == Expr::Int(1) => {
            ("blocks = [0; v < n]".into(), "the condition under which a rank holds the data")
        }
        false => ("blocks = [rank + k; k in 0..n]".into(), "the blocks that a rank holds"),
        true => {
            let line = schedule.lines.first().map_or("acc", String::as_str);
            (format!("{line} = [rank + k; k in 0..n]"), "the ranks whose contributions a rank has")
        }
    };
    format!("write `#[holds({clause})]`, with {what} before a round")
}

/// A line for each row, with a column for each rank; or, if that is too wide, a line for each rank.
fn table(rows: &[(String, Vec<String>)]) -> String {
    let heads = |rank: usize| format!("rank {rank}");
    let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let width_of = |rank: usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(rank));
        cells.map(String::len).chain([heads(rank).len()]).max().unwrap_or(0)
    };
    let first = rows.iter().map(|(when, _)| when.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width_of).collect();
    if 4 + first + widths.iter().map(|width| 2 + width).sum::<usize>() > WIDTH {
        let row = |(when, cells): &(String, Vec<String>)| {
            let ranks = cells.iter().enumerate().map(|(rank, cell)| format!("      {}: {cell}\n", heads(rank)));
            format!("    {when}\n{}", ranks.collect::<String>())
        };
        return rows.iter().map(row).collect::<String>().trim_end().into();
    }
    let line = |when: &str, cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("  {cell:width$}"));
        format!("    {when:first$}{}", cells.collect::<String>()).trim_end().to_string()
    };
    let head = line("", &(0..columns).map(heads).collect::<Vec<_>>());
    let rows = rows.iter().map(|(when, cells)| line(when, cells));
    std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
}

fn when(l: &Loop, sight: &Sight) -> String {
    let value = |slot: usize| sight.values.iter().find(|(known, _)| *known == slot).map_or(0, |(_, value)| *value);
    let indices = l.indices.iter().map(|index| &index.var);
    let variables = indices.chain(l.states.iter().map(|state| &state.var));
    let values: Vec<String> = variables.map(|var| format!("{} = {}", var.name, value(var.slot))).collect();
    let time = if sight.inside { "before the round with" } else { "at the end, with" };
    if values.is_empty() { "after the round".into() } else { format!("{time} {}", values.join(", ")) }
}

/// What a rank holds, in words.
fn held(schedule: &Schedule, sight: &Sight, p: usize) -> String {
    let block = |block: &usize| match schedule.kind.moves() {
        true => format!("{}->{}", block / p, block % p),
        false => block.to_string(),
    };
    let set = |set: &BTreeSet<usize>| format!("{{{}}}", set.iter().map(block).collect::<Vec<_>>().join(","));
    match &sight.held {
        Held::Blocks(blocks) => set(blocks),
        Held::Lines(lines) => {
            let line = |(name, blocks): (&String, &Vec<BTreeSet<usize>>)| {
                let all = blocks.iter().map(set).collect::<Vec<_>>();
                let same = all.iter().all(|one| Some(one) == all.first());
                let shown = if same { all.first().cloned().unwrap_or_default() } else { all.join(" ") };
                if schedule.lines.len() > 1 { format!("{name} {shown}") } else { shown }
            };
            schedule.lines.iter().zip(lines).map(line).collect::<Vec<_>>().join(" ")
        }
    }
}
