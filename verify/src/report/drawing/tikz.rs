//! A drawing as TikZ: a `tikzpicture` for `\input`, in the fonts of the document.
//!
//! The vertical axis points downwards, as in SVG. The bounding box is set first, because TikZ would otherwise count the
//! control points of curves.

use super::shapes::NOTE_GAP;
use super::{Anchor, Contour, ContourStep, Drawing, Lettering, Rectangle, Shape, Stroke, TextLine};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn write(drawing: &Drawing) -> String {
    let mut out = format!("% {}\n", one_line(&drawing.title));
    out += "% \\usepackage{tikz} and \\usetikzlibrary{arrows.meta}, then \\input this file;\n";
    out += "% to fit it to the text: \\resizebox{\\linewidth}{!}{\\input{...}}\n";
    out += "\\begin{tikzpicture}[x=1bp, y=-1bp, line width=1bp, inner sep=0bp, outer sep=0bp, font=\\sffamily]\n";
    let mut colours = BTreeSet::new();
    drawing.shapes.iter().for_each(|shape| collect(shape, &mut colours));
    for colour in colours {
        let _ = writeln!(out, "\\definecolor{{{}}}{{HTML}}{{{}}}", name(colour), hex(colour).to_uppercase());
    }
    let _ =
        writeln!(out, "\\useasboundingbox (0,0) rectangle ({},{});", number(drawing.width), number(drawing.height));
    drawing.shapes.iter().for_each(|one| shape(&mut out, one));
    out + "\\end{tikzpicture}\n"
}

/// Text that cannot end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Text in which no character has a meaning for TeX. What fonts may lack is written in mathematics.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out += "\\textasciicircum{}",
            '~' => out += "\\textasciitilde{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            '"' => out += "\\textquotedbl{}",
            '-' => out += "{-}",
            '–' => out += "{--}",
            '·' => out += "\\textperiodcentered{}",
            '…' => out += "\\ldots{}",
            'Σ' => out += "\\ensuremath{\\Sigma}",
            '→' => out += "\\ensuremath{\\rightarrow}",
            '⇒' => out += "\\ensuremath{\\Rightarrow}",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The colours of a shape.
fn collect(shape: &Shape, found: &mut BTreeSet<&'static str>) {
    match shape {
        Shape::Rectangle(Rectangle { fill, stroke, .. }) | Shape::Contour(Contour { fill, stroke, .. }) => {
            found.extend(*fill);
            found.extend(stroke.map(|stroke| stroke.colour));
        }
        Shape::Text(line) => {
            found.insert(line.style.colour);
            found.extend(line.note.as_ref().map(|(style, _)| style.colour));
        }
        Shape::Labels(style, _) => {
            found.insert(style.colour);
        }
        Shape::Group(shapes) => shapes.iter().for_each(|one| collect(one, found)),
    }
}

fn hex(colour: &str) -> &str {
    colour.trim_start_matches('#')
}

fn name(colour: &str) -> String {
    format!("c{}", hex(colour))
}

fn shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Rectangle(one) => rectangle(out, one),
        Shape::Contour(one) => contour(out, one),
        Shape::Text(line) => text(out, line),
        Shape::Labels(style, labels) => {
            labels.iter().for_each(|(x, y, label)| text(out, &style.at(*x, *y, label.as_str())));
        }
        Shape::Group(shapes) => {
            out.push_str("\\begin{scope}\n");
            shapes.iter().for_each(|one| self::shape(out, one));
            out.push_str("\\end{scope}\n");
        }
    }
}

fn rectangle(out: &mut String, one: &Rectangle) {
    let mut options = paint(one.fill, one.stroke);
    if one.radius > 0.0 {
        options.push(format!("rounded corners={}bp", one.radius));
    }
    let (from, to) = (point(one.x, one.y), point(one.x + one.width, one.y + one.height));
    let _ = writeln!(out, "\\path[{}] {from} rectangle {to};", options.join(", "));
}

fn contour(out: &mut String, one: &Contour) {
    let mut path = String::new();
    for step in &one.steps {
        let _ = match *step {
            ContourStep::Move(x, y) => write!(path, " {}", point(x, y)),
            ContourStep::Line(x, y) => write!(path, " -- {}", point(x, y)),
            ContourStep::Curve([a, b, end]) => {
                let [a, b, end] = [a, b, end].map(|(x, y)| point(x, y));
                write!(path, " .. controls {a} and {b} .. {end}")
            }
            ContourStep::Close => write!(path, " -- cycle"),
        };
    }
    let _ = writeln!(out, "\\path[{}]{path};", paint(one.fill, one.stroke).join(", "));
}

fn paint(fill: Option<&str>, stroke: Option<Stroke>) -> Vec<String> {
    let mut options: Vec<String> = fill.iter().map(|colour| format!("fill={}", name(colour))).collect();
    let Some(Stroke { colour, width, opacity, dashes, arrow, round }) = stroke else { return options };
    options.push(format!("draw={}", name(colour)));
    if width != 1.0 {
        options.push(format!("line width={width}bp"));
    }
    if opacity != 1.0 {
        options.push(format!("draw opacity={opacity}"));
    }
    if round {
        options.push("line join=round".into());
    }
    if let Some((dash, gap)) = dashes {
        options.push(format!("dash pattern=on {dash}bp off {gap}bp"));
    }
    if arrow {
        options.push("-{Stealth[length=6bp, width=5bp]}".into());
    }
    options
}

fn text(out: &mut String, line: &TextLine) {
    let anchor = match line.style.anchor {
        Anchor::Start => "base west",
        Anchor::Middle => "base",
        Anchor::End => "base east",
    };
    let turned = if line.upwards { ", rotate=90" } else { "" };
    let note = line.note.as_ref().map(|(style, text)| format!("\\hspace{{{NOTE_GAP}bp}}{}", styled(style, text)));
    let _ = writeln!(
        out,
        "\\node[anchor={anchor}{turned}] at {} {{{}{}}};",
        point(line.x, line.y),
        styled(&line.style, &line.text),
        note.unwrap_or_default()
    );
}

fn styled(style: &Lettering, text: &str) -> String {
    let Lettering { size, bold, colour, .. } = style;
    let weight = if *bold { "\\bfseries" } else { "" };
    format!("{{\\fontsize{{{size}bp}}{{{size}bp}}\\selectfont{weight}\\color{{{}}}{}}}", name(colour), escape(text))
}

fn point(x: f64, y: f64) -> String {
    format!("({},{})", number(x), number(y))
}

/// A position, to a hundredth of a point.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}
