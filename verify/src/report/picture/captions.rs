//! The descriptions of panels.

use super::Picture;
use super::frame::{DrawnSlot, Frame};
use super::words::counted;
use crate::report::drawing::width;
use crate::report::rounds::{Holdings, Naming, Round, SlotContent, pattern};

/// A description of a round that fits a panel: with many ranks, what every rank does, if all do the same.
pub(super) fn of_round(round: &Round, picture: &Picture<'_>, frame: &Frame) -> String {
    if !frame.compact {
        return counted(round);
    }
    let (p, pairs) = (frame.p, picture.film.first().is_some_and(|first| first.naming != Naming::Numbers));
    let alike = (pairs || frame.slots == p).then(|| pattern(round, p)).flatten();
    match alike.as_deref() {
        Some([one]) if width(one, 11.0) + 160.0 < frame.panel_w => format!("every rank r sends {one}"),
        _ => counted(round),
    }
}

/// What the ranks hold at the start, in words.
pub(super) fn at_the_start(content: DrawnSlot, holdings: &Holdings) -> String {
    match content {
        DrawnSlot::Contributions => return "every rank has its own contribution".into(),
        DrawnSlot::Destinations => return "a row for each destination; cells name the sources".into(),
        DrawnSlot::Blocks => {}
    }
    let holders: Vec<usize> =
        (0..holdings.slots.len()).filter(|&rank| holdings.slots[rank].contains(&SlotContent::Own)).collect();
    let held = |rank: usize| holdings.held(rank).len();
    match holders.as_slice() {
        &[root] if holdings.slots.len() > 1 => match held(root) {
            1 => format!("P{root}, the root, holds the data"),
            n => format!("P{root}, the root, holds all {n} blocks"),
        },
        all if all.iter().all(|&rank| held(rank) == 1) => "every rank holds its own block".into(),
        _ => "what every rank holds".into(),
    }
}
