//! Layout: the size and position of panels, and the size of the canvas.

use super::words::{counted, lines};
use super::{Picture, legend};
use crate::report::drawing::{Drawing, Lettering, SOFT, width};
use crate::report::rounds::{DrawnMessage, Naming, Round, SlotContent};
use roundel_spec::Placement;

pub(super) const MARGIN: f64 = 24.0;
pub(super) const CELL_W: f64 = 28.0;
pub(super) const CELL_H: f64 = 18.0;
pub(super) const GAP: f64 = 10.0;
pub(super) const PITCH: f64 = CELL_W + GAP;
pub(super) const HEAD: f64 = 20.0;
/// The height of a panel's title.
pub(super) const TITLE: f64 = 26.0;
pub(super) const PAD: f64 = 7.0;
pub(super) const FOOT: f64 = 14.0;
const BETWEEN: f64 = 26.0;
const PAGE: f64 = 1150.0;
/// The minimum width, which a panel's title needs.
const NARROWEST: f64 = 236.0;
/// From this number of ranks on, a panel is a pair of matrices.
const COMPACT: usize = 17;
/// The font size of the subtitle.
const SUBTITLE: f64 = 13.0;

/// The contents of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawnSlot {
    /// A block, and when it arrived.
    Blocks,
    /// The ranks that have contributed to a block.
    Contributions,
    /// The sources whose blocks for a destination are here.
    Destinations,
}

impl DrawnSlot {
    /// The unit of a cell.
    pub(super) fn unit(self) -> &'static str {
        match self {
            DrawnSlot::Blocks => "blocks that ranks hold",
            DrawnSlot::Contributions => "contributions that ranks hold",
            DrawnSlot::Destinations => "sources of the blocks for each destination",
        }
    }
}

/// A row of panels: its position, and the height of its arcs.
struct PanelRow {
    y: f64,
    band: f64,
}

/// Sizes and positions.
pub(super) struct Frame {
    pub(super) p: usize,
    /// The number of slots of each rank.
    pub(super) slots: usize,
    pub(super) several_nodes: bool,
    pub(super) content: DrawnSlot,
    pub(super) faulty: bool,
    /// Whether one rank holds everything at the start.
    pub(super) rooted: bool,
    pub(super) compact: bool,
    /// The size of a matrix cell.
    pub(super) cell: f64,
    /// Whether the rows of the second matrix are contributors: if there is only one slot, only its contributors change.
    pub(super) by_contributor: bool,
    columns: usize,
    pub(super) panel_w: f64,
    rows: Vec<PanelRow>,
    subtitle: Vec<String>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The vertical position of the legend.
    pub(super) legend_y: f64,
}

impl Frame {
    pub(super) fn new(picture: &Picture<'_>) -> Self {
        let placement = picture.placement;
        let p = placement.p();
        let first = picture.film.first();
        let slots = first.and_then(|holdings| holdings.slots.first()).map_or(0, Vec::len);
        let compact = p >= COMPACT;
        let cell = (330.0 / p as f64).clamp(5.0, 12.0).floor();
        let panels = picture.film.len().max(1);
        let panel_w = if compact { matrix_width(p, cell) } else { columns_width(placement) }.max(NARROWEST);
        let fitting = ((PAGE - 2.0 * MARGIN + BETWEEN) / (panel_w + BETWEEN)) as usize;
        let fitting = picture.options.columns.unwrap_or(fitting).clamp(1, panels);
        // Rows of about equal length, unless the user sets their length.
        let columns = match picture.options.columns {
            Some(_) => fitting,
            None => panels.div_ceil(panels.div_ceil(fitting)),
        };
        let mut frame = Frame {
            p,
            slots,
            several_nodes: placement.ppn() < p,
            content: content(picture),
            faulty: picture.fault.is_some(),
            rooted: first.is_some_and(|first| {
                p > 1 && first.slots.iter().filter(|slots| slots.contains(&SlotContent::Own)).count() == 1
            }),
            compact,
            cell,
            by_contributor: compact && slots == 1 && content(picture) == DrawnSlot::Contributions,
            columns,
            panel_w,
            rows: Vec::new(),
            subtitle: Vec::new(),
            width: 0.0,
            height: 0.0,
            legend_y: 0.0,
        };
        frame.lay_out(picture, panels);
        frame
    }

    /// Positions the rows of panels below the heading, and the legend below them.
    fn lay_out(&mut self, picture: &Picture<'_>, panels: usize) {
        let panels_w = (self.columns - 1) as f64 * (self.panel_w + BETWEEN) + self.last_width(picture, panels);
        let title_w = if picture.options.untitled { 0.0 } else { width(picture.title, 19.0) * 1.1 };
        let content_w = panels_w.max(title_w);
        if !picture.options.untitled {
            self.subtitle = lines(picture.subtitle, SUBTITLE, content_w.max(320.0));
        }
        let subtitle_w = self.subtitle.iter().map(|line| width(line, SUBTITLE)).fold(0.0, f64::max);
        self.width = (content_w.max(subtitle_w) + 2.0 * MARGIN).ceil();
        let mut y = match self.subtitle.len() {
            0 => MARGIN - 6.0,
            n => 61.0 + n as f64 * 17.0,
        };
        for row in 0..panels.div_ceil(self.columns) {
            let band = if self.compact { 0.0 } else { self.band(picture, row) };
            self.rows.push(PanelRow { y, band });
            y += TITLE + band + self.panel_height() + BETWEEN;
        }
        self.legend_y = y - 4.0;
        self.height = (self.legend_y + legend::height(self) + 18.0).ceil();
    }

    /// The width of the contents of the last column of panels, which may be narrower than the others.
    fn last_width(&self, picture: &Picture<'_>, panels: usize) -> f64 {
        if self.compact || self.columns == 1 {
            return self.panel_w;
        }
        let last = (0..panels).filter(|panel| panel % self.columns == self.columns - 1);
        let titles =
            last.filter_map(|panel| picture.rounds.get(panel - 1)).map(|round| 76.0 + width(&counted(round), 11.0));
        titles.fold(columns_width(picture.placement), f64::max)
    }

    /// The height of the arcs in a row of panels.
    fn band(&self, picture: &Picture<'_>, row: usize) -> f64 {
        let panels = row * self.columns..((row + 1) * self.columns).min(picture.film.len());
        let rounds = panels.clone().filter_map(|panel| picture.rounds.get(panel.checked_sub(1)?));
        let expected = picture.fault.filter(|fault| panels.contains(&fault.panel));
        let expected = expected.and_then(|fault| fault.expected.as_ref());
        let expected = expected.map_or(0.0, |message| room(picture.placement, message));
        rounds.map(|round| band(picture.placement, round)).fold(expected, f64::max)
    }

    /// The height of a panel below its title and arcs.
    fn panel_height(&self) -> f64 {
        let label = if self.several_nodes { 18.0 } else { 0.0 };
        match self.compact {
            true => self.matrices_height() + label,
            false => HEAD + 6.0 + self.slots as f64 * CELL_H + FOOT + label,
        }
    }

    /// The height of two matrices: who sends to whom, and what every rank holds.
    fn matrices_height(&self) -> f64 {
        super::matrix::height(self)
    }

    /// The upper left corner of a panel.
    pub(super) fn corner(&self, number: usize) -> (f64, f64) {
        let x = MARGIN + (number % self.columns) as f64 * (self.panel_w + BETWEEN);
        (x, self.rows[number / self.columns].y)
    }

    /// The height of the arcs above the columns of a panel.
    pub(super) fn band_of(&self, number: usize) -> f64 {
        self.rows[number / self.columns].band
    }

    /// Title and subtitle.
    pub(super) fn heading(&self, drawing: &mut Drawing, picture: &Picture<'_>) {
        if picture.options.untitled {
            return;
        }
        drawing.add(Lettering::new(19.0).bold().at(MARGIN, 38.0, picture.title));
        for (number, line) in self.subtitle.iter().enumerate() {
            let y = 59.0 + 17.0 * number as f64;
            drawing.add(Lettering::new(SUBTITLE).colour(SOFT).at(MARGIN, y, line.as_str()));
        }
    }
}

fn content(picture: &Picture<'_>) -> DrawnSlot {
    let Some(first) = picture.film.first() else { return DrawnSlot::Blocks };
    let shares = first.slots.iter().flatten().any(|slot| matches!(slot, SlotContent::Share { .. }));
    match (first.naming != Naming::Numbers, shares) {
        (true, _) => DrawnSlot::Destinations,
        (false, true) => DrawnSlot::Contributions,
        (false, false) => DrawnSlot::Blocks,
    }
}

fn columns_width(placement: &Placement) -> f64 {
    placement.p() as f64 * PITCH - GAP + 2.0 * PAD + (sizes(placement).len() - 1) as f64 * GAP
}

fn matrix_width(p: usize, cell: f64) -> f64 {
    super::matrix::AXIS + p as f64 * cell + 2.0
}

/// The number of ranks of each node, in the order in which nodes are drawn.
pub(super) fn sizes(placement: &Placement) -> Vec<usize> {
    let nodes = placement.regions().nodes();
    (0..nodes).map(|node| placement.regions().size(node) as usize).collect()
}

/// The column of a rank; columns are sorted by node.
pub(super) fn column(placement: &Placement, rank: usize) -> i64 {
    placement.place(rank).rank
}

/// The height of a message's arc.
pub(super) fn rise(placement: &Placement, message: &DrawnMessage) -> f64 {
    let distance = column(placement, message.from).abs_diff(column(placement, message.to)) as f64;
    10.0 + 11.0 * distance.sqrt() + 2.2 * distance
}

/// The height of a round's arcs. A cubic curve rises to three quarters of its control points.
fn band(placement: &Placement, round: &Round) -> f64 {
    round.messages.iter().map(|message| room(placement, message)).fold(0.0, f64::max)
}

fn room(placement: &Placement, message: &DrawnMessage) -> f64 {
    0.75 * rise(placement, message) + 10.0
}
