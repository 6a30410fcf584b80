//! The legend below the panels: the meaning of colours and lines.

use super::frame::{DrawnSlot, Frame, MARGIN};
use super::{COMPLETE, HELD, NEW_LOCAL, NEW_REMOTE, OWN, WRONG, matrix};
use crate::report::drawing::{
    Anchor, Contour, Drawing, LINE, LOCAL, Lettering, REMOTE, Rectangle, SOFT, Stroke, width,
};

/// The font size.
const SIZE: f64 = 12.0;
/// The height of a line.
const LINE_H: f64 = 22.0;

enum Sample {
    Cell(&'static str),
    Arrow(&'static str),
    /// Text as in a cell.
    Text(&'static str),
}

fn entries(frame: &Frame) -> Vec<(Sample, &'static str)> {
    let [own, held, local, remote, done] =
        if frame.compact { matrix::COLOURS } else { [OWN, HELD, NEW_LOCAL, NEW_REMOTE, COMPLETE] };
    let nodes = frame.several_nodes;
    let message = |colour| if frame.compact { Sample::Cell(colour) } else { Sample::Arrow(colour) };
    let mut all = Vec::new();
    match frame.content {
        DrawnSlot::Blocks => {
            all.push((Sample::Cell(own), if frame.rooted { "the root's data" } else { "own block" }));
            all.push((Sample::Cell(held), "held"));
        }
        DrawnSlot::Contributions => all.push((Sample::Cell(held), "contributions so far")),
        DrawnSlot::Destinations => all.push((Sample::Cell(held), "blocks for a destination")),
    }
    all.push((Sample::Cell(local), if nodes { "new, from the same node" } else { "new in this round" }));
    if nodes {
        all.push((Sample::Cell(remote), "new, from another node"));
    }
    if frame.content != DrawnSlot::Blocks {
        if !frame.by_contributor {
            all.push((Sample::Cell(done), "all of them"));
        }
        if !frame.compact {
            all.push((Sample::Text("0–2"), "of these ranks"));
            all.push((Sample::Text("Σ3"), "of 3 ranks"));
        }
    }
    all.push((message(LOCAL), if nodes { "message inside a node" } else { "message" }));
    if nodes {
        all.push((message(REMOTE), "between nodes"));
    }
    if frame.faulty {
        all.push((message(WRONG), "at fault"));
    }
    all
}

/// The entries in lines that fit the canvas, each with its width.
fn lines(frame: &Frame) -> Vec<Vec<(Sample, &'static str, f64)>> {
    let most = frame.width - 2.0 * MARGIN;
    let mut lines: Vec<Vec<(Sample, &'static str, f64)>> = vec![Vec::new()];
    let mut used = 0.0;
    for (sample, text) in entries(frame) {
        let room = 29.0 + width(text, SIZE) + 16.0;
        if used + room - 16.0 > most && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += room;
        if let Some(line) = lines.last_mut() {
            line.push((sample, text, room));
        }
    }
    lines
}

/// The height of all lines.
pub(super) fn height(frame: &Frame) -> f64 {
    lines(frame).len() as f64 * LINE_H
}

pub(super) fn draw(drawing: &mut Drawing, frame: &Frame) {
    for (number, line) in lines(frame).into_iter().enumerate() {
        let (mut x, y) = (MARGIN, frame.legend_y + number as f64 * LINE_H);
        for (sample, text, room) in line {
            match sample {
                Sample::Cell(fill) => {
                    drawing.add(Rectangle::new((x, y), (22.0, 14.0)).filled(fill).outlined(LINE, 1.0));
                }
                Sample::Arrow(colour) => {
                    let points = [(x, y + 7.0), (x + 17.0, y + 7.0)];
                    drawing.add(Contour::stroked(Stroke::new(colour, 1.3).arrow()).line(points));
                }
                Sample::Text(sample) => {
                    let style = Lettering::new(11.0).colour("#475569").anchor(Anchor::Middle);
                    drawing.add(style.at(x + 13.0, y + 11.5, sample));
                }
            }
            drawing.add(Lettering::new(SIZE).colour(SOFT).at(x + 29.0, y + 11.5, text));
            x += room;
        }
    }
}
