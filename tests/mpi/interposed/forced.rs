//! Every algorithm of the catalogue, as `ROUNDEL_FORCE` names it, with numbers of ranks that it serves.

use crate::mpi::everything;
use roundel::algorithms::{Entry, catalogue};
use roundel::selection::{Force, Question};
use roundel_spec::check::Points;
use roundel_spec::schedule::{ROOT, Schedule};
use roundel_spec::{Arguments, Kind};

/// The number of combinations of parameters of each algorithm; one if time is short.
const COMBINATIONS: u64 = 2;

/// An algorithm with parameters.
pub(crate) struct Forced {
    /// Its name in the catalogue.
    pub(crate) name: &'static str,
    /// Its kind of collective.
    pub(crate) kind: Kind,
    /// The text that forces it.
    pub(crate) text: String,
    /// Numbers of ranks on one node for which it serves short calls.
    pub(crate) ranks: Vec<usize>,
}

/// All algorithms with their parameters.
pub(crate) fn all() -> Vec<Forced> {
    catalogue().iter().flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry) -> Vec<Forced> {
    let schedule = (entry.schedule)();
    let mut texts: Vec<String> = Points::new(&schedule, 1..=1)
        .thinned(if everything() { COMBINATIONS } else { 1 })
        .iter()
        .map(|point| text(entry.name, &schedule, &point.args))
        .collect();
    texts.sort();
    texts.dedup();
    let forced = texts.into_iter().map(|text| Forced {
        name: entry.name,
        kind: schedule.kind,
        ranks: (1..=9).filter(|&p| serves(&text, schedule.kind, p)).collect(),
        text,
    });
    forced.collect()
}

fn text(name: &str, schedule: &Schedule, args: &Arguments) -> String {
    let own = |name: &str| !(schedule.kind.has_root() && name == ROOT);
    let numbers = schedule.numbers.iter().zip(&args.numbers).filter(|(number, _)| own(&number.var.name));
    let numbers = numbers.map(|(number, value)| format!("{}={value}", number.var.name));
    let lists = schedule.lists.iter().zip(&args.lists);
    let lists = lists.map(|(list, values)| format!("{}={}", list.var.name, plus(values)));
    let parameters: Vec<String> = numbers.chain(lists).collect();
    let colon = if parameters.is_empty() { "" } else { ":" };
    format!("{}:{name}{colon}{}", schedule.kind, parameters.join(","))
}

/// A list of one number ends with a `+`.
fn plus(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    values.join("+") + if values.len() == 1 { "+" } else { "" }
}

fn serves(text: &str, kind: Kind, p: usize) -> bool {
    let forced = Force::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    forced.iter().all(|force| force.implementation.serves(&Question::new(kind, p, p, 8)).is_ok())
}
