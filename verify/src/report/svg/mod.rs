//! The picture of a run: what every rank's buffer holds after each round, and the messages that brought it there.
//!
//! There is one panel per round, as in the figures of the papers: a column for each rank, with slot 0 on top. With many
//! ranks a panel is a pair of matrices: who sends to whom, and what every rank holds. It is plain SVG without style
//! sheets or scripts, because README pages show nothing else.

mod captions;
mod frame;
mod legend;
mod matrix;
mod panel;
mod words;

use crate::report::highlight::Highlight;
use crate::report::rounds::{Holdings, Round};
use frame::Frame;
use roundel_spec::Placement;
use std::fmt::Write;
pub(crate) use words::{escape, short};

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

/// The colour of text.
pub(crate) const INK: &str = "#1e293b";
/// The colour of secondary text.
pub(crate) const SOFT: &str = "#64748b";
/// The colour of thin lines.
pub(crate) const LINE: &str = "#cbd5e1";
/// Messages inside a node.
pub(crate) const LOCAL: &str = "#2563eb";
/// Messages between nodes, and other highlights.
pub(crate) const REMOTE: &str = "#ea580c";
const WRONG: &str = "#dc2626";

/// What is held from the start.
const OWN: &str = "#94a3b8";
/// What was held before the round.
const HELD: &str = "#e2e8f0";
/// What arrived from the same node in the round.
const NEW_LOCAL: &str = "#bfdbfe";
/// What arrived from another node in the round.
const NEW_REMOTE: &str = "#fed7aa";
/// A slot that is complete.
const COMPLETE: &str = "#bbf7d0";

/// Draws a picture.
pub fn draw(picture: &Picture<'_>) -> String {
    let frame = Frame::new(picture);
    let mut svg = String::new();
    let (w, h) = (frame.width, frame.height);
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" font-family="'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif">
<title>{}: {}</title>
<defs>{}{}{}</defs>
<rect width="{w}" height="{h}" fill="#ffffff"/>"##,
        escape(picture.title),
        escape(picture.subtitle),
        arrow("local", LOCAL),
        arrow("remote", REMOTE),
        picture.fault.map_or_else(String::new, |_| arrow("wrong", WRONG)),
    );
    frame.heading(&mut svg, picture);
    for (number, holdings) in picture.film.iter().enumerate() {
        let round = number.checked_sub(1).and_then(|before| picture.rounds.get(before));
        // Nothing is new before the first round that is drawn.
        let settled = round.is_none().then(|| holdings.settled());
        let holdings = settled.as_ref().unwrap_or(holdings);
        let scene = PanelState { picture, frame: &frame, number, round, holdings };
        scene.title(&mut svg);
        if frame.compact {
            matrix::draw(&mut svg, &scene)
        } else {
            panel::draw(&mut svg, &scene)
        }
        svg.push_str("</g>\n");
    }
    legend::draw(&mut svg, &frame);
    svg.push_str("</svg>\n");
    svg
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
    fn title(&self, svg: &mut String) {
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
        let _ = writeln!(
            svg,
            r##"<g><text x="{x:.1}" y="{:.1}" font-size="13" fill="{SOFT}"><tspan font-weight="700" fill="{INK}">{name}</tspan><tspan dx="8" font-size="11">{}</tspan></text>"##,
            y + 14.0,
            escape(&note),
        );
    }
}

fn arrow(name: &str, colour: &str) -> String {
    format!(
        r##"<marker id="{name}" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.6L7.4 4L0 7.4z" fill="{colour}"/></marker>"##
    )
}

#[cfg(test)]
mod tests;
