//! What was seen where nothing fits: a table of a few ranks, round by round.

use super::sights::{Held, Sight, Sights};
use roundel_spec::Schedule;
use roundel_spec::schedule::Loop;
use std::collections::BTreeSet;

/// The p that is shown, if the domain has it; otherwise the largest below it.
const SHOWN_P: i64 = 6;

/// The ranks that are shown.
const SHOWN_RANKS: usize = 3;

/// Says what ranks hold before the rounds of a loop, and what to write.
pub(super) fn nothing_fits(schedule: &Schedule, n: usize, sights: &Sights) -> String {
    let l = &schedule.loops[n];
    let seen = &sights.of_loops[n];
    let p = seen.iter().map(|sight| sights.p(sight)).filter(|&p| p <= SHOWN_P).max().unwrap_or(SHOWN_P);
    let point = seen.iter().find(|sight| sights.p(sight) == p).map(|sight| sight.point);
    let shown = seen.iter().filter(|sight| Some(sight.point) == point && sight.rank < SHOWN_RANKS);
    let mut lines: Vec<String> = Vec::new();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for sight in shown {
        let when = when(l, sight);
        let cell = format!("rank {} {}", sight.rank, holds(schedule, sight, p as usize));
        match rows.iter_mut().find(|(known, _)| *known == when) {
            Some((_, cells)) => cells.push(cell),
            None => rows.push((when, vec![cell])),
        }
    }
    lines.extend(rows.into_iter().map(|(when, cells)| format!("    {when}: {}", cells.join("; "))));
    let write = match schedule.kind.reduces() {
        false if schedule.kind.moves() => {
            "`#[holds(blocks = [rank - j % X -> rank - j % X + j; j in 0..p])]`, with the blocks that a rank has"
                .into()
        }
        false => {
            "`#[holds(blocks = [rank + k; k in 0..n])]`, with the blocks that a rank holds before a round".into()
        }
        true => {
            let line = schedule.lines.first().map_or("acc", String::as_str);
            format!("`#[holds({line} = [rank + k; k in 0..n])]`, with the ranks whose contributions a rank has")
        }
    };
    let place = if schedule.loops.len() > 1 { format!("round {n}") } else { "the round".into() };
    format!(
        "no invariant was found for {place}: what ranks hold fits no shape that is known. Write {write}. With p = {p} \
         this was seen:\n{}",
        lines.join("\n")
    )
}

fn when(l: &Loop, sight: &Sight) -> String {
    let value = |slot: usize| sight.values.iter().find(|(known, _)| *known == slot).map_or(0, |(_, value)| *value);
    let indices = l.indices.iter().map(|index| &index.var);
    let variables = indices.chain(l.states.iter().map(|state| &state.var));
    let values: Vec<String> = variables.map(|var| format!("{} = {}", var.name, value(var.slot))).collect();
    let time = if sight.inside { "before the round with" } else { "at the end, with" };
    if values.is_empty() { "after the round".into() } else { format!("{time} {}", values.join(", ")) }
}

fn holds(schedule: &Schedule, sight: &Sight, p: usize) -> String {
    let block = |block: &usize| match schedule.kind.moves() {
        true => format!("{} -> {}", block / p, block % p),
        false => block.to_string(),
    };
    let set = |set: &BTreeSet<usize>| format!("{{{}}}", set.iter().map(block).collect::<Vec<_>>().join(", "));
    match &sight.held {
        Held::Blocks(blocks) => format!("holds {}", set(blocks)),
        Held::Lines(lines) => {
            let line = |(name, blocks): (&String, &Vec<BTreeSet<usize>>)| {
                let all = blocks.iter().map(set).collect::<Vec<_>>();
                let same = all.iter().all(|one| Some(one) == all.first());
                let shown = if same { all.first().cloned().unwrap_or_default() } else { all.join(" ") };
                format!("{name} from {shown}")
            };
            schedule.lines.iter().zip(lines).map(line).collect::<Vec<_>>().join(", ")
        }
    }
}
