//! What a drawing consists of.

use super::INK;

/// Something that is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Rectangle(Rectangle),
    Contour(Contour),
    Text(TextLine),
    /// Texts of one style, each with its position: the numbers of an axis.
    Labels(Lettering, Vec<(f64, f64, String)>),
    /// Shapes that belong together: a panel.
    Group(Vec<Shape>),
}

impl From<Rectangle> for Shape {
    fn from(rectangle: Rectangle) -> Self {
        Shape::Rectangle(rectangle)
    }
}

impl From<Contour> for Shape {
    fn from(contour: Contour) -> Self {
        Shape::Contour(contour)
    }
}

impl From<TextLine> for Shape {
    fn from(line: TextLine) -> Self {
        Shape::Text(line)
    }
}

/// The look of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: &'static str,
    pub(crate) width: f64,
    pub(crate) opacity: f64,
    /// The lengths of dashes and of the gaps between them.
    pub(crate) dashes: Option<(f64, f64)>,
    /// Whether it ends in an arrow head.
    pub(crate) arrow: bool,
    /// Whether its corners are round, as those of a curve through points.
    pub(crate) round: bool,
}

impl Stroke {
    pub(crate) fn new(colour: &'static str, width: f64) -> Self {
        Stroke { colour, width, opacity: 1.0, dashes: None, arrow: false, round: false }
    }

    pub(crate) fn arrow(self) -> Self {
        Stroke { arrow: true, ..self }
    }

    pub(crate) fn round(self) -> Self {
        Stroke { round: true, ..self }
    }

    pub(crate) fn dashed(self, dashes: Option<(f64, f64)>) -> Self {
        Stroke { dashes, ..self }
    }
}

/// A rectangle, whose corners may be round.
#[derive(Clone, Debug)]
pub(crate) struct Rectangle {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) radius: f64,
    pub(crate) fill: Option<&'static str>,
    pub(crate) stroke: Option<Stroke>,
}

impl Rectangle {
    pub(crate) fn new((x, y): (f64, f64), (width, height): (f64, f64)) -> Self {
        Rectangle { x, y, width, height, radius: 0.0, fill: None, stroke: None }
    }

    pub(crate) fn rounded(self, radius: f64) -> Self {
        Rectangle { radius, ..self }
    }

    pub(crate) fn filled(self, colour: &'static str) -> Self {
        Rectangle { fill: Some(colour), ..self }
    }

    pub(crate) fn outlined(self, colour: &'static str, width: f64) -> Self {
        Rectangle { stroke: Some(Stroke::new(colour, width)), ..self }
    }
}

/// A part of a contour. All positions are absolute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContourStep {
    Move(f64, f64),
    Line(f64, f64),
    /// A cubic curve: two control points, and its end.
    Curve([(f64, f64); 3]),
    Close,
}

/// Lines and curves, or the areas inside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contour {
    pub(crate) steps: Vec<ContourStep>,
    pub(crate) fill: Option<&'static str>,
    pub(crate) stroke: Option<Stroke>,
}

impl Contour {
    pub(crate) fn filled(colour: &'static str) -> Self {
        Contour { fill: Some(colour), ..Contour::default() }
    }

    pub(crate) fn stroked(stroke: Stroke) -> Self {
        Contour { stroke: Some(stroke), ..Contour::default() }
    }

    /// Adds a line through these points.
    pub(crate) fn line(mut self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.add_line(points);
        self
    }

    pub(crate) fn add_line(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        let step = |(number, (x, y))| if number == 0 { ContourStep::Move(x, y) } else { ContourStep::Line(x, y) };
        self.steps.extend(points.into_iter().enumerate().map(step));
    }

    pub(crate) fn add_rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.add_line([(x, y), (x + width, y), (x + width, y + height), (x, y + height)]);
        self.steps.push(ContourStep::Close);
    }
}

/// Where a text lies with respect to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The look of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lettering {
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) colour: &'static str,
    pub(crate) anchor: Anchor,
}

impl Lettering {
    pub(crate) fn new(size: f64) -> Self {
        Lettering { size, bold: false, colour: INK, anchor: Anchor::Start }
    }

    pub(crate) fn bold(self) -> Self {
        Lettering { bold: true, ..self }
    }

    pub(crate) fn colour(self, colour: &'static str) -> Self {
        Lettering { colour, ..self }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        Lettering { anchor, ..self }
    }

    /// A line of text whose base line begins, has its middle or ends here.
    pub(crate) fn at(self, x: f64, y: f64, text: impl Into<String>) -> TextLine {
        TextLine { x, y, style: self, text: text.into(), note: None, upwards: false }
    }
}

/// A line of text.
#[derive(Clone, Debug)]
pub(crate) struct TextLine {
    pub(crate) x: f64,
    /// The base line.
    pub(crate) y: f64,
    pub(crate) style: Lettering,
    pub(crate) text: String,
    /// What follows in another style, after a gap.
    pub(crate) note: Option<(Lettering, String)>,
    /// Whether it is read from below.
    pub(crate) upwards: bool,
}

/// The gap between a text and its note.
pub(crate) const NOTE_GAP: f64 = 8.0;

impl TextLine {
    pub(crate) fn note(self, style: Lettering, text: String) -> Self {
        TextLine { note: Some((style, text)), ..self }
    }

    pub(crate) fn upwards(self) -> Self {
        TextLine { upwards: true, ..self }
    }
}
