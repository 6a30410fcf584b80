//! *Persistent paper*, section 2.2.3 to 2.4: ports and factors, listings, orders of ranks.

use super::ceil_log2;
use roundel::plan::cost;
use roundel::plan::order::order;
use roundel::plan::ports::{Fractions, Ports};
use roundel_spec::Kind;

fn ports(text: &str) -> Ports {
    let ports: Ports = text.parse().unwrap();
    assert_eq!(ports.to_string(), text);
    ports
}

/// The lines of a listing, without comment lines and trailing comments.
fn stages(listing: &str) -> Vec<&str> {
    let said = listing.lines().map(|line| line.split('#').next().unwrap_or("").trim_end());
    said.filter(|line| line.starts_with("STAGE")).collect()
}

/// Figure 8, all lines that are not commented out.
#[test]
fn figure_8_of_the_persistent_paper() {
    let listing = ports("8(-1 1 1 1)").listing(Kind::Allreduce, 5).unwrap().to_string();
    assert_eq!(stages(&listing), stages(include_str!("figure_8.txt")));
    assert_eq!(stages(&listing).len(), 53);
}

/// Figure 9. Its stage 1 names lines 1 to 4 of node 4, where its own logic needs 4 to 7: node 4 begins with the
/// fractions 2 3 0 1 6 7 4 5, and sends the second half of them. The file has the corrected lines.
#[test]
fn figure_9_of_the_persistent_paper() {
    let ports = ports("2(-1) 4(1 1) 2(1)");
    let listing = ports.listing(Kind::Allreduce, 5).unwrap().to_string();
    assert_eq!(stages(&listing), stages(include_str!("figure_9.txt")));
    let four = ports.listing(Kind::Allreduce, 4).unwrap();
    let fractions: Vec<u32> = four.stages[0].lines.iter().map(|entry| entry.fraction).collect();
    assert_eq!(fractions, [2, 3, 0, 1, 6, 7, 4, 5]);
    let sent: Vec<u32> = four.stages[0].lines[4..].iter().map(|entry| entry.fraction).collect();
    assert_eq!(sent, [6, 7, 4, 5]);
    assert!(four.stages[0].lines[4..].iter().all(|entry| entry.to == [Some(5)]));
}

/// Steps, and lines sent by a node, with one fraction for each node.
fn steps_and_lines(text: &str) -> (usize, usize) {
    let pattern = ports(text).pattern(Kind::Allreduce, Fractions::All).unwrap();
    assert_eq!((pattern.nodes(), pattern.fractions()), (39, 39));
    (pattern.steps().len(), pattern.sent().0)
}

/// Table 1: steps, and the number of 39ths of the vector that are sent.
#[test]
fn table_1_by_ports_and_factors() {
    assert_eq!(steps_and_lines("39(1 1 1 1 1 1)"), (6, 8 * 39));
    assert_eq!(steps_and_lines("3(1 1) 13(1 1 1 1)"), (6, 7 * 39));
    assert_eq!(steps_and_lines("13(-1 -1 -1 -1) 3(-1 -1) 3(1 1) 13(1 1 1 1)"), (12, 76));
    assert_eq!(steps_and_lines("39(-1 -1 -1 -1 -1 -1) 39(1 1 1 1 1 1)"), (12, 76));
}

/// With one port: the closed form for the lines that a prefix reduction sends.
#[test]
fn lines_of_one_port_are_the_closed_form() {
    for p in 2..=200usize {
        let w = ceil_log2(p);
        let text = format!("{p}({})", vec!["1"; w].join(" "));
        let pattern = ports(&text).pattern(Kind::Allreduce, Fractions::Scattered).unwrap();
        let (ones, trailing) = ((p - 1).count_ones() as usize, (p - 1).trailing_ones() as usize);
        assert_eq!(pattern.sent().0, (w - 1) + ones - trailing.min(w - 1), "p = {p}");
    }
}

/// Table 2: every row is read, written, and keeps its contract with 160 nodes.
#[test]
fn table_2_of_the_persistent_paper() {
    for text in [
        "160(12 12)",
        "160(-12 -12) 160(12 12)",
        "16(-3 -3) 10(9) 16(3 3)",
        "160(-2 -4 -10) 160(10 4 2)",
        "160(-2 -5 -8) 160(8 5 2)",
        "160(-1 -2 -2 -8) 160(8 2 2 1)",
        "160(-1 -1 -1 -2 -6) 160(6 2 1 1 1)",
        "160(-1 -1 -1 -1 -1 -4) 160(4 1 1 1 1 1)",
        "160(-1 -1 -1 -1 -1 -5) 160(5 1 1 1 1 1)",
        "160(-1 -1 -1 -1 -1 -1 -2) 160(2 1 1 1 1 1 1)",
    ] {
        let plan = ports(text).plan(Kind::Allreduce).unwrap();
        assert_eq!((plan.p, plan.replay().map(|_| ())), (160, Ok(())), "{text}");
    }
}

/// Figure 6.
#[test]
fn figure_6_of_the_persistent_paper() {
    assert_eq!(order(&[1, 2, 6, 9, 10, 11, 14]), [0, 3, 4, 1, 6, 2, 5]);
}

fn time(text: &str, sizes: &[usize]) -> usize {
    cost(&ports(text).plan(Kind::Allgather).unwrap().parts(), sizes)
}

/// Figure 7, and what the text says about other arrangements.
#[test]
fn figure_7_of_the_persistent_paper() {
    assert_eq!((time("2(1) 2(1)", &[1, 1, 0, 2]), time("4(1 1)", &[1, 1, 0, 2])), (4, 5));
    let (a, b, c, d) = (1, 1, 0, 2);
    for sizes in [[a, b, c, d], [a, c, b, d], [a, d, b, c], [c, a, d, b], [d, a, b, c], [b, d, c, a]] {
        assert_eq!(time("4(1 1)", &sizes), 5, "{sizes:?}");
    }
    assert_eq!([time("2(1) 2(1)", &[1, 0, 1, 2]), time("2(1) 2(1)", &[1, 2, 1, 0])], [5, 5]);
}

/// Section 2.2.3: of 0 1 0 1 0 1 0 1 every node has one block after the first step, and messages grow from there.
/// Sorted, one message has 2 in the second step and one has 4 in the third.
#[test]
fn alternating_sizes_of_the_persistent_paper() {
    let (alternating, sorted) = ([0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1, 1, 1]);
    for text in ["2(1) 2(1) 2(1)", "8(1 1 1)"] {
        assert_eq!((time(text, &alternating), time(text, &sorted)), (1 + 1 + 2, 1 + 2 + 4), "{text}");
    }
    let reordered: Vec<usize> = order(&sorted).into_iter().map(|rank| sorted[rank]).collect();
    assert_eq!(reordered, alternating);
}
