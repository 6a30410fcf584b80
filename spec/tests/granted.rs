//! A check grants only what it examined: every call in the range of some points is one of these points.

#![cfg(feature = "syntax")]
#![allow(clippy::unwrap_used)]

use roundel_spec::Arguments;
use roundel_spec::check::{self, Point, Points};
use roundel_spec::place::Placement;
use roundel_spec::proof::{Placements, ProvedRange};
use roundel_spec::{Schedule, c, syntax};

fn schedule(clauses: &str, fields: &str) -> Schedule {
    let text = format!("#[derive(Collective)]\n{clauses}\nstruct One{fields}");
    syntax::parse(&syn::parse_str(&text).unwrap()).unwrap().schedule
}

/// Wrong from nine ranks on, where the first node is smaller than the last.
fn uneven() -> Schedule {
    schedule(
        "#[collective(allgather)]\n#[check(p <= 16)]\n\
         #[round(s in 1..if p >= 9 && node_size(0) < node_size(nodes - 1) { p - 1 } else { p })]\n\
         #[send(to = rank + s, blocks = [rank])]\n#[recv(from = rank - s, blocks = [rank - s])]",
        ";",
    )
}

/// Whether a range grants a call, according to the documentation of `ProvedRange`.
fn grants(range: &ProvedRange, placement: &Placement, args: &Arguments) -> bool {
    let (p, place) = (placement.p() as i64, placement.place(0));
    let within = |value: i64, limit: Option<i64>| limit.is_none_or(|limit| value <= limit);
    let lists = args.lists.iter().zip(&range.lists).all(|(list, limit)| {
        limit.is_none_or(|(len, most)| list.len() as i64 <= len && list.iter().all(|&value| value <= most))
    });
    let sits = match range.placements {
        None | Some(Placements::Every) => true,
        Some(Placements::Regular { all_up_to }) => p <= all_up_to || place.is_regular(),
    };
    within(p, range.p)
        && args.numbers.iter().zip(&range.numbers).all(|(&n, &limit)| within(n, limit))
        && lists
        && sits
}

/// All ways to divide ranks among nodes: the first node has 1, 2, … ranks, and the others are divided likewise.
fn divisions(p: usize) -> Vec<Vec<usize>> {
    match p {
        0 => vec![vec![]],
        _ => (1..=p)
            .flat_map(|first| divisions(p - first).into_iter().map(move |rest| [vec![first], rest].concat()))
            .collect(),
    }
}

/// Every call in the range of the points that lies in the domain is a point.
fn every_grant_is_checked(schedule: &Schedule, points: &Points, arguments: &[Arguments]) {
    let range = points.range(schedule).unwrap();
    let checked: Vec<Point> = points.iter().collect();
    let mut granted = 0;
    for p in 1..=points.max_p() + 3 {
        let on_nodes = if schedule.uses_placement() { divisions(p) } else { vec![vec![p]] };
        for placement in on_nodes.iter().map(|sizes| Placement::of_sizes(sizes)) {
            for args in arguments {
                let point = Point { placement: placement.clone(), args: args.clone() };
                if grants(&range, &placement, args) && check::in_domain(schedule, &point).unwrap() {
                    granted += 1;
                    let is_point = |c: &Point| c.placement == placement && c.args == *args;
                    assert!(checked.iter().any(is_point), "{range:?} grants {:?}", point.case(schedule));
                }
            }
        }
    }
    assert!(granted > 0);
}

#[test]
fn what_is_granted_on_nodes_was_checked() {
    let nothing = [Arguments::default()];
    for limit in 1..=14 {
        let mut one = uneven();
        one.limits.p = limit;
        every_grant_is_checked(&one, &Points::within_limits(&one), &nothing);
        if limit <= 12 {
            every_grant_is_checked(&one, &Points::within_limits(&one).thorough(), &nothing);
        }
    }
}

#[test]
fn what_is_granted_of_parameters_was_checked() {
    let ring = "#[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank - s])]\n\
                #[recv(from = rank - 1, blocks = [rank - 1 - s])]";
    let numbers = |n: i64, m: i64| Arguments { numbers: vec![n, m], ..Arguments::default() };
    let tried: Vec<Arguments> = (0..9).flat_map(|n| (0..9).map(move |m| numbers(n, m))).collect();
    for check in ["p <= 4", "p <= 3, a <= 2", "p <= 5, a <= 7, b <= 6", "p <= 2, b <= 40"] {
        let clauses = format!("#[collective(allgather, a: 2.., b: 1..=5)]\n#[check({check})]\n{ring}");
        let one = schedule(&clauses, " { a: i64, b: i64 }");
        every_grant_is_checked(&one, &Points::within_limits(&one), &tried);
    }
    let list = |list: &[i64]| Arguments { lists: vec![list.to_vec()], ..Arguments::default() };
    let tried: Vec<Arguments> =
        [&[][..], &[1], &[2], &[3], &[1, 3], &[2, 2], &[1, 1, 1], &[2, 1, 2, 1], &[1; 5]].map(list).into();
    for check in ["p <= 3", "p <= 3, a <= 3", "p <= 2, len(a) <= 4"] {
        let clauses = format!("#[collective(allgather, a: list(1..))]\n#[check({check})]\n{ring}");
        let one = schedule(&clauses, " { a: Vec<i64> }");
        every_grant_is_checked(&one, &Points::within_limits(&one), &tried);
    }
}

#[test]
fn a_selection_of_points_grants_nothing() {
    let one = uneven();
    let all = || Points::new(&one, 1..=6);
    assert!(all().range(&one).is_some());
    assert_eq!(all().thinned(10).range(&one), None);
    assert_eq!(all().placed(vec![Placement::of_sizes(&[2, 3])]).range(&one), None);
    assert_eq!(Points::new(&one, 2..=6).range(&one), None);
    assert!(all().checked(&one, 0).range().is_none() && all().checked(&one, 1).range().is_some());
    let radix = schedule(
        "#[collective(allgather, r: 2..)]\n#[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank - s])]\n\
         #[recv(from = rank - 1, blocks = [rank - 1 - s])]",
        " { r: i64 }",
    );
    let only = Arguments { numbers: vec![2], ..Arguments::default() };
    assert_eq!(Points::with_args(&radix, 1..=6, only).range(&radix), None);
}

/// It passes the check of the derive, which examines every division of up to eight ranks; so nine are not granted.
#[test]
fn a_fault_on_uneven_nodes_is_refused_where_it_was_not_looked_for() {
    let one = uneven();
    let checked = check::at_compile_time(&one).unwrap();
    let range = checked.granted(&one);
    let nodes = |sizes: &[usize]| grants(&range, &Placement::of_sizes(sizes), &Arguments::default());
    assert!(!nodes(&[4, 5]) && !nodes(&[1, 8]) && !nodes(&[2, 4, 6]));
    assert!(nodes(&[3, 5]) && nodes(&[5, 4]) && nodes(&[3, 3, 3]));
    // A proof examines more placements and finds the fault.
    let thorough = Points::within_limits(&one).thorough();
    assert!(check::over(&one, &thorough).is_err());
    let options = c::FileOptions { calls: c::Calls::Mpi, header: None, source: String::new() };
    let known = c::KnownFacts { range: &range, record: None, inners: &[] };
    let code = c::emit(&one, known, &options).unwrap().code;
    assert!(code.contains("if (p > 8 && !"), "{code}");
}
