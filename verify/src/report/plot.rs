//! Curves on logarithmic axes, as plain SVG in the style of [`crate::report::svg`].
//!
//! Counts by radix span orders of magnitude in both directions. On logarithmic axes, curves that differ by a factor
//! keep their distance, and one axis serves all of them.

use crate::report::svg::{INK, LINE, SOFT, escape};
use std::fmt::Write;

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
    const fn attribute(self) -> &'static str {
        match self {
            Dash::Solid => "",
            Dash::Dashed => r#" stroke-dasharray="7 4""#,
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
pub fn draw(plot: &Plot<'_>) -> String {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let across = LogAxis::new(points().map(|point| point.0), LEFT, RIGHT);
    let mut up = LogAxis::new(points().map(|point| point.1), BOTTOM, TOP);
    // Space between the curves and the frame.
    (up.low, up.high) = (up.low / 1.15, up.high * 1.15);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif">
<title>{title}: {subtitle}</title>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>
<text x="24" y="38" font-size="19" font-weight="700" fill="{INK}">{title}</text>
<text x="24" y="59" font-size="13" fill="{SOFT}">{subtitle}</text>"##,
        title = escape(plot.title),
        subtitle = escape(plot.subtitle),
    );
    axes(&mut svg, plot, &across, &up);
    if let Some((value, text)) = plot.mark {
        mark(&mut svg, across.at(value), text);
    }
    plot.series.iter().for_each(|series| curve(&mut svg, series, &across, &up));
    legend(&mut svg, plot.series);
    svg.push_str("</svg>\n");
    svg
}

fn axes(svg: &mut String, plot: &Plot<'_>, across: &LogAxis, up: &LogAxis) {
    for tick in across.ticks() {
        let x = across.at(tick);
        let _ = writeln!(
            svg,
            r##"<path d="M{x:.1} {TOP}V{BOTTOM}" stroke="{LINE}" stroke-width="0.6"/><text x="{x:.1}" y="{:.1}" font-size="12" fill="{SOFT}" text-anchor="middle">{tick}</text>"##,
            BOTTOM + 18.0,
        );
    }
    for tick in up.ticks() {
        let y = up.at(tick);
        let _ = writeln!(
            svg,
            r##"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{LINE}" stroke-width="0.6"/><text x="{:.1}" y="{:.1}" font-size="12" fill="{SOFT}" text-anchor="end">{tick}</text>"##,
            LEFT - 8.0,
            y + 4.0,
        );
    }
    let (middle_x, middle_y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
    let _ = writeln!(
        svg,
        r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="{SOFT}"/>
<text x="{middle_x:.1}" y="{:.1}" font-size="13" fill="{INK}" text-anchor="middle">{}</text>
<text transform="translate(32 {middle_y:.1}) rotate(-90)" font-size="13" fill="{INK}" text-anchor="middle">{}</text>"##,
        BOTTOM + 40.0,
        escape(plot.x),
        escape(plot.y),
    );
}

/// A vertical line. Its label is on the side with more space.
fn mark(svg: &mut String, x: f64, text: &str) {
    let (shift, anchor) = if x > (LEFT + RIGHT) / 2.0 { (-6.0, "end") } else { (6.0, "start") };
    let _ = writeln!(
        svg,
        r##"<path d="M{x:.1} {:.1}V{BOTTOM}" stroke="{INK}" stroke-dasharray="1.5 3"/><text x="{:.1}" y="{:.1}" font-size="12" fill="{INK}" text-anchor="{anchor}">{}</text>"##,
        TOP - 14.0,
        x + shift,
        TOP - 5.0,
        escape(text),
    );
}

fn curve(svg: &mut String, series: &Series, across: &LogAxis, up: &LogAxis) {
    let path: Vec<String> =
        series.points.iter().map(|&(x, y)| format!("{:.1} {:.1}", across.at(x), up.at(y))).collect();
    let _ = writeln!(
        svg,
        r##"<path d="M{}" fill="none" stroke="{}" stroke-width="2" stroke-linejoin="round"{}/>"##,
        path.join("L"),
        series.colour,
        series.dash.attribute(),
    );
}

fn legend(svg: &mut String, series: &[Series]) {
    let (mut x, y) = (LEFT, HEIGHT - 26.0);
    for series in series {
        let _ = writeln!(
            svg,
            r##"<path d="M{x:.1} {:.1}h34" stroke="{}" stroke-width="2"{}/><text x="{:.1}" y="{y:.1}" font-size="12" fill="{SOFT}">{}</text>"##,
            y - 4.0,
            series.colour,
            series.dash.attribute(),
            x + 42.0,
            escape(series.name),
        );
        x += 42.0 + 7.0 * series.name.chars().count() as f64 + 24.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>) -> String {
        let other = points.iter().map(|&(x, y)| (x, y * 3.0)).collect();
        let series = [
            Series { name: "a <b>", points, colour: "#000000", dash: Dash::Solid },
            Series { name: "c & d", points: other, colour: "#888888", dash: Dash::Dashed },
        ];
        draw(&Plot { title: "t & t", subtitle: "<s>", x: "x", y: "y", series: &series, mark: Some((2.0, "two")) })
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
    fn axes_are_logarithmic() {
        let axis = LogAxis::new([1.0, 100.0, 10.0].into_iter(), 0.0, 200.0);
        assert!([1.0, 10.0, 100.0].into_iter().zip([0.0, 100.0, 200.0]).all(|(v, x)| (axis.at(v) - x).abs() < 1e-9));
        assert_eq!(axis.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        let wide = LogAxis::new([1.0, 1e6].into_iter(), 0.0, 1.0);
        assert_eq!(wide.ticks().len(), 7);
    }
}
