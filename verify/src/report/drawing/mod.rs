//! Drawings as data: rectangles, curves and texts on a page, which are written as SVG or as TikZ.
//!
//! What a picture shows is decided once; the two writers only translate shapes. Positions are in pixels of SVG, from
//! the upper left corner; a TikZ unit is one of them.

mod shapes;
mod svg;
mod tikz;

pub(crate) use shapes::{Anchor, Contour, ContourStep, Lettering, Rectangle, Shape, Stroke, TextLine};

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

/// A drawing on a white page.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What it shows, for those who cannot see it.
    pub(crate) title: String,
    pub(crate) shapes: Vec<Shape>,
}

impl Drawing {
    pub(crate) fn new(width: f64, height: f64, title: String) -> Self {
        Drawing { width, height, title, shapes: Vec::new() }
    }

    pub(crate) fn add(&mut self, shape: impl Into<Shape>) {
        self.shapes.push(shape.into());
    }

    /// Makes one group of everything that was added since there were `before` shapes.
    pub(crate) fn group(&mut self, before: usize) {
        let grouped = self.shapes.split_off(before);
        self.shapes.push(Shape::Group(grouped));
    }

    /// The drawing as an SVG document: without style sheets or scripts, because README pages show nothing else.
    pub fn svg(&self) -> String {
        svg::write(self)
    }

    /// The drawing as a `tikzpicture`.
    pub fn tikz(&self) -> String {
        tikz::write(self)
    }
}

/// The approximate width of text, in the widest of the fonts that viewers use.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '·' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' => 0.95,
        'A'..='Z' | '=' | '<' | '>' | '+' => 0.76,
        _ => 0.63,
    };
    text.chars().map(letter).sum::<f64>() * size
}

#[cfg(test)]
pub(crate) mod reading;
#[cfg(test)]
mod tests;
