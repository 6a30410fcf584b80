//! A panel for few ranks: a column of slots for each, and an arc for each message.

use super::frame::{CELL_H, CELL_W, FOOT, Frame, GAP, HEAD, PAD, PITCH, rise, sizes};
use super::words::short;
use super::{COMPLETE, HELD, NEW_LOCAL, NEW_REMOTE, OWN, PanelState, WRONG};
use crate::report::drawing::{
    Anchor, Contour, ContourStep, Drawing, LINE, LOCAL, Lettering, REMOTE, Rectangle, SOFT, Stroke, width,
};
use crate::report::highlight::Highlight;
use crate::report::rounds::{DrawnMessage, SlotContent, SlotShare};
use roundel_spec::Placement;

pub(super) fn draw(drawing: &mut Drawing, scene: &PanelState<'_>) {
    let (x, top) = scene.corner();
    let heads = top + scene.frame.band_of(scene.number);
    let places = ColumnPlaces::new(scene.picture.placement, x + PAD);
    boxes(drawing, scene.frame, &places, heads);
    let fault = scene.fault();
    if let Some(round) = scene.round {
        let wrong = |m: &DrawnMessage| fault.is_some_and(|fault| fault.messages.contains(&(m.from, m.to)));
        round
            .messages
            .iter()
            .for_each(|message| arc(drawing, &places, heads, message, look_of(message, wrong(message))));
    }
    if let Some(expected) = fault.and_then(|fault| fault.expected.as_ref()) {
        arc(drawing, &places, heads, expected, stroke(WRONG).dashed(Some((4.0, 3.0))));
    }
    for rank in 0..scene.frame.p {
        column(drawing, places.x[rank], heads, rank, scene.now(), &scene.holdings.slots[rank]);
    }
    fault.iter().for_each(|fault| mark(drawing, &places, heads, fault));
}

/// The horizontal positions of the columns of one panel, grouped by node, and of the nodes' boxes.
struct ColumnPlaces<'a> {
    placement: &'a Placement,
    x: Vec<f64>,
    /// The left edge and the width of every node.
    nodes: Vec<(f64, f64)>,
}

impl<'a> ColumnPlaces<'a> {
    fn new(placement: &'a Placement, left: f64) -> Self {
        let (mut x, mut nodes, mut at) = (vec![0.0; placement.p()], Vec::new(), left);
        let mut ranks = placement.order().iter();
        for size in sizes(placement) {
            nodes.push((at - PAD, size as f64 * PITCH - GAP + 2.0 * PAD));
            for &rank in ranks.by_ref().take(size) {
                x[rank] = at;
                at += PITCH;
            }
            at += GAP;
        }
        ColumnPlaces { placement, x, nodes }
    }
}

/// The boxes of nodes, or one box around all columns.
fn boxes(drawing: &mut Drawing, frame: &Frame, places: &ColumnPlaces<'_>, heads: f64) {
    let height = HEAD + 6.0 + frame.slots as f64 * CELL_H + FOOT;
    for (number, &(x, width)) in places.nodes.iter().enumerate() {
        let whole = height + if frame.several_nodes { 18.0 } else { 0.0 };
        let node = Rectangle::new((x, heads - 6.0), (width, whole)).rounded(8.0);
        drawing.add(node.filled("#f8fafc").outlined("#e2e8f0", 1.0));
        if frame.several_nodes {
            let label = if width > 60.0 { format!("node {number}") } else { format!("n{number}") };
            let style = Lettering::new(11.0).colour(SOFT).anchor(Anchor::Middle);
            drawing.add(style.at(x + width / 2.0, heads + height + 4.0, label));
        }
    }
}

/// A message, from head to head. It leaves on the side of its destination and arrives on the side of its origin, so
/// that outgoing and incoming arrows do not meet.
fn arc(drawing: &mut Drawing, places: &ColumnPlaces<'_>, heads: f64, message: &DrawnMessage, stroke: Stroke) {
    let side = if places.x[message.to] > places.x[message.from] { 1.0 } else { -1.0 };
    let from = places.x[message.from] + CELL_W / 2.0 + 9.0 * side;
    let to = places.x[message.to] + CELL_W / 2.0 - 4.0 * side;
    let (start, end, top) = (heads - 1.0, heads - 3.0, heads - 1.0 - rise(places.placement, message));
    let lean = 0.1 * (to - from);
    let curve = ContourStep::Curve([(from + lean, top), (to - lean, top), (to, end)]);
    let steps = vec![ContourStep::Move(from, start), curve];
    drawing.add(Contour { steps, ..Contour::stroked(stroke) });
}

/// The line of a message.
fn look_of(message: &DrawnMessage, wrong: bool) -> Stroke {
    stroke(match (wrong, message.nonlocal) {
        (true, _) => WRONG,
        (false, true) => REMOTE,
        (false, false) => LOCAL,
    })
}

fn stroke(colour: &'static str) -> Stroke {
    Stroke { opacity: 0.8, ..Stroke::new(colour, 1.3).arrow() }
}

/// Frames around the ranks and slots at fault.
fn mark(drawing: &mut Drawing, places: &ColumnPlaces<'_>, heads: f64, fault: &Highlight) {
    let mut frame = |x: f64, y: f64, height: f64| {
        drawing.add(Rectangle::new((x, y), (CELL_W, height)).rounded(2.0).outlined(WRONG, 2.4));
    };
    fault.ranks.iter().for_each(|&rank| frame(places.x[rank], heads, HEAD));
    let slot = |block: usize| heads + HEAD + 6.0 + block as f64 * CELL_H;
    fault.slots.iter().for_each(|&(rank, block)| frame(places.x[rank], slot(block), CELL_H));
}

fn column(drawing: &mut Drawing, x: f64, heads: f64, rank: usize, round: Option<usize>, slots: &[SlotContent]) {
    let middle = x + CELL_W / 2.0;
    let size = if rank < 10 { 11.0 } else { 10.0 };
    drawing.add(Rectangle::new((x, heads), (CELL_W, HEAD)).rounded(5.0).filled("#334155"));
    let style = Lettering::new(size).bold().colour("#ffffff").anchor(Anchor::Middle);
    drawing.add(style.at(middle, heads + 14.0, format!("P{rank}")));
    for (block, slot) in slots.iter().enumerate() {
        let y = heads + HEAD + 6.0 + block as f64 * CELL_H;
        match slot {
            SlotContent::Share(held) => share(drawing, x, y, held),
            slot => {
                let (fill, text) = look(slot, round);
                fill_part(drawing, (x, y), (0.0, 1.0), fill);
                outline(drawing, x, y, text.map(|text| (block.to_string(), text)));
            }
        }
    }
}

/// The colour and the weight of a cell's text.
type Ink = (&'static str, bool);

const FRESH: Ink = ("#1e3a8a", true);
const FRESH_REMOTE: Ink = ("#7c2d12", true);
const OLD: Ink = ("#475569", false);
const DONE: Ink = ("#ffffff", true);

/// The fill of a cell, and the style of its text, if any.
fn look(slot: &SlotContent, now: Option<usize>) -> (&'static str, Option<Ink>) {
    match slot {
        SlotContent::Empty | SlotContent::Share(_) => ("#ffffff", None),
        SlotContent::Own => (OWN, Some(("#ffffff", true))),
        SlotContent::Arrived { round, nonlocal: false } if Some(*round) == now => (NEW_LOCAL, Some(FRESH)),
        SlotContent::Arrived { round, nonlocal: true } if Some(*round) == now => (NEW_REMOTE, Some(FRESH_REMOTE)),
        SlotContent::Arrived { .. } => (HELD, Some(OLD)),
    }
}

/// A slot with a share of some ranks: a strip for each of these, in rank order, and their names.
fn share(drawing: &mut Drawing, x: f64, y: f64, share: &SlotShare) {
    let ink = match (share.is_complete(), share.fresh, share.remote) {
        (true, 0, _) => DONE,
        (_, 0, _) => OLD,
        (_, _, 0) => FRESH,
        _ => FRESH_REMOTE,
    };
    fill_part(drawing, (x, y), (0.0, 1.0), "#ffffff");
    let is_in = |ranks: u64, rank: usize| ranks >> rank & 1 == 1;
    let old = if share.is_complete() && share.fresh == 0 { COMPLETE } else { HELD };
    let colour = |rank: usize| {
        let fresh = if is_in(share.remote, rank) { NEW_REMOTE } else { NEW_LOCAL };
        is_in(share.ranks, rank).then_some(if is_in(share.fresh, rank) { fresh } else { old })
    };
    let of = share.of.min(64);
    let strips: Vec<(usize, Option<&'static str>)> = (0..of).map(|rank| (rank, colour(rank))).collect();
    // Neighbours of one colour form one strip.
    for run in strips.chunk_by(|(_, a), (_, b)| a == b) {
        if let (Some((first, Some(colour))), Some((last, _))) = (run.first(), run.last()) {
            let ends = (*first as f64 / of as f64, (last + 1) as f64 / of as f64);
            fill_part(drawing, (x, y), ends, colour);
        }
    }
    outline(drawing, x, y, Some((short(share.ranks, share.of), ink)));
}

/// Fills a part of a cell, from one fraction of its width to another.
fn fill_part(drawing: &mut Drawing, (x, y): (f64, f64), (from, to): (f64, f64), colour: &'static str) {
    drawing.add(Rectangle::new((x + from * CELL_W, y), ((to - from) * CELL_W, CELL_H)).filled(colour));
}

fn outline(drawing: &mut Drawing, x: f64, y: f64, text: Option<(String, Ink)>) {
    drawing.add(Rectangle::new((x, y), (CELL_W, CELL_H)).outlined(LINE, 1.0));
    if let Some((text, (colour, bold))) = text {
        let size = [11.0, 9.5, 8.5].into_iter().find(|size| width(&text, *size) < CELL_W - 2.0).unwrap_or(7.5);
        let style = Lettering { bold, ..Lettering::new(size).colour(colour).anchor(Anchor::Middle) };
        drawing.add(style.at(x + CELL_W / 2.0, y + 13.0, text));
    }
}
