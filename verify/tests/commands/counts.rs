//! `roundel counts` as users see it, compared with the paper's figures and with counting.

use crate::command::Subcommand;
use serde_json::{Value, json};

const COUNTS: Subcommand = Subcommand("counts");

fn text(args: &[&str]) -> String {
    COUNTS.text(args)
}

fn json(args: &[&str]) -> Value {
    COUNTS.json(args)
}

fn refused(args: &[&str], words: &str) {
    COUNTS.refused(args, words);
}

/// Figure 1 of Fan and Kumar: six processes. Radix 2 has 3 steps and radix 5 has 5. Radix 4 has 4, as the paper's own
/// formula says; the caption's 5 is a mistake.
#[test]
fn six_ranks_are_figure_1() {
    let steps = |radix: &str| {
        let detail = json(&["-p", "6", "--radix", radix]);
        let steps = detail["steps"].as_array().unwrap().clone();
        assert_eq!(detail["substeps"], steps.len());
        steps.iter().map(|s| (s["distance"].as_i64().unwrap(), s["blocks"].as_i64().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(steps("2"), [(1, 3), (2, 2), (4, 2)]);
    assert_eq!(steps("4"), [(1, 2), (2, 1), (3, 1), (4, 2)]);
    assert_eq!(steps("5"), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
    let table = "p = 6, radix 2  3 digits, 3 substeps, 7 blocks sent by each rank\n\
                 substep  digit  value  distance  blocks\n      0      0      1         1       3\n      \
                 1      1      1         2       2\n      2      2      1         4       2\n";
    assert!(text(&["-p", "6", "--radix", "2"]).starts_with(table));
}

#[test]
fn counts_are_those_of_the_offsets() {
    for p in [2i64, 3, 13, 27, 60] {
        let curve = json(&["-p", &p.to_string()]);
        let radices = curve["radices"].as_array().unwrap();
        assert_eq!(radices.len() as i64, (p - 2).max(1), "p = {p}");
        for (radix, found) in (2..).zip(radices) {
            // The number of offsets with each value of each digit.
            let mut messages = std::collections::BTreeMap::new();
            for mut offset in 0..p {
                let mut digit = 0;
                while offset > 0 {
                    *messages.entry((digit, offset % radix)).or_insert(0) += i64::from(offset % radix != 0);
                    (offset, digit) = (offset / radix, digit + 1);
                }
            }
            messages.retain(|_, blocks| *blocks > 0);
            let digits = messages.keys().map(|(digit, _)| digit + 1).max().unwrap();
            let expected = json!({
                "radix": radix,
                "digits": digits,
                "substeps": messages.len(),
                "blocks": messages.values().sum::<i64>(),
                "largest": messages.values().max().unwrap(),
            });
            assert_eq!(*found, expected, "p = {p}");
        }
    }
}

/// Figure 2a: 4096 processes. Up to the square root, messages do not decrease and blocks do not increase; there, blocks
/// are twice as many as with the last radix, and messages far fewer.
#[test]
fn the_curve_of_figure_2a() {
    let curve = json(&["-p", "4096"]);
    let at = |radix: i64| {
        let found = &curve["radices"][usize::try_from(radix - 2).unwrap()];
        assert_eq!(found["radix"], radix);
        (found["substeps"].as_i64().unwrap(), found["blocks"].as_i64().unwrap())
    };
    assert_eq!(curve["ceil_sqrt"], 64);
    assert_eq!((at(2), at(64), at(4095)), ((12, 24_576), (126, 8064), (4095, 4095)));
    for radix in 2..64 {
        assert!(at(radix).0 <= at(radix + 1).0 && at(radix).1 >= at(radix + 1).1, "radix {radix}");
    }
}

#[test]
fn large_tables_are_a_selection() {
    let some = text(&["-p", "4096"]);
    assert!(some.contains("64       2       126    8064       64  ceil(sqrt p)\n"), "{some}");
    assert!(
        some.contains(" 4095       2      4095    4095        1\n") && some.contains("`--all` prints every radix")
    );
    assert!(some.lines().count() < 50 && some.lines().all(|line| line == line.trim_end()), "{some}");
    let all = text(&["-p", "4096", "--all"]);
    assert!(all.lines().count() > 4090 && !all.contains("a selection"));
    assert!(text(&["-p", "2147483647"]).contains("46341"));
    assert!(!text(&["-p", "12"]).contains("a selection"));
    assert!(text(&["-p", "1"]).contains("    2       0         0       0        0\n"));
}

#[test]
fn the_plot_has_two_curves_that_differ_without_colour() {
    let folder = tempfile::TempDir::new().unwrap();
    for p in ["4", "6", "4096", "2147483647"] {
        let path = folder.path().join(format!("{p}.svg"));
        let output = text(&["-p", p, "--svg", path.to_str().unwrap()]);
        assert!(output.contains("the picture is in"), "{output}");
        let svg = std::fs::read_to_string(&path).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let curves: Vec<_> = document
            .descendants()
            .filter(|node| node.attribute("stroke-linejoin").is_some())
            .map(|node| (node.attribute("stroke").unwrap(), node.attribute("stroke-dasharray")))
            .collect();
        assert!(matches!(curves[..], [(one, None), (two, Some(_))] if one != two), "{curves:?}");
        for words in
            ["radix", "messages and blocks", "blocks, in all messages", "messages (substeps)", "ceil(sqrt p) = "]
        {
            assert!(document.descendants().any(|n| n.text().is_some_and(|text| text.contains(words))), "{words}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.len() < 200_000);
    }
}

#[test]
fn what_cannot_be_counted_is_refused() {
    refused(&["-p", "0"], "there is no all-to-all among 0 ranks: give a number of ranks in 1..=2147483647");
    refused(&["-p", "-3", "--radix", "2"], "among -3 ranks");
    refused(&["-p", "2147483648"], "among 2147483648 ranks");
    refused(&["-p", "many"], "invalid value 'many'");
    refused(&["-p", "5", "--radix", "1"], "no number can be written in radix 1: give a radix of at least 2");
    refused(&["-p", "5", "--radix", "-2"], "radix -2");
    refused(&["-p", "2000000000", "--all"], "leave out `--all` and `--json`");
    refused(&["-p", "2000000000", "--json"], "1999999998 lines are too many");
    refused(&["-p", "2000000000", "--radix", "1000000000"], "give `--radix` a smaller number");
    refused(&["-p", "3", "--svg", "never-written.svg"], "nothing to plot");
    refused(&["-p", "8", "--svg", "no-such-folder/a.svg"], "check that its directory exists");
    refused(&["-p", "8", "--radix", "2", "--all"], "cannot be used with");
}
