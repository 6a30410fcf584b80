//! The picture of a run: what every rank's buffer holds after each round, and the messages that brought it there.
//!
//! There is one panel per round, as in the figures of the papers: a column for each rank, with slot 0 on top. With many
//! ranks a panel is a pair of matrices: who sends to whom, and what every rank holds.

mod captions;
mod frame;
mod legend;
mod matrix;
mod panel;
mod words;

use crate::report::drawing::{Drawing, Lettering, SOFT};
use crate::report::highlight::Highlight;
use crate::report::rounds::{Holdings, Round};
use frame::Frame;
use roundel_spec::Placement;
pub(crate) use words::short;

/// The largest number of ranks that is drawn.
pub const MAX_RANKS: usize = 64;

/// What to draw.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The collective.
    pub title: &'a str,
    /// The case.
    pub subtitle: &'a str,
    /// The placement of the ranks.
    pub placement: &'a Placement,
    /// The messages of each round.
    pub rounds: &'a [Round],
    /// What the ranks hold at the start and after each round.
    pub film: &'a [Holdings],
    /// The fault to mark, if any.
    pub fault: Option<&'a Highlight>,
    /// How to draw it.
    pub options: PictureOptions,
}

/// How to draw a picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct PictureOptions {
    /// The number of the first round to draw.
    pub first: usize,
    /// The number of panels per row; by default as many as fit a page.
    pub columns: Option<usize>,
    /// Omits title and subtitle, for a document that has its own.
    pub untitled: bool,
}

/// What is at fault.
const WRONG: &str = "#b5179e";

// Colours that colour-blind readers can tell apart, too; a test computes how they see them.

/// What is held from the start.
const OWN: &str = "#8292a8";
/// What was held before the round.
const HELD: &str = "#e8ecf2";
/// What arrived from the same node in the round.
const NEW_LOCAL: &str = "#9ccaff";
/// What arrived from another node in the round.
const NEW_REMOTE: &str = "#fdc382";
/// A slot that is complete.
const COMPLETE: &str = "#166534";

/// Draws a picture.
pub fn draw(picture: &Picture<'_>) -> Drawing {
    let frame = Frame::new(picture);
    let mut drawing = Drawing::new(frame.width, frame.height, format!("{}: {}", picture.title, picture.subtitle));
    frame.heading(&mut drawing, picture);
    for (number, holdings) in picture.film.iter().enumerate() {
        let round = number.checked_sub(1).and_then(|before| picture.rounds.get(before));
        // Nothing is new before the first round that is drawn.
        let settled = round.is_none().then(|| holdings.settled());
        let holdings = settled.as_ref().unwrap_or(holdings);
        let scene = PanelState { picture, frame: &frame, number, round, holdings };
        let before = drawing.shapes.len();
        scene.title(&mut drawing);
        if frame.compact {
            matrix::draw(&mut drawing, &scene)
        } else {
            panel::draw(&mut drawing, &scene)
        }
        drawing.group(before);
    }
    legend::draw(&mut drawing, &frame);
    drawing
}

/// One panel: the state after a round, or before the first.
struct PanelState<'a> {
    picture: &'a Picture<'a>,
    frame: &'a Frame,
    /// The number of the panel.
    number: usize,
    round: Option<&'a Round>,
    holdings: &'a Holdings,
}

impl PanelState<'_> {
    /// The number of the round, among all rounds.
    fn now(&self) -> Option<usize> {
        self.number.checked_sub(1).map(|before| self.picture.options.first + before)
    }

    /// The left edge, and the upper edge below the title.
    fn corner(&self) -> (f64, f64) {
        let (x, y) = self.frame.corner(self.number);
        (x, y + frame::TITLE)
    }

    fn fault(&self) -> Option<&Highlight> {
        self.picture.fault.filter(|fault| fault.panel == self.number)
    }

    /// The name of the state, and what happens or is held.
    fn title(&self, drawing: &mut Drawing) {
        let (name, note) = match (self.now(), self.round) {
            (Some(number), Some(round)) => {
                (format!("round {number}"), captions::of_round(round, self.picture, self.frame))
            }
            _ if self.picture.options.first > 0 => {
                (format!("before round {}", self.picture.options.first), self.frame.content.unit().into())
            }
            _ => ("start".into(), captions::at_the_start(self.frame.content, self.holdings)),
        };
        let (x, y) = self.frame.corner(self.number);
        let title = Lettering::new(13.0).bold().at(x, y + 14.0, name);
        drawing.add(title.note(Lettering::new(11.0).colour(SOFT), note));
    }
}

#[cfg(test)]
mod tests;
