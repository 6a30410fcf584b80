use super::*;
use crate::catalogue;
use crate::params::Params;
use crate::report::drawing::{LOCAL, REMOTE, reading};
use crate::report::rounds::{DrawnMessage, Naming};
use crate::report::run::PointRun;
use roundel_spec::Kind;
use std::cell::Cell;

mod vision;

fn ring(p: usize, placement: &Placement) -> Vec<Round> {
    let message = |from: usize, s: usize| {
        let to = (from + 1) % p;
        let (blocks, nonlocal) = (vec![(from + p - s) % p], placement.nonlocal(from, to));
        DrawnMessage { from, to, blocks, naming: Naming::Numbers, contributors: None, nonlocal, effect: None }
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
                options: PictureOptions::default(),
            })
            .svg();
            let document = roxmltree::Document::parse(&svg).expect("well-formed");
            let arcs = document.descendants().filter(|n| n.has_tag_name("path") && n.has_attribute("stroke-opacity"));
            assert_eq!(arcs.count(), p * (p - 1), "one arc for each message, p = {p}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}

#[test]
fn what_is_at_fault_is_marked() {
    let placement = Placement::consecutive(3, 3);
    let rounds = ring(3, &placement);
    let expected = Some(DrawnMessage {
        from: 2,
        to: 0,
        blocks: vec![1],
        naming: Naming::Numbers,
        contributors: None,
        nonlocal: false,
        effect: None,
    });
    let fault = Highlight {
        rounds: 2,
        panel: 2,
        ranks: vec![0],
        messages: vec![(1, 2)],
        expected,
        slots: vec![(0, 1), (2, 2)],
    };
    let draw = |fault| {
        let film = film(3, &rounds);
        let (title, subtitle, options) = ("a", "b", PictureOptions::default());
        draw(&Picture { title, subtitle, placement: &placement, rounds: &rounds, film: &film, fault, options }).svg()
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

/// A picture of a ring.
fn ring_picture(p: usize, ppn: usize, options: PictureOptions) -> String {
    ring_drawing(p, ppn, options).svg()
}

fn ring_drawing(p: usize, ppn: usize, options: PictureOptions) -> Drawing {
    let placement = Placement::consecutive(p, ppn);
    let rounds = ring(p, &placement);
    let (first, film) = (options.first, film(p, &rounds));
    let subtitle =
        "p = 5 · as many words as it takes to say what this costs, of these some to other nodes, in some rounds";
    draw(&Picture {
        title: "allgather/ring",
        subtitle,
        placement: &placement,
        rounds: &rounds[first..],
        film: &film[first..],
        fault: None,
        options,
    })
}

/// The right and bottom edges of everything that is drawn, and those of the canvas.
fn ends(svg: &str) -> ((f64, f64), (f64, f64)) {
    let document = roxmltree::Document::parse(svg).expect("well-formed");
    let number =
        |n: &roxmltree::Node<'_, '_>, name: &str| n.attribute(name).and_then(|text| text.parse::<f64>().ok());
    let canvas = document.root_element();
    let size = (number(&canvas, "width").expect("a width"), number(&canvas, "height").expect("a height"));
    // The font size may be set on an ancestor.
    let letters = |n: roxmltree::Node<'_, '_>| n.ancestors().find_map(|n| number(&n, "font-size")).unwrap_or(0.0);
    let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
    for n in document.descendants() {
        let (Some(x), Some(y)) = (number(&n, "x"), number(&n, "y")) else { continue };
        let texts = n
            .descendants()
            .filter(|n| n.is_text())
            .map(|n| crate::report::drawing::width(n.text().unwrap_or(""), letters(n)));
        let wide = match number(&n, "width") {
            Some(width) => width,
            None if n.ancestors().any(|n| n.has_attribute("text-anchor")) => 0.0,
            None => texts.sum(),
        };
        right = right.max(x + wide);
        bottom = bottom.max(y + number(&n, "height").unwrap_or(0.0));
    }
    ((right, bottom), size)
}

#[test]
fn the_canvas_fits_the_drawing() {
    for (p, ppn) in [(1, 1), (2, 2), (5, 5), (8, 4), (12, 4), (16, 16), (17, 17), (24, 8), (64, 16)] {
        let ((right, bottom), (width, height)) = ends(&ring_picture(p, ppn, PictureOptions::default()));
        assert!(right <= width && bottom <= height, "p = {p}: {right} x {bottom} on {width} x {height}");
        assert!(
            width - right <= 40.0 && height - bottom <= 40.0,
            "p = {p}: {right} x {bottom} on {width} x {height}"
        );
        assert!(width <= 1160.0, "p = {p}: {width} wide");
    }
}

#[test]
fn many_ranks_are_matrices() {
    let small = ring_picture(16, 16, PictureOptions::default());
    assert!(small.contains("stroke-opacity") && !small.contains("from (rows)"));
    for (p, ppn) in [(17, 17), (40, 8), (64, 16)] {
        let svg = ring_picture(p, ppn, PictureOptions::default());
        assert!(!svg.contains("stroke-opacity") && svg.contains("from (rows) to (columns)"), "p = {p}");
        assert!(p < 40 || svg.contains("every rank r sends block r to r + 1"), "p = {p}");
        assert!(svg.len() < 16_000 * p, "p = {p}: {} bytes", svg.len());
        assert_eq!(svg.contains("between nodes"), p != ppn);
    }
}

#[test]
fn some_rounds_without_a_title_in_some_columns() {
    let count = |svg: &str, words: &str| svg.matches(words).count();
    let svg = ring_picture(6, 6, PictureOptions { first: 3, columns: Some(1), untitled: true });
    assert_eq!((count(&svg, ">before round 3<"), count(&svg, ">round 3<"), count(&svg, ">round 4<")), (1, 1, 1));
    assert!(!svg.contains(">start<") && !svg.contains("font-size=\"19\""), "{svg}");
    let (_, (width, height)) = ends(&svg);
    assert!(height > width, "one below the other");
    let (_, wide) = ends(&ring_picture(6, 6, PictureOptions { first: 3, columns: Some(3), untitled: true }));
    assert!(wide.0 > wide.1, "side by side");
    assert!(
        ends(&ring_picture(6, 6, PictureOptions { columns: Some(99), ..PictureOptions::default() })).1.0 > 1000.0
    );
}

/// The pictures of the whole catalogue with 64 ranks, on one node and on four; those with many rounds only in part.
fn pictures_of_64_ranks(check: impl Fn(&str, &Drawing)) {
    for entry in roundel::algorithms::catalogue() {
        let schedule = (entry.schedule)();
        let params = Params::resolve(entry.name, &schedule, &[]);
        // Lists of ports have no default.
        let Ok(params) = params else { continue };
        for ppn in [16, 64] {
            let placement = Placement::consecutive(MAX_RANKS, ppn);
            let Ok(recorded) = catalogue::examine(entry, &params.args, placement.clone()) else { continue };
            let run = PointRun::new(&schedule, &recorded.point, &recorded.trace);
            let active: Vec<usize> = run.active_rounds().into_iter().take(4).collect();
            let rounds: Vec<Round> = active.iter().map(|&number| run.round(number)).collect();
            let subtitle = format!("p = {MAX_RANKS}, ppn = {ppn}");
            let drawing = draw(&Picture {
                title: entry.name,
                subtitle: &subtitle,
                placement: &placement,
                rounds: &rounds,
                film: &run.pictured(&active),
                fault: None,
                options: PictureOptions::default(),
            });
            check(&format!("{} on nodes of {ppn}", entry.name), &drawing);
        }
    }
}

#[test]
fn texts_of_64_ranks_do_not_overlap_and_shapes_stay_on_the_page() {
    let seen = Cell::new(0);
    pictures_of_64_ranks(|name, drawing| {
        let texts = reading::texts(drawing);
        assert_eq!(reading::overlaps(&texts), Vec::<String>::new(), "{name}");
        assert_eq!(reading::outside(drawing), Vec::<String>::new(), "{name}");
        assert!(texts.iter().any(|text| text.words == "new in this round" || text.words.starts_with("new, from")));
        reading::same_in_both(drawing);
        seen.set(seen.get() + 1);
    });
    assert!(seen.get() > 40, "{} pictures", seen.get());
}

#[test]
fn texts_of_few_ranks_do_not_overlap() {
    for (p, ppn) in [(1, 1), (2, 2), (5, 5), (8, 4), (12, 4), (16, 1), (16, 16), (17, 17), (24, 8), (40, 5)] {
        let drawing = ring_drawing(p, ppn, PictureOptions::default());
        assert_eq!(reading::overlaps(&reading::texts(&drawing)), Vec::<String>::new(), "p = {p}, ppn = {ppn}");
        assert_eq!(reading::outside(&drawing), Vec::<String>::new(), "p = {p}, ppn = {ppn}");
        reading::same_in_both(&drawing);
    }
}

#[test]
fn colour_blind_readers_can_tell_what_the_legend_tells_apart() {
    let cells = [OWN, HELD, NEW_LOCAL, NEW_REMOTE, COMPLETE];
    let shades = matrix::OLD_SHADES.iter().chain(&matrix::LOCAL_SHADES).chain(&matrix::REMOTE_SHADES);
    for legend in [&cells[..], &matrix::COLOURS, &[LOCAL, REMOTE, WRONG]] {
        for (n, a) in legend.iter().enumerate() {
            legend[..n].iter().for_each(|b| assert!(vision::distance(a, b) > 20.0, "{a} and {b}"));
        }
    }
    // Shades of one colour may be close, because they say how much; different colours may not.
    let families = [matrix::OLD_SHADES, matrix::LOCAL_SHADES, matrix::REMOTE_SHADES];
    for (n, family) in families.iter().enumerate() {
        for (a, b) in family.iter().flat_map(|a| families[..n].iter().flatten().map(move |b| (a, b))) {
            assert!(vision::distance(a, b) > 15.0, "{a} and {b}");
        }
    }
    shades.for_each(|shade| assert!(vision::distance(shade, matrix::COLOURS[4]) > 20.0, "{shade}"));
    // What was drawn before: a message at fault looked like one between nodes.
    assert!(vision::distance("#dc2626", REMOTE) < 20.0);
}
