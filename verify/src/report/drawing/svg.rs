//! A drawing as SVG.

use super::shapes::NOTE_GAP;
use super::{Anchor, Contour, ContourStep, Drawing, Lettering, Rectangle, Shape, Stroke, TextLine};
use std::collections::BTreeSet;
use std::fmt::Write;

const FONTS: &str = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";

pub(super) fn write(drawing: &Drawing) -> String {
    let (w, h, title) = (drawing.width, drawing.height, escape(&drawing.title));
    let mut arrows = BTreeSet::new();
    arrow_colours(&drawing.shapes, &mut arrows);
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" font-family="{FONTS}">
<title>{title}</title>
"##
    );
    if !arrows.is_empty() {
        let heads: String = arrows.into_iter().map(arrow_head).collect();
        let _ = writeln!(out, "<defs>{heads}</defs>");
    }
    let _ = writeln!(out, r##"<rect width="{w}" height="{h}" fill="#ffffff"/>"##);
    drawing.shapes.iter().for_each(|one| shape(&mut out, one));
    out + "</svg>\n"
}

/// Text escaped for a document.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The colours of all arrows: each needs a head of its own.
fn arrow_colours(shapes: &[Shape], found: &mut BTreeSet<&'static str>) {
    for shape in shapes {
        match shape {
            Shape::Contour(Contour { stroke: Some(Stroke { colour, arrow: true, .. }), .. }) => {
                found.insert(*colour);
            }
            Shape::Group(shapes) => arrow_colours(shapes, found),
            _ => {}
        }
    }
}

fn arrow_head(colour: &str) -> String {
    format!(
        r##"<marker id="{}" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.6L7.4 4L0 7.4z" fill="{colour}"/></marker>"##,
        head_name(colour)
    )
}

fn head_name(colour: &str) -> String {
    format!("head-{}", colour.trim_start_matches('#'))
}

fn shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Rectangle(one) => rectangle(out, one),
        Shape::Contour(one) => contour(out, one),
        Shape::Text(line) => text(out, line),
        Shape::Labels(style, labels) => {
            let _ = write!(out, "<g{}>", lettering(style));
            for (x, y, label) in labels {
                let _ = write!(out, r#"<text x="{}" y="{}">{}</text>"#, number(*x), number(*y), escape(label));
            }
            out.push_str("</g>\n");
        }
        Shape::Group(shapes) => {
            out.push_str("<g>\n");
            shapes.iter().for_each(|one| self::shape(out, one));
            out.push_str("</g>\n");
        }
    }
}

fn rectangle(out: &mut String, one: &Rectangle) {
    let [x, y, width, height] = [one.x, one.y, one.width, one.height].map(number);
    let _ = write!(out, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}""#);
    if one.radius > 0.0 {
        let _ = write!(out, r#" rx="{}""#, one.radius);
    }
    let _ = writeln!(out, "{}/>", paint(one.fill, one.stroke));
}

fn contour(out: &mut String, one: &Contour) {
    let _ = writeln!(out, r#"<path d="{}"{}/>"#, steps(&one.steps), paint(one.fill, one.stroke));
}

/// The data of a path; horizontal and vertical lines are short.
fn steps(steps: &[ContourStep]) -> String {
    let (mut out, mut at) = (String::new(), (String::new(), String::new()));
    for step in steps {
        let here = |x: f64, y: f64| (number(x), number(y));
        match *step {
            ContourStep::Move(x, y) => {
                at = here(x, y);
                let _ = write!(out, "M{} {}", at.0, at.1);
            }
            ContourStep::Line(x, y) => {
                let next = here(x, y);
                let _ = match (next.0 == at.0, next.1 == at.1) {
                    (_, true) => write!(out, "H{}", next.0),
                    (true, _) => write!(out, "V{}", next.1),
                    _ => write!(out, "L{} {}", next.0, next.1),
                };
                at = next;
            }
            ContourStep::Curve([(ax, ay), (bx, by), (x, y)]) => {
                let [ax, ay, bx, by] = [ax, ay, bx, by].map(number);
                at = here(x, y);
                let _ = write!(out, "C{ax} {ay} {bx} {by} {} {}", at.0, at.1);
            }
            ContourStep::Close => out.push('z'),
        }
    }
    out
}

fn paint(fill: Option<&str>, stroke: Option<Stroke>) -> String {
    let mut out = format!(r#" fill="{}""#, fill.unwrap_or("none"));
    let Some(Stroke { colour, width, opacity, dashes, arrow, round }) = stroke else { return out };
    let _ = write!(out, r#" stroke="{colour}""#);
    if width != 1.0 {
        let _ = write!(out, r#" stroke-width="{width}""#);
    }
    if opacity != 1.0 {
        let _ = write!(out, r#" stroke-opacity="{opacity}""#);
    }
    if round {
        out.push_str(r#" stroke-linejoin="round""#);
    }
    if let Some((dash, gap)) = dashes {
        let _ = write!(out, r#" stroke-dasharray="{dash} {gap}""#);
    }
    if arrow {
        let _ = write!(out, r#" marker-end="url(#{})""#, head_name(colour));
    }
    out
}

fn text(out: &mut String, line: &TextLine) {
    let (x, y, style) = (number(line.x), number(line.y), lettering(&line.style));
    let place = match line.upwards {
        true => format!(r#"transform="translate({x} {y}) rotate(-90)""#),
        false => format!(r#"x="{x}" y="{y}""#),
    };
    let words = escape(&line.text);
    let _ = match &line.note {
        None => writeln!(out, "<text {place}{style}>{words}</text>"),
        Some((note, text)) => writeln!(
            out,
            r#"<text {place}><tspan{style}>{words}</tspan><tspan dx="{NOTE_GAP}"{}>{}</tspan></text>"#,
            lettering(note),
            escape(text)
        ),
    };
}

fn lettering(style: &Lettering) -> String {
    let Lettering { size, bold, colour, anchor } = style;
    let weight = if *bold { r#" font-weight="700""# } else { "" };
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => r#" text-anchor="middle""#,
        Anchor::End => r#" text-anchor="end""#,
    };
    format!(r#" font-size="{size}"{weight} fill="{colour}"{anchor}"#)
}

/// A position or a length, to a tenth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}
