//! Reads drawings back: their texts and shapes, and both of the files that are written of them.

use super::shapes::NOTE_GAP;
use super::{Anchor, ContourStep, Drawing, Shape, TextLine, width};
use std::collections::BTreeSet;

/// A text and the box around it.
#[derive(Clone, Debug)]
pub(crate) struct TextBox {
    pub(crate) words: String,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

/// All shapes, without groups; labels one by one.
fn flat(shapes: &[Shape]) -> Vec<Shape> {
    let one = |shape: &Shape| match shape {
        Shape::Group(shapes) => flat(shapes),
        Shape::Labels(style, labels) => {
            labels.iter().map(|(x, y, label)| Shape::Text(style.at(*x, *y, label.as_str()))).collect()
        }
        other => vec![other.clone()],
    };
    shapes.iter().flat_map(one).collect()
}

/// The texts of a drawing.
pub(crate) fn texts(drawing: &Drawing) -> Vec<TextBox> {
    let text = |shape| if let Shape::Text(line) = shape { Some(around(&line)) } else { None };
    flat(&drawing.shapes).into_iter().filter_map(text).collect()
}

fn around(line: &TextLine) -> TextBox {
    let (width, size) = (width_of(line), line.style.size);
    let start = match line.style.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    let words = line.text.clone() + line.note.as_ref().map_or("", |(_, text)| text);
    // Letters without descenders begin at the base line; most texts of a picture are such.
    let (up, down) = (0.72 * size, 0.12 * size);
    if line.upwards {
        let bottom = line.y - start;
        return TextBox { words, left: line.x - up, right: line.x + down, top: bottom - width, bottom };
    }
    let left = line.x + start;
    TextBox { words, left, right: left + width, top: line.y - up, bottom: line.y + down }
}

fn width_of(line: &TextLine) -> f64 {
    let note = line.note.as_ref().map_or(0.0, |(style, text)| NOTE_GAP + width(text, style.size));
    // Bold letters are a tenth wider.
    width(&line.text, line.style.size) * if line.style.bold { 1.1 } else { 1.0 } + note
}

/// The pairs of texts that overlap.
pub(crate) fn overlaps(texts: &[TextBox]) -> Vec<String> {
    let mut sorted: Vec<&TextBox> = texts.iter().filter(|text| !text.words.is_empty()).collect();
    sorted.sort_by(|a, b| a.top.total_cmp(&b.top));
    let mut found = Vec::new();
    for (n, a) in sorted.iter().enumerate() {
        for b in sorted[n + 1..].iter().take_while(|b| b.top < a.bottom) {
            if a.left < b.right && b.left < a.right {
                found.push(format!("`{}` and `{}`", a.words, b.words));
            }
        }
    }
    found
}

/// The texts and shapes that are not on the page.
pub(crate) fn outside(drawing: &Drawing) -> Vec<String> {
    let on_page = |x: f64, y: f64| (0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y);
    let mut found = Vec::new();
    for shape in flat(&drawing.shapes) {
        let points = match &shape {
            Shape::Rectangle(one) => vec![(one.x, one.y), (one.x + one.width, one.y + one.height)],
            Shape::Contour(one) => one.steps.iter().flat_map(points_of).collect(),
            Shape::Text(line) => {
                let text = around(line);
                vec![(text.left, text.top), (text.right, text.bottom)]
            }
            Shape::Labels(..) | Shape::Group(_) => Vec::new(),
        };
        if !points.iter().all(|&(x, y)| on_page(x, y)) {
            found.push(format!("{shape:?}"));
        }
    }
    found
}

fn points_of(step: &ContourStep) -> Vec<(f64, f64)> {
    match *step {
        ContourStep::Move(x, y) | ContourStep::Line(x, y) => vec![(x, y)],
        ContourStep::Curve(points) => points.to_vec(),
        ContourStep::Close => Vec::new(),
    }
}

/// What a file has: the number of its shapes, and its texts in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    shapes: usize,
    texts: Vec<String>,
}

/// Both files are well-formed, and have the same shapes and texts.
pub(crate) fn same_in_both(drawing: &Drawing) {
    let (svg, tikz) = (of_svg(&drawing.svg()), of_tikz(&drawing.tikz(), drawing.width, drawing.height));
    assert_eq!(svg, tikz);
    let flat = flat(&drawing.shapes);
    let texts = flat.iter().filter(|shape| matches!(shape, Shape::Text(_))).count();
    assert_eq!((svg.shapes, svg.texts.len()), (flat.len() - texts, texts));
}

pub(crate) fn of_svg(svg: &str) -> Content {
    let document = roxmltree::Document::parse(svg).expect("well-formed");
    let shown = || document.descendants().filter(|n| !n.ancestors().any(|n| n.has_tag_name("marker")));
    // The page itself is not a shape of the drawing.
    let shapes = shown().filter(|n| n.has_tag_name("rect") || n.has_tag_name("path")).count() - 1;
    let words =
        |n: roxmltree::Node<'_, '_>| n.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect();
    Content { shapes, texts: shown().filter(|n| n.has_tag_name("text")).map(words).collect() }
}

/// Reads the subset of TikZ that is written, and nothing else.
pub(crate) fn of_tikz(tikz: &str, width: f64, height: f64) -> Content {
    let mut reader = TikzReader { width, height, ..TikzReader::default() };
    tikz.lines().for_each(|line| reader.line(line));
    assert!(reader.ended && reader.open == 0 && reader.bounded, "{tikz}");
    assert_eq!(reader.used, reader.defined, "colours");
    Content { shapes: reader.shapes, texts: reader.texts }
}

#[derive(Default)]
struct TikzReader {
    width: f64,
    height: f64,
    begun: bool,
    bounded: bool,
    ended: bool,
    /// The number of scopes that are open.
    open: usize,
    defined: BTreeSet<String>,
    used: BTreeSet<String>,
    shapes: usize,
    texts: Vec<String>,
}

impl TikzReader {
    fn line(&mut self, line: &str) {
        if line.starts_with('%') {
            return assert!(!self.begun, "comments come first");
        }
        balanced(line);
        assert!(!self.ended, "{line}");
        if let Some(options) = line.strip_prefix("\\begin{tikzpicture}[") {
            assert!(!self.begun && options.ends_with(']'), "{line}");
            self.begun = true;
            return;
        }
        assert!(self.begun, "{line}");
        if let Some(path) = line.strip_prefix("\\path[") {
            self.path(path);
        } else if let Some(node) = line.strip_prefix("\\node[anchor=") {
            self.node(node);
        } else if let Some(colour) = line.strip_prefix("\\definecolor{") {
            let (name, value) = colour.split_once("}{HTML}{").expect("a colour");
            assert!(
                value.len() == 7 && value.ends_with('}') && name[1..].eq_ignore_ascii_case(&value[..6]),
                "{line}"
            );
            assert!(self.defined.insert(name.into()), "{line}");
        } else if let Some(corner) = line.strip_prefix("\\useasboundingbox (0,0) rectangle ") {
            let (x, y) = pair(corner.strip_suffix(';').expect("an end"));
            assert!((x - self.width).abs() < 0.01 && (y - self.height).abs() < 0.01, "{line}");
            self.bounded = true;
        } else {
            match line {
                "\\begin{scope}" => self.open += 1,
                "\\end{scope}" => self.open = self.open.checked_sub(1).expect("a scope"),
                "\\end{tikzpicture}" => self.ended = true,
                other => panic!("{other}"),
            }
        }
    }

    fn path(&mut self, rest: &str) {
        assert!(self.bounded, "{rest}");
        // An arrow head has brackets of its own.
        let (options, steps) = rest.split_once("] ").unwrap_or_else(|| panic!("{rest}"));
        for option in options.replace("{Stealth[length=6bp, width=5bp]}", "Stealth").split(", ") {
            match option.split_once('=') {
                Some(("fill" | "draw", colour)) => drop(self.used.insert(colour.into())),
                Some(("line width" | "rounded corners", length)) => {
                    let length: f64 = length.strip_suffix("bp").expect("a unit").parse().expect("a length");
                    assert!(length.is_finite() && length > 0.0);
                }
                Some(("draw opacity", part)) => assert!((0.0..=1.0).contains(&part.parse::<f64>().expect("a part"))),
                Some(("dash pattern", dashes)) => assert!(dashes.starts_with("on ") && dashes.contains("bp off ")),
                Some(("line join", "round")) => {}
                None if option == "-Stealth" => {}
                _ => panic!("{option}"),
            }
        }
        let steps = steps.strip_suffix(';').unwrap_or_else(|| panic!("{rest}"));
        for word in steps.split(' ') {
            match word {
                "--" | ".." | "controls" | "and" | "rectangle" | "cycle" => {}
                point => self.on_page(point),
            }
        }
        self.shapes += 1;
    }

    fn on_page(&self, point: &str) {
        let (x, y) = pair(point);
        assert!((0.0..=self.width).contains(&x) && (0.0..=self.height).contains(&y), "{point}");
    }

    fn node(&mut self, rest: &str) {
        let (anchor, rest) = rest.split_once("] at ").unwrap_or_else(|| panic!("{rest}"));
        assert!(["base", "base west", "base east", "base, rotate=90"].contains(&anchor), "{anchor}");
        let (point, text) = rest.split_once(" {").unwrap_or_else(|| panic!("{rest}"));
        self.on_page(point);
        let text = text.strip_suffix("};").unwrap_or_else(|| panic!("{rest}"));
        let mut words = String::new();
        for part in text.split("\\hspace{8bp}") {
            let part = part.strip_prefix("{\\fontsize{").and_then(|part| part.strip_suffix('}')).expect("a style");
            let (style, part) = part.split_once("\\color{").expect("a colour");
            assert!(style.ends_with("\\selectfont") || style.ends_with("\\selectfont\\bfseries"), "{style}");
            let (colour, part) = part.split_once('}').expect("the end of a colour");
            self.used.insert(colour.into());
            words += &unescaped(part);
        }
        self.texts.push(words);
    }
}

fn pair(point: &str) -> (f64, f64) {
    let inner = point.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let (x, y) = inner.and_then(|inner| inner.split_once(',')).unwrap_or_else(|| panic!("no point: {point}"));
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    (number(x).unwrap_or_else(|| panic!("{point}")), number(y).unwrap_or_else(|| panic!("{point}")))
}

/// Every brace has a counterpart, also where braces are escaped.
fn balanced(line: &str) {
    let (mut open, mut escaped) = (0usize, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => open += 1,
            '}' => open = open.checked_sub(1).unwrap_or_else(|| panic!("{line}")),
            _ => {}
        }
    }
    assert!(open == 0 && !escaped, "{line}");
}

/// Text as TeX prints it.
fn unescaped(text: &str) -> String {
    const COMMANDS: [(&str, &str); 18] = [
        ("\\textbackslash{}", "\\"),
        ("\\textasciicircum{}", "^"),
        ("\\textasciitilde{}", "~"),
        ("\\textless{}", "<"),
        ("\\textgreater{}", ">"),
        ("\\textbar{}", "|"),
        ("\\textquotedbl{}", "\""),
        ("\\textperiodcentered{}", "·"),
        ("\\ldots{}", "…"),
        ("\\ensuremath{\\Sigma}", "Σ"),
        ("\\ensuremath{\\rightarrow}", "→"),
        ("\\ensuremath{\\Rightarrow}", "⇒"),
        ("{-}", "-"),
        ("{--}", "–"),
        ("\\{", "{"),
        ("\\}", "}"),
        ("\\#", "#"),
        ("\\%", "%"),
    ];
    const SIGNS: [(&str, &str); 3] = [("\\$", "$"), ("\\&", "&"), ("\\_", "_")];
    let (mut rest, mut out) = (text, String::new());
    while let Some(first) = rest.chars().next() {
        match COMMANDS.iter().chain(&SIGNS).find(|(command, _)| rest.starts_with(command)) {
            Some((command, printed)) => {
                out += printed;
                rest = &rest[command.len()..];
            }
            None => {
                assert!(!"\\{}$&#%_^~<>|\"".contains(first), "`{first}` is not escaped in {text}");
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}
