//! A panel for many ranks: who sends to whom, and below it what every rank holds, with a small square for each.
//!
//! Squares of one colour form one path, so that a picture of 64 ranks stays small.

use super::frame::{DrawnSlot, Frame, column, sizes};
use super::{PanelState, WRONG};
use crate::report::drawing::{
    Anchor, Contour, Drawing, LINE, LOCAL, Lettering, REMOTE, Rectangle, SOFT, Shape, Stroke,
};
use crate::report::rounds::{SlotContent, SlotShare};
use std::collections::BTreeMap;

/// The width of the numbers on the left.
pub(super) const AXIS: f64 = 26.0;
/// The height of the numbers above, and of the name of a matrix.
const LABELS: f64 = 26.0;
/// The distance between the two matrices.
const APART: f64 = 12.0;

/// What is held from the start, or was held before: stronger colours than in large cells.
const OWN: &str = "#64748b";
const HELD: &str = OLD_SHADES[2];
const NEW_LOCAL: &str = LOCAL_SHADES[2];
const NEW_REMOTE: &str = REMOTE_SHADES[2];
const DONE: &str = "#14532d";
/// Shares of a slot, from a quarter to all.
pub(super) const OLD_SHADES: [&str; 4] = ["#f1f3f6", "#e3e7ed", "#ccd3dd", "#aab5c4"];
pub(super) const LOCAL_SHADES: [&str; 4] = ["#b0d4ff", "#86beff", "#549ffa", "#2976ee"];
pub(super) const REMOTE_SHADES: [&str; 4] = ["#ffd09a", "#fdb35f", "#fb8f2b", "#e56600"];

/// The height of both matrices.
pub(super) fn height(frame: &Frame) -> f64 {
    LABELS + frame.p as f64 * frame.cell + APART + LABELS + rows_height(frame)
}

/// A single row of slots is higher, so that it is visible.
fn rows_height(frame: &Frame) -> f64 {
    rows(frame) as f64 * row_height(frame)
}

fn row_height(frame: &Frame) -> f64 {
    if rows(frame) <= 2 { 14.0 } else { frame.cell }
}

fn rows(frame: &Frame) -> usize {
    if frame.by_contributor { frame.p } else { frame.slots }
}

pub(super) fn draw(drawing: &mut Drawing, scene: &PanelState<'_>) {
    let (left, top) = scene.corner();
    let (frame, placement) = (scene.frame, scene.picture.placement);
    let at = |rank: usize| column(placement, rank) as usize;
    let sends = Matrix { x: left + AXIS, y: top + LABELS, cell: frame.cell, row: frame.cell, columns: frame.p };
    let mut squares = Squares::default();
    for message in scene.round.iter().flat_map(|round| &round.messages) {
        squares.add(if message.nonlocal { REMOTE } else { LOCAL }, at(message.from), at(message.to));
    }
    let order: Vec<usize> = placement.order().to_vec();
    sends.frame(drawing, "from (rows) to (columns)", frame.p, &order, &order);
    squares.draw(drawing, &sends);
    let y = sends.y + frame.p as f64 * frame.cell + APART + LABELS;
    let holds = Matrix { y, row: row_height(frame), ..sends };
    let mut squares = Squares::default();
    for (rank, slots) in scene.holdings.slots.iter().enumerate() {
        for (row, slot) in slots.iter().enumerate() {
            match slot {
                SlotContent::Share(share) if frame.by_contributor => contributors(&mut squares, share, at(rank)),
                slot => colour(slot, scene.now()).into_iter().for_each(|colour| squares.add(colour, row, at(rank))),
            }
        }
    }
    let what = match frame.content {
        DrawnSlot::Destinations => "destinations",
        _ if frame.by_contributor => "contributors",
        _ => "blocks",
    };
    let name = format!("{} (rows: {what})", frame.content.unit());
    holds.frame(drawing, &name, rows(frame), &order, &(0..rows(frame)).collect::<Vec<_>>());
    squares.draw(drawing, &holds);
    nodes(drawing, scene, &sends, &holds);
    mark(drawing, scene, &sends, &holds, &at);
}

/// A square for every contribution in a slot.
fn contributors(squares: &mut Squares, share: &SlotShare, column: usize) {
    for rank in (0..share.of.min(64)).filter(|rank| share.ranks >> rank & 1 == 1) {
        let is_in = |ranks: u64| ranks >> rank & 1 == 1;
        let fresh = if is_in(share.remote) { NEW_REMOTE } else { NEW_LOCAL };
        squares.add(if is_in(share.fresh) { fresh } else { HELD }, rank, column);
    }
}

/// The colour of a slot's contents. The more complete a share, the stronger its colour.
fn colour(slot: &SlotContent, now: Option<usize>) -> Option<&'static str> {
    match slot {
        SlotContent::Empty => None,
        SlotContent::Own => Some(OWN),
        SlotContent::Arrived { round, nonlocal } if Some(*round) == now => {
            Some(if *nonlocal { NEW_REMOTE } else { NEW_LOCAL })
        }
        SlotContent::Arrived { .. } => Some(HELD),
        SlotContent::Share(share) => {
            let shade = shade(share);
            Some(match (share.fresh, share.remote) {
                (0, _) if share.is_complete() => DONE,
                (0, _) => OLD_SHADES[shade],
                (_, 0) => LOCAL_SHADES[shade],
                _ => REMOTE_SHADES[shade],
            })
        }
    }
}

/// The quarter of the share, from 0 to 3.
fn shade(share: &SlotShare) -> usize {
    (4 * share.have.saturating_sub(1) / share.of.max(1)).min(3)
}

/// The position of a matrix.
#[derive(Clone, Copy)]
struct Matrix {
    x: f64,
    y: f64,
    cell: f64,
    row: f64,
    columns: usize,
}

impl Matrix {
    /// Its outline with numbers on both axes, spaced so that they are readable.
    fn frame(&self, drawing: &mut Drawing, name: &str, rows: usize, above: &[usize], beside: &[usize]) {
        let (w, h) = (self.columns as f64 * self.cell, rows as f64 * self.row);
        drawing.add(Lettering::new(10.0).colour(SOFT).at(self.x, self.y - 15.0, name));
        drawing.add(Rectangle::new((self.x, self.y), (w, h)).filled("#ffffff").outlined(LINE, 1.0));
        let mut grid = Contour::stroked(Stroke::new("#f1f5f9", 0.8));
        let (mut columns, mut lines) = (Vec::new(), Vec::new());
        for (i, label) in above.iter().enumerate().step_by(apart(self.cell, 17.0)) {
            let x = self.x + i as f64 * self.cell;
            columns.push((x + self.cell / 2.0, self.y - 4.0, label.to_string()));
            if i > 0 {
                grid.add_line([(x, self.y), (x, self.y + h)]);
            }
        }
        for (i, label) in beside.iter().enumerate().step_by(apart(self.row, 9.0)) {
            let y = self.y + i as f64 * self.row;
            lines.push((self.x - 4.0, y + self.row / 2.0 + 3.0, label.to_string()));
            if i > 0 {
                grid.add_line([(self.x, y), (self.x + w, y)]);
            }
        }
        let style = Lettering::new(8.0).colour(SOFT);
        drawing.add(Shape::Labels(style.anchor(Anchor::Middle), columns));
        drawing.add(Shape::Labels(style.anchor(Anchor::End), lines));
        drawing.add(grid);
    }
}

/// The interval between labels: 1, 2, 4, 8, …
fn apart(cell: f64, room: f64) -> usize {
    (0..8).map(|power| 1 << power).find(|&n| n as f64 * cell >= room).unwrap_or(128)
}

/// Squares by colour, row and column.
#[derive(Default)]
struct Squares(BTreeMap<&'static str, BTreeMap<usize, Vec<usize>>>);

impl Squares {
    fn add(&mut self, colour: &'static str, row: usize, column: usize) {
        self.0.entry(colour).or_default().entry(row).or_default().push(column);
    }

    /// One path per colour; neighbours in a row form one rectangle.
    fn draw(mut self, drawing: &mut Drawing, matrix: &Matrix) {
        for (colour, rows) in &mut self.0 {
            let mut path = Contour::filled(colour);
            for (row, columns) in rows {
                columns.sort_unstable();
                columns.dedup();
                for run in columns.chunk_by(|a, b| a + 1 == *b) {
                    let corner = (matrix.x + run[0] as f64 * matrix.cell, matrix.y + *row as f64 * matrix.row);
                    path.add_rectangle(corner, (run.len() as f64 * matrix.cell, matrix.row));
                }
            }
            drawing.add(path);
        }
    }
}

/// Lines between nodes through both matrices, and their names below.
fn nodes(drawing: &mut Drawing, scene: &PanelState<'_>, sends: &Matrix, holds: &Matrix) {
    if !scene.frame.several_nodes {
        return;
    }
    let (mut at, mut lines) = (0, Contour::stroked(Stroke::new("#94a3b8", 0.8)));
    let (side, bottom) = (scene.frame.p as f64 * sends.cell, holds.y + rows_height(scene.frame));
    for (number, size) in sizes(scene.picture.placement).into_iter().enumerate() {
        let (x, y) = (sends.x + at as f64 * sends.cell, sends.y + at as f64 * sends.cell);
        if at > 0 {
            lines.add_line([(x, sends.y), (x, sends.y + side)]);
            lines.add_line([(sends.x, y), (sends.x + side, y)]);
            lines.add_line([(x, holds.y), (x, bottom)]);
        }
        let width = size as f64 * sends.cell;
        if width >= 16.0 {
            let label = if width > 44.0 { format!("node {number}") } else { format!("n{number}") };
            let style = Lettering::new(10.0).colour(SOFT).anchor(Anchor::Middle);
            drawing.add(style.at(x + width / 2.0, bottom + 13.0, label));
        }
        at += size;
    }
    drawing.add(lines);
}

/// Frames around messages, ranks and slots at fault.
fn mark(drawing: &mut Drawing, scene: &PanelState<'_>, sends: &Matrix, holds: &Matrix, at: &dyn Fn(usize) -> usize) {
    let Some(fault) = scene.fault() else { return };
    let mut frame = |x: f64, y: f64, width: f64, height: f64| {
        drawing.add(Rectangle::new((x, y), (width, height)).outlined(WRONG, 2.0));
    };
    let expected = fault.expected.iter().map(|message| (message.from, message.to));
    for (from, to) in fault.messages.iter().copied().chain(expected) {
        let (x, y) = (sends.x + at(to) as f64 * sends.cell, sends.y + at(from) as f64 * sends.cell);
        frame(x - 1.0, y - 1.0, sends.cell + 2.0, sends.cell + 2.0);
    }
    for &rank in &fault.ranks {
        frame(holds.x + at(rank) as f64 * holds.cell, holds.y, holds.cell, rows_height(scene.frame));
    }
    for &(rank, row) in &fault.slots {
        let (x, y) = (holds.x + at(rank) as f64 * holds.cell, holds.y + row as f64 * holds.row);
        frame(x - 1.0, y - 1.0, holds.cell + 2.0, holds.row + 2.0);
    }
}

/// The colours of the legend: held from the start, held, new, new from another node, complete.
pub(super) const COLOURS: [&str; 5] = [OWN, HELD, NEW_LOCAL, NEW_REMOTE, DONE];
