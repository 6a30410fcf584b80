//! The picture of a run: what every rank's buffer holds after each round, and the messages that brought it there.
//!
//! One panel for each round, as in the figures of the papers: a column for each rank, slot 0 on top. Written as plain
//! SVG without style sheets or scripts, because README pages show nothing else.

use crate::fault::Fault;
use crate::rounds::{Holdings, Message, Naming, Round, Slot};
use roundel_spec::Placement;
use std::fmt::Write;

/// The largest number of ranks that is drawn.
pub const MAX_RANKS: usize = 64;

/// What to draw.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The collective.
    pub title: &'a str,
    /// The case.
    pub subtitle: &'a str,
    /// Where ranks sit.
    pub placement: &'a Placement,
    /// What they do.
    pub rounds: &'a [Round],
    /// What they hold at the start and after each round.
    pub film: &'a [Holdings],
    /// What is at fault, to be marked.
    pub fault: Option<&'a Fault>,
}

const MARGIN: f64 = 24.0;
const CELL_W: f64 = 28.0;
const CELL_H: f64 = 18.0;
const GAP: f64 = 10.0;
const PITCH: f64 = CELL_W + GAP;
const HEAD: f64 = 20.0;
const TITLE: f64 = 26.0;
const PAD: f64 = 7.0;
const FOOT: f64 = 14.0;
const BETWEEN: f64 = 26.0;
const PAGE: f64 = 1100.0;
/// The room that a panel's heading needs.
const NARROWEST: f64 = 212.0;

/// The colour of text.
pub(crate) const INK: &str = "#1e293b";
/// The colour of side remarks.
pub(crate) const SOFT: &str = "#64748b";
/// The colour of thin lines.
pub(crate) const LINE: &str = "#cbd5e1";
const LOCAL: &str = "#2563eb";
/// Messages between nodes, and whatever else is to be seen first.
pub(crate) const REMOTE: &str = "#ea580c";
const WRONG: &str = "#dc2626";

/// Draws a picture.
pub fn draw(picture: &Picture<'_>) -> String {
    let frame = Frame::new(picture);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" font-family="'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif">
<title>{title}: {subtitle}</title>
<defs>{}{}{}</defs>
<rect width="{w}" height="{h}" fill="#ffffff"/>
<text x="{MARGIN}" y="38" font-size="19" font-weight="700" fill="{INK}">{title}</text>
<text x="{MARGIN}" y="59" font-size="13" fill="{SOFT}">{subtitle}</text>"##,
        arrow("local", LOCAL),
        arrow("remote", REMOTE),
        picture.fault.map_or_else(String::new, |_| arrow("wrong", WRONG)),
        w = frame.width,
        h = frame.height,
        title = escape(picture.title),
        subtitle = escape(picture.subtitle),
    );
    for (number, holdings) in picture.film.iter().enumerate() {
        let before = number.checked_sub(1);
        let round = before.and_then(|round| Some((round, picture.rounds.get(round)?)));
        panel(&mut svg, &frame, picture, number, round, holdings);
    }
    legend(&mut svg, &frame);
    svg.push_str("</svg>\n");
    svg
}

/// Sizes and places.
struct Frame {
    p: usize,
    /// Slots of each rank.
    slots: usize,
    several_nodes: bool,
    content: Content,
    faulty: bool,
    columns: usize,
    panel_w: f64,
    rows: Vec<Row>,
    width: f64,
    height: f64,
}

/// What a slot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A block, and when it came.
    Blocks,
    /// How many ranks have contributed to a block.
    Contributions,
    /// How many of the blocks for a destination are here.
    Destinations,
}

/// A row of panels: where it begins, and how much room its arcs need.
struct Row {
    y: f64,
    band: f64,
}

impl Frame {
    fn new(picture: &Picture<'_>) -> Self {
        let placement = picture.placement;
        let p = placement.p();
        let first = picture.film.first().and_then(|holdings| holdings.slots.first());
        let slots = first.map_or(0, Vec::len);
        let shares = first.is_some_and(|slots| slots.iter().any(|slot| matches!(slot, Slot::Share { .. })));
        let pairs = picture.film.first().is_some_and(|holdings| holdings.naming != Naming::Numbers);
        let content = match (pairs, shares) {
            (true, _) => Content::Destinations,
            (false, true) => Content::Contributions,
            (false, false) => Content::Blocks,
        };
        let several_nodes = placement.ppn() < p;
        let columns_w = p as f64 * PITCH - GAP + 2.0 * PAD + (sizes(placement).len() - 1) as f64 * GAP;
        let panel_w = columns_w.max(NARROWEST);
        let panels = picture.rounds.len() + 1;
        let fitting = (((PAGE - 2.0 * MARGIN + BETWEEN) / (panel_w + BETWEEN)) as usize).clamp(1, panels);
        let rows = panels.div_ceil(fitting);
        let columns = panels.div_ceil(rows);
        let node_label = if several_nodes { 20.0 } else { 0.0 };
        let mut y = 78.0;
        let row = |n: usize| {
            let drawn = (n * columns).saturating_sub(1)..((n + 1) * columns - 1).min(picture.rounds.len());
            let rounds = if n == 0 { 0..columns - 1 } else { drawn };
            let expected = picture
                .fault
                .and_then(|fault| fault.expected.as_ref())
                .map_or(0.0, |message| room(placement, message));
            let band = picture.rounds[rounds].iter().map(|round| band(placement, round)).fold(expected, f64::max);
            let row = Row { y, band };
            y += TITLE + band + HEAD + 6.0 + slots as f64 * CELL_H + FOOT + node_label + BETWEEN;
            row
        };
        let rows: Vec<Row> = (0..rows).map(row).collect();
        let panels_w = columns as f64 * (panel_w + BETWEEN) - BETWEEN;
        let faulty = picture.fault.is_some();
        let lines = legend_width(content, several_nodes, faulty).max(picture.subtitle.chars().count() as f64 * 7.6);
        let width = panels_w.max(lines) + 2.0 * MARGIN;
        let (width, height) = (width.ceil(), (y + 40.0).ceil());
        Frame { p, slots, several_nodes, content, faulty, columns, panel_w, rows, width, height }
    }
}

/// How many ranks each node has, in the order in which nodes are drawn.
fn sizes(placement: &Placement) -> Vec<usize> {
    let nodes = placement.regions().nodes();
    (0..nodes).map(|node| placement.regions().size(node) as usize).collect()
}

/// The place of a rank among the columns, which stand node by node.
fn column(placement: &Placement, rank: usize) -> i64 {
    placement.place(rank).rank
}

/// The height of a message's arc.
fn rise(placement: &Placement, message: &Message) -> f64 {
    let distance = column(placement, message.from).abs_diff(column(placement, message.to)) as f64;
    10.0 + 11.0 * distance.sqrt() + 2.2 * distance
}

/// The room that a round's arcs need. A cubic curve rises to three quarters of its control points.
fn band(placement: &Placement, round: &Round) -> f64 {
    round.messages.iter().map(|message| room(placement, message)).fold(0.0, f64::max)
}

fn room(placement: &Placement, message: &Message) -> f64 {
    0.75 * rise(placement, message) + 10.0
}

fn panel(
    svg: &mut String,
    frame: &Frame,
    picture: &Picture<'_>,
    number: usize,
    round: Option<(usize, &Round)>,
    holdings: &Holdings,
) {
    let row = &frame.rows[number / frame.columns];
    let x = MARGIN + (number % frame.columns) as f64 * (frame.panel_w + BETWEEN);
    let heads = row.y + TITLE + row.band;
    let (name, note) = match round {
        None if frame.content == Content::Contributions => {
            ("start".to_string(), "its own contribution each".to_string())
        }
        None if frame.content == Content::Destinations => {
            ("start".to_string(), "a row for each destination".to_string())
        }
        None => ("start".to_string(), "every rank holds its own block".to_string()),
        Some((number, round)) => (format!("round {number}"), counted(round)),
    };
    let _ = writeln!(
        svg,
        r##"<g><text x="{:.1}" y="{:.1}" font-size="13" fill="{SOFT}"><tspan font-weight="700" fill="{INK}">{name}</tspan><tspan dx="8" font-size="11">{note}</tspan></text>"##,
        x,
        row.y + 14.0,
    );
    let places = Places::new(picture.placement, x + PAD);
    boxes(svg, frame, &places, heads);
    let fault = picture.fault.filter(|fault| fault.panel == number);
    if let Some((_, round)) = round {
        let wrong = |m: &Message| fault.is_some_and(|fault| fault.messages.contains(&(m.from, m.to)));
        round.messages.iter().for_each(|message| arc(svg, &places, heads, message, style(message, wrong(message))));
    }
    if let Some(expected) = fault.and_then(|fault| fault.expected.as_ref()) {
        arc(svg, &places, heads, expected, (WRONG, "wrong", r#" stroke-dasharray="4 3""#));
    }
    for rank in 0..frame.p {
        draw_column(svg, places.x[rank], heads, rank, round.map(|(number, _)| number), &holdings.slots[rank]);
    }
    fault.iter().for_each(|fault| mark(svg, &places, heads, fault));
    svg.push_str("</g>\n");
}

fn counted(round: &Round) -> String {
    let (messages, blocks) = (round.messages.len(), round.blocks());
    let s = |n| if n == 1 { "" } else { "s" };
    format!("{messages} message{}, {blocks} block{}", s(messages), s(blocks))
}

/// Where the columns of one panel begin, those of a node side by side, and its boxes.
struct Places<'a> {
    placement: &'a Placement,
    x: Vec<f64>,
    /// The left end and the width of every node.
    nodes: Vec<(f64, f64)>,
}

impl<'a> Places<'a> {
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
        Places { placement, x, nodes }
    }
}

/// The boxes of nodes, or one box around all columns.
fn boxes(svg: &mut String, frame: &Frame, places: &Places<'_>, heads: f64) {
    let height = HEAD + 6.0 + frame.slots as f64 * CELL_H + FOOT;
    for (number, &(x, width)) in places.nodes.iter().enumerate() {
        let _ = writeln!(
            svg,
            r##"<rect x="{x:.1}" y="{:.1}" width="{width:.1}" height="{:.1}" rx="8" fill="#f8fafc" stroke="#e2e8f0"/>"##,
            heads - 6.0,
            height + if frame.several_nodes { 18.0 } else { 0.0 },
        );
        if frame.several_nodes {
            let label = if width > 60.0 { format!("node {number}") } else { format!("n{number}") };
            let _ = writeln!(
                svg,
                r##"<text x="{:.1}" y="{:.1}" font-size="11" fill="{SOFT}" text-anchor="middle">{label}</text>"##,
                x + width / 2.0,
                heads + height + 4.0,
            );
        }
    }
}

/// A message, from head to head. It leaves on the side it goes to and arrives on the side it comes from, so that
/// arrows that leave and arrows that arrive do not meet.
fn arc(svg: &mut String, places: &Places<'_>, heads: f64, message: &Message, style: (&str, &str, &str)) {
    let side = if places.x[message.to] > places.x[message.from] { 1.0 } else { -1.0 };
    let from = places.x[message.from] + CELL_W / 2.0 + 9.0 * side;
    let to = places.x[message.to] + CELL_W / 2.0 - 4.0 * side;
    let (start, end, top) = (heads - 1.0, heads - 3.0, heads - 1.0 - rise(places.placement, message));
    let lean = 0.1 * (to - from);
    let (colour, marker, more) = style;
    let _ = writeln!(
        svg,
        r##"<path d="M{from:.1} {start:.1}C{:.1} {top:.1} {:.1} {top:.1} {to:.1} {end:.1}" fill="none" stroke="{colour}" stroke-width="1.3" stroke-opacity="0.8"{more} marker-end="url(#{marker})"/>"##,
        from + lean,
        to - lean,
    );
}

/// The colour of a message, its arrow head, and what else its line has.
fn style(message: &Message, wrong: bool) -> (&'static str, &'static str, &'static str) {
    match (wrong, message.nonlocal) {
        (true, _) => (WRONG, "wrong", ""),
        (false, true) => (REMOTE, "remote", ""),
        (false, false) => (LOCAL, "local", ""),
    }
}

/// Frames around the ranks and slots at fault.
fn mark(svg: &mut String, places: &Places<'_>, heads: f64, fault: &Fault) {
    let mut frame = |x: f64, y: f64, height: f64| {
        let _ = writeln!(
            svg,
            r##"<rect x="{x:.1}" y="{y:.1}" width="{CELL_W}" height="{height}" rx="2" fill="none" stroke="{WRONG}" stroke-width="2.4"/>"##
        );
    };
    fault.ranks.iter().for_each(|&rank| frame(places.x[rank], heads, HEAD));
    let slot = |block: usize| heads + HEAD + 6.0 + block as f64 * CELL_H;
    fault.slots.iter().for_each(|&(rank, block)| frame(places.x[rank], slot(block), CELL_H));
}

fn draw_column(svg: &mut String, x: f64, heads: f64, rank: usize, round: Option<usize>, slots: &[Slot]) {
    let middle = x + CELL_W / 2.0;
    let size = if rank < 10 { 11 } else { 10 };
    let _ = writeln!(
        svg,
        r##"<rect x="{x:.1}" y="{heads:.1}" width="{CELL_W}" height="{HEAD}" rx="5" fill="#334155"/><text x="{middle:.1}" y="{:.1}" font-size="{size}" font-weight="700" fill="#ffffff" text-anchor="middle">P{rank}</text>"##,
        heads + 14.0,
    );
    for (block, slot) in slots.iter().enumerate() {
        let y = heads + HEAD + 6.0 + block as f64 * CELL_H;
        match *slot {
            Slot::Share { have, of, new } => share(svg, x, y, (have, of), new),
            slot => cell(svg, x, y, look(slot, round), block),
        }
    }
}

/// How a cell looks: its fill, and its text if it has one.
struct Look {
    fill: &'static str,
    text: Option<(&'static str, u16)>,
}

const EMPTY: Look = Look { fill: "#ffffff", text: None };
const OWN: Look = Look { fill: "#94a3b8", text: Some(("#ffffff", 700)) };
const HELD: Look = Look { fill: "#e2e8f0", text: Some(("#475569", 400)) };
const NEW_LOCAL: Look = Look { fill: "#bfdbfe", text: Some(("#1e3a8a", 700)) };
const COMPLETE: Look = Look { fill: "#bbf7d0", text: Some(("#14532d", 700)) };
const NEW_REMOTE: Look = Look { fill: "#fed7aa", text: Some(("#7c2d12", 700)) };

fn look(slot: Slot, now: Option<usize>) -> Look {
    match slot {
        Slot::Empty | Slot::Share { .. } => EMPTY,
        Slot::Own => OWN,
        Slot::Arrived { round, nonlocal: false } if Some(round) == now => NEW_LOCAL,
        Slot::Arrived { round, nonlocal: true } if Some(round) == now => NEW_REMOTE,
        Slot::Arrived { .. } => HELD,
    }
}

fn cell(svg: &mut String, x: f64, y: f64, look: Look, block: usize) {
    let fill = look.fill;
    let _ = write!(
        svg,
        r##"<rect x="{x:.1}" y="{y:.1}" width="{CELL_W}" height="{CELL_H}" fill="{fill}" stroke="{LINE}"/>"##
    );
    if let Some((ink, weight)) = look.text {
        let _ = write!(
            svg,
            r##"<text x="{:.1}" y="{:.1}" font-size="11" font-weight="{weight}" fill="{ink}" text-anchor="middle">{block}</text>"##,
            x + CELL_W / 2.0,
            y + 13.0,
        );
    }
    svg.push('\n');
}

/// A slot of a reduction: filled by its share of all contributions, with their number.
fn share(svg: &mut String, x: f64, y: f64, (have, of): (usize, usize), new: bool) {
    let look = match (have == of, new) {
        (true, _) => COMPLETE,
        (false, true) => NEW_LOCAL,
        (false, false) => HELD,
    };
    let width = CELL_W * have as f64 / of.max(1) as f64;
    let _ =
        write!(svg, r##"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{CELL_H}" fill="{}"/>"##, look.fill);
    cell(svg, x, y, Look { fill: "none", text: look.text }, have);
}

/// The entries of the legend, with the room each takes.
fn legend_entries(content: Content, several_nodes: bool, faulty: bool) -> Vec<(Sample, &'static str, f64)> {
    let mut entries = vec![(Sample::Cell(OWN), "own block", 112.0), (Sample::Cell(HELD), "held", 80.0)];
    if content != Content::Blocks {
        let (so_far, room) = match content {
            Content::Destinations => ("blocks for a destination", 196.0),
            _ => ("contributions so far", 174.0),
        };
        entries = vec![
            (Sample::Cell(HELD), so_far, room),
            (Sample::Cell(NEW_LOCAL), "more in this round", 166.0),
            (Sample::Cell(COMPLETE), "all of them", 112.0),
            (Sample::Arrow(LOCAL, "local"), "message", 90.0),
        ];
        if several_nodes {
            entries.push((Sample::Arrow(REMOTE, "remote"), "between nodes", 134.0));
        }
    } else if several_nodes {
        entries.push((Sample::Cell(NEW_LOCAL), "arrived from the same node", 226.0));
        entries.push((Sample::Cell(NEW_REMOTE), "from another node", 166.0));
        entries.push((Sample::Arrow(LOCAL, "local"), "inside a node", 134.0));
        entries.push((Sample::Arrow(REMOTE, "remote"), "between nodes", 134.0));
    } else {
        entries.push((Sample::Cell(NEW_LOCAL), "arrived in this round", 184.0));
        entries.push((Sample::Arrow(LOCAL, "local"), "message", 90.0));
    }
    if faulty {
        entries.push((Sample::Arrow(WRONG, "wrong"), "at fault", 90.0));
    }
    entries
}

enum Sample {
    Cell(Look),
    Arrow(&'static str, &'static str),
}

fn legend_width(content: Content, several_nodes: bool, faulty: bool) -> f64 {
    legend_entries(content, several_nodes, faulty).iter().map(|(_, _, width)| width).sum()
}

fn legend(svg: &mut String, frame: &Frame) {
    let y = frame.height - 34.0;
    let mut x = MARGIN;
    for (sample, text, width) in legend_entries(frame.content, frame.several_nodes, frame.faulty) {
        let _ = match sample {
            Sample::Cell(look) => write!(
                svg,
                r##"<rect x="{x:.1}" y="{y:.1}" width="22" height="14" fill="{}" stroke="{LINE}"/>"##,
                look.fill
            ),
            Sample::Arrow(colour, marker) => write!(
                svg,
                r##"<path d="M{x:.1} {:.1}h17" stroke="{colour}" stroke-width="1.3" marker-end="url(#{marker})"/>"##,
                y + 7.0
            ),
        };
        let _ = writeln!(
            svg,
            r##"<text x="{:.1}" y="{:.1}" font-size="12" fill="{SOFT}">{text}</text>"##,
            x + 29.0,
            y + 11.5
        );
        x += width;
    }
}

fn arrow(name: &str, colour: &str) -> String {
    format!(
        r##"<marker id="{name}" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.6L7.4 4L0 7.4z" fill="{colour}"/></marker>"##
    )
}

/// Text as it may stand in a document.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundel_spec::Kind;

    fn ring(p: usize, placement: &Placement) -> Vec<Round> {
        let message = |from: usize, s: usize| {
            let to = (from + 1) % p;
            let (blocks, nonlocal) = (vec![(from + p - s) % p], placement.nonlocal(from, to));
            Message { from, to, blocks, naming: Naming::Numbers, contributors: None, nonlocal, effect: None }
        };
        (0..p.saturating_sub(1)).map(|s| Round { messages: (0..p).map(|from| message(from, s)).collect() }).collect()
    }

    fn film(p: usize, rounds: &[Round]) -> Vec<Holdings> {
        let mut all = vec![Holdings::initial(Kind::Allgather, p, p, 0)];
        for (number, round) in rounds.iter().enumerate() {
            let mut next = all[number].clone();
            next.apply(number, round);
            all.push(next);
        }
        all
    }

    #[test]
    fn pictures_are_well_formed_xml_for_every_shape() {
        for p in [1, 2, 3, 5, 12, 13] {
            for ppn in [1, 2, 4, p] {
                let placement = Placement::consecutive(p, ppn);
                let rounds = ring(p, &placement);
                let svg = draw(&Picture {
                    title: "a <b> & \"c\"",
                    subtitle: "p",
                    placement: &placement,
                    rounds: &rounds,
                    film: &film(p, &rounds),
                    fault: None,
                });
                let document = roxmltree::Document::parse(&svg).expect("well-formed");
                let arcs =
                    document.descendants().filter(|n| n.has_tag_name("path") && n.has_attribute("stroke-opacity"));
                assert_eq!(arcs.count(), p * (p - 1), "one arc for each message, p = {p}");
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }
    #[test]
    fn what_is_at_fault_is_marked() {
        let placement = Placement::consecutive(3, 3);
        let rounds = ring(3, &placement);
        let expected = Some(Message {
            from: 2,
            to: 0,
            blocks: vec![1],
            naming: Naming::Numbers,
            contributors: None,
            nonlocal: false,
            effect: None,
        });
        let fault = Fault {
            rounds: 2,
            panel: 2,
            ranks: vec![0],
            messages: vec![(1, 2)],
            expected,
            slots: vec![(0, 1), (2, 2)],
        };
        let draw = |fault| {
            let film = film(3, &rounds);
            draw(&Picture { title: "a", subtitle: "b", placement: &placement, rounds: &rounds, film: &film, fault })
        };
        let svg = draw(Some(&fault));
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let red = |tag: &str| {
            let wanted = |n: &roxmltree::Node<'_, '_>| n.has_tag_name(tag) && n.attribute("stroke") == Some(WRONG);
            document.descendants().filter(wanted).count()
        };
        assert_eq!(red("rect"), 3, "one rank, two slots");
        assert_eq!(red("path"), 3, "a message that is wrong, one that is missing, and the legend");
        assert!(svg.contains("stroke-dasharray") && svg.contains("at fault"));
        let plain = draw(None);
        assert!(!plain.contains(WRONG) && !plain.contains("at fault"));
    }
}
