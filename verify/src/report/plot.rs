//! Curves on logarithmic axes, in the style of [`crate::report::picture`].
//!
//! Counts by radix span orders of magnitude in both directions. On logarithmic axes, curves that differ by a factor
//! keep their distance, and one axis serves all of them.

use crate::report::drawing::{Anchor, Contour, Drawing, INK, LINE, Lettering, SOFT, Stroke, width};

/// What to plot. All values must be positive.
#[derive(Debug)]
pub struct Plot<'a> {
    /// The heading.
    pub title: &'a str,
    /// The case.
    pub subtitle: &'a str,
    /// The label of the horizontal axis.
    pub x: &'a str,
    /// The label of the vertical axis.
    pub y: &'a str,
    /// The curves.
    pub series: &'a [Series],
    /// A value to mark on the horizontal axis, and its label.
    pub mark: Option<(f64, &'a str)>,
}

/// A curve.
#[derive(Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: &'static str,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Its colour.
    pub colour: &'static str,
    /// Its line style, so that it can be recognised without colour.
    pub dash: Dash,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Without gaps.
    Solid,
    /// With gaps.
    Dashed,
}

impl Dash {
    const fn lengths(self) -> Option<(f64, f64)> {
        match self {
            Dash::Solid => None,
            Dash::Dashed => Some((7.0, 4.0)),
        }
    }
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 500.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 32.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = HEIGHT - 96.0;

/// A logarithmic axis: a mapping from values to positions on the page.
struct LogAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LogAxis {
    /// From the smallest to the largest value; slightly more if they are equal.
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
        let high = values.fold(0.0, f64::max);
        let (low, high) = if low < high { (low, high) } else { (low / 2.0, low * 2.0) };
        LogAxis { low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value / self.low).ln() / (self.high / self.low).ln() * (self.to - self.from)
    }

    /// Round numbers: powers of ten and, if these are few, their multiples by two and five.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = if decades > 5.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let exponents = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let all = exponents.flat_map(|exponent| digits.iter().map(move |digit| digit * 10f64.powi(exponent)));
        all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }
}

/// Plots.
pub fn draw(plot: &Plot<'_>) -> Drawing {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let across = LogAxis::new(points().map(|point| point.0), LEFT, RIGHT);
    let mut up = LogAxis::new(points().map(|point| point.1), BOTTOM, TOP);
    // Space between the curves and the frame.
    (up.low, up.high) = (up.low / 1.15, up.high * 1.15);
    let entries = legend_lines(plot.series);
    let height = HEIGHT + (entries.len().max(1) - 1) as f64 * LEGEND_LINE;
    let mut drawing = Drawing::new(WIDTH, height, format!("{}: {}", plot.title, plot.subtitle));
    drawing.add(Lettering::new(19.0).bold().at(24.0, 38.0, plot.title));
    drawing.add(Lettering::new(13.0).colour(SOFT).at(24.0, 59.0, plot.subtitle));
    axes(&mut drawing, plot, &across, &up);
    if let Some((value, text)) = plot.mark {
        mark(&mut drawing, across.at(value), text);
    }
    plot.series.iter().for_each(|series| curve(&mut drawing, series, &across, &up));
    legend(&mut drawing, &entries);
    drawing
}

fn axes(drawing: &mut Drawing, plot: &Plot<'_>, across: &LogAxis, up: &LogAxis) {
    let (thin, small) = (Stroke::new(LINE, 0.6), Lettering::new(12.0).colour(SOFT));
    for tick in across.ticks() {
        let x = across.at(tick);
        drawing.add(Contour::stroked(thin).line([(x, TOP), (x, BOTTOM)]));
        drawing.add(small.anchor(Anchor::Middle).at(x, BOTTOM + 18.0, tick.to_string()));
    }
    for tick in up.ticks() {
        let y = up.at(tick);
        drawing.add(Contour::stroked(thin).line([(LEFT, y), (RIGHT, y)]));
        drawing.add(small.anchor(Anchor::End).at(LEFT - 8.0, y + 4.0, tick.to_string()));
    }
    let (middle_x, middle_y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
    drawing.add(Contour::stroked(Stroke::new(SOFT, 1.0)).line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)]));
    let name = Lettering::new(13.0).anchor(Anchor::Middle);
    drawing.add(name.at(middle_x, BOTTOM + 40.0, plot.x));
    drawing.add(name.at(32.0, middle_y, plot.y).upwards());
}

/// A vertical line. Its label is on the side with more space.
fn mark(drawing: &mut Drawing, x: f64, text: &str) {
    let (shift, anchor) = if x > (LEFT + RIGHT) / 2.0 { (-6.0, Anchor::End) } else { (6.0, Anchor::Start) };
    let dotted = Stroke::new(INK, 1.0).dashed(Some((1.5, 3.0)));
    drawing.add(Contour::stroked(dotted).line([(x, TOP - 14.0), (x, BOTTOM)]));
    drawing.add(Lettering::new(12.0).anchor(anchor).at(x + shift, TOP - 5.0, text));
}

fn curve(drawing: &mut Drawing, series: &Series, across: &LogAxis, up: &LogAxis) {
    let points = series.points.iter().map(|&(x, y)| (across.at(x), up.at(y)));
    drawing.add(Contour::stroked(stroke(series).round()).line(points));
}

fn stroke(series: &Series) -> Stroke {
    Stroke::new(series.colour, 2.0).dashed(series.dash.lengths())
}

/// The height of a line of the legend.
const LEGEND_LINE: f64 = 20.0;

/// The width of an entry of the legend.
fn room(series: &Series) -> f64 {
    42.0 + width(series.name, 12.0) + 20.0
}

/// The series in lines that fit the page.
fn legend_lines(series: &[Series]) -> Vec<Vec<&Series>> {
    let mut lines: Vec<Vec<&Series>> = Vec::new();
    let mut used = f64::INFINITY;
    for one in series {
        if used + room(one) > WIDTH - LEFT {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += room(one);
        lines.iter_mut().last().into_iter().for_each(|line| line.push(one));
    }
    lines
}

fn legend(drawing: &mut Drawing, lines: &[Vec<&Series>]) {
    for (number, line) in lines.iter().enumerate() {
        let (mut x, y) = (LEFT, HEIGHT - 26.0 + number as f64 * LEGEND_LINE);
        for series in line {
            drawing.add(Contour::stroked(stroke(series)).line([(x, y - 4.0), (x + 34.0, y - 4.0)]));
            drawing.add(Lettering::new(12.0).colour(SOFT).at(x + 42.0, y, series.name));
            x += room(series);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::drawing::reading;

    fn plot(points: Vec<(f64, f64)>) -> String {
        let other = points.iter().map(|&(x, y)| (x, y * 3.0)).collect();
        let series = [
            Series { name: "a <b>", points, colour: "#000000", dash: Dash::Solid },
            Series { name: "c & d", points: other, colour: "#888888", dash: Dash::Dashed },
        ];
        draw(&Plot { title: "t & t", subtitle: "<s>", x: "x", y: "y", series: &series, mark: Some((2.0, "two")) })
            .svg()
    }

    #[test]
    fn plots_are_well_formed_xml() {
        let curves: [&[(f64, f64)]; 4] =
            [&[(2.0, 3.0)], &[(2.0, 3.0), (3.0, 3.0)], &[(2.0, 1.0), (4095.0, 24_576.0)], &[(2.0, 7.0), (2e9, 6e10)]];
        for points in curves {
            let svg = plot(points.to_vec());
            roxmltree::Document::parse(&svg).expect("well-formed");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert!(svg.contains("stroke-dasharray=\"7 4\"") && svg.contains("a &lt;b&gt;"));
        }
    }

    #[test]
    fn texts_of_plots_do_not_overlap() {
        let names =
            ["locality-aware Bruck, 16", "hierarchical, 16", "Bruck, 16", "recursive doubling", "ring, 4", "x"];
        let points = [vec![(2.0, 3.0), (4096.0, 24_576.0)], vec![(8.0, 0.5), (65_536.0, 90.0)], vec![(2.0, 3.0)]];
        for points in points {
            let one = |name| Series { name, points: points.clone(), colour: INK, dash: Dash::Solid };
            let series = names.map(one);
            let (title, subtitle, mark) = ("A plot", "what it shows", Some((points[0].0, "a mark")));
            let drawing = draw(&Plot { title, subtitle, x: "bytes", y: "time", series: &series, mark });
            let texts = reading::texts(&drawing);
            assert_eq!(reading::overlaps(&texts), Vec::<String>::new());
            assert_eq!(reading::outside(&drawing), Vec::<String>::new());
            assert!(names.iter().all(|name| texts.iter().any(|text| text.words == *name)), "a legend for each");
            reading::same_in_both(&drawing);
        }
    }

    #[test]
    fn axes_are_logarithmic() {
        let axis = LogAxis::new([1.0, 100.0, 10.0].into_iter(), 0.0, 200.0);
        assert!([1.0, 10.0, 100.0].into_iter().zip([0.0, 100.0, 200.0]).all(|(v, x)| (axis.at(v) - x).abs() < 1e-9));
        assert_eq!(axis.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        let wide = LogAxis::new([1.0, 1e6].into_iter(), 0.0, 1.0);
        assert_eq!(wide.ticks().len(), 7);
    }
}
