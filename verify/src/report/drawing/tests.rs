use super::reading::{outside, overlaps, same_in_both, texts};
use super::*;

fn page() -> Drawing {
    Drawing::new(200.0, 100.0, "a <b> & c\nd".into())
}

#[test]
fn both_files_have_the_same_shapes_and_texts() {
    let mut drawing = page();
    let hostile = r#"50% of #1 & $x_1^2$ ~ {a\b} <c> "d" |e| – … Σ → ⇒ · -- é"#;
    drawing.add(Lettering::new(12.0).at(10.0, 20.0, hostile).note(Lettering::new(9.0), "}{".into()));
    drawing.add(Lettering::new(12.0).bold().anchor(Anchor::Middle).at(10.0, 50.0, "up").upwards());
    drawing.add(Rectangle::new((1.0, 2.0), (30.0, 40.0)).rounded(4.0).filled(LINE).outlined(INK, 2.0));
    let dashed = Stroke { opacity: 0.5, ..Stroke::new(REMOTE, 1.3).arrow().dashed(Some((4.0, 3.0))) };
    let before = drawing.shapes.len();
    drawing.add(Contour::stroked(dashed).line([(0.0, 0.0), (10.0, 0.0), (10.0, 30.0), (12.5, 31.25)]));
    let curve = ContourStep::Curve([(5.0, 6.0), (7.0, 8.0), (9.0, 10.0)]);
    let steps = vec![ContourStep::Move(1.0, 1.0), curve, ContourStep::Close];
    drawing.add(Contour { steps, ..Contour::filled(LOCAL) });
    drawing.group(before);
    let labels = vec![(10.0, 90.0, "0".into()), (20.0, 90.0, "1_".into())];
    drawing.add(Shape::Labels(Lettering::new(8.0).colour(SOFT).anchor(Anchor::End), labels));
    same_in_both(&drawing);
    let svg = drawing.svg();
    assert!(svg.contains("M0 0H10V30L12.5 31.2") && svg.contains("url(#head-ea580c)"), "{svg}");
    let tikz = drawing.tikz();
    assert!(tikz.starts_with("% a <b> & c d\n") && tikz.contains("-{Stealth"), "{tikz}");
    assert!(tikz.contains(r"50\% of \#1 \& \$x\_1\textasciicircum{}2\$"), "{tikz}");
}

/// What the tests of pictures rely on.
#[test]
fn texts_that_overlap_or_leave_the_page_are_found() {
    let style = Lettering::new(10.0);
    let found = |lines: &[(f64, f64)]| {
        let mut drawing = page();
        lines.iter().for_each(|&(x, y)| drawing.add(style.at(x, y, "text")));
        (overlaps(&texts(&drawing)).len(), outside(&drawing).len())
    };
    assert_eq!(found(&[(10.0, 20.0), (40.0, 20.0), (10.0, 32.0)]), (0, 0));
    assert_eq!(found(&[(10.0, 20.0), (20.0, 22.0)]), (1, 0));
    assert_eq!(found(&[(10.0, 5.0), (190.0, 50.0), (-1.0, 50.0), (10.0, 101.0)]), (0, 4));
    let mut drawing = page();
    drawing.add(Rectangle::new((190.0, 10.0), (11.0, 5.0)).filled(LINE));
    drawing.add(Contour::filled(LINE).line([(1.0, 1.0), (1.0, -1.0)]));
    assert_eq!(outside(&drawing).len(), 2);
}
