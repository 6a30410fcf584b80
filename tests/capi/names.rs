//! The catalogue's algorithms by name, and the expected outcome of a call with p ranks on one node.

use roundel::algorithms::{Entry, catalogue};
use roundel_spec::check::Points;
use roundel_spec::{Arguments, Placement, Schedule};
use roundel_verify::catalogue::{proved, record};
use std::collections::BTreeSet;

/// The number of combinations of parameters of each algorithm.
const COMBINATIONS: u64 = 2;

/// Pairs of words: whether calls are `served`, also `ordered`, or `refused`; and the name with its parameters.
pub(crate) fn expectations(p: usize) -> Vec<String> {
    let mut words = Vec::new();
    for entry in catalogue() {
        let schedule = (entry.schedule)();
        for (args, name) in calls(entry, &schedule) {
            words.extend([expected(entry, &schedule, &args, p).to_string(), name]);
        }
    }
    words
}

/// The outcome that follows from the declaration and its proof.
fn expected(entry: &Entry, schedule: &Schedule, args: &Arguments, p: usize) -> &'static str {
    let placement = Placement::consecutive(p, p);
    let admitted = record(entry, args, &placement).is_ok_and(|answer| answer.is_ok());
    if !admitted || proved(entry, args, &placement).is_err() {
        return "refused";
    }
    let inner = |inner: &roundel_spec::schedule::Inner| {
        !inner.kind.reduces() || inner.schedule.as_ref().is_some_and(|inner| inner.order.rank_order)
    };
    if schedule.order.rank_order && schedule.inners.iter().all(inner) { "ordered" } else { "served" }
}

/// Values of parameters, and the name that includes them. The root comes from the call.
fn calls(entry: &Entry, schedule: &Schedule) -> Vec<(Arguments, String)> {
    let mut seen = BTreeSet::new();
    let points = Points::new(schedule, 1..=1).thinned(COMBINATIONS);
    let calls = points.iter().map(|point| {
        let mut args: Arguments = point.args;
        let root = schedule.root_parameter();
        root.into_iter().for_each(|i| args.numbers[i] = 0);
        let name = name(entry, schedule, &args, root);
        (args, name)
    });
    calls.filter(|(_, name)| seen.insert(name.clone())).collect()
}

/// `alltoall/k-bruck:radix=4`, or `allreduce/cyclic-shift:ports=1+2+`.
fn name(entry: &Entry, schedule: &Schedule, args: &Arguments, root: Option<usize>) -> String {
    let numbers = schedule.numbers.iter().zip(&args.numbers).enumerate().filter(|(i, _)| Some(*i) != root);
    let numbers = numbers.map(|(_, (number, value))| format!("{}={value}", number.var.name));
    let lists = schedule.lists.iter().zip(&args.lists).map(|(list, values)| {
        let values: String = values.iter().map(|value| format!("{value}+")).collect();
        format!("{}={values}", list.var.name)
    });
    let parameters: Vec<String> = numbers.chain(lists).collect();
    if parameters.is_empty() { entry.name.into() } else { format!("{}:{}", entry.name, parameters.join(",")) }
}
