//! `roundel trace diff`: traces written by hand, from `roundel show` and the papers, and the same traces with faults.

use crate::command::Subcommand;
use roundel_verify::Error;
use roundel_verify::replay::trace::diff::{Discrepancy, TraceReport, Who, diff};
use roundel_verify::replay::trace::file::{File, TracedTime, What};
use roundel_verify::replay::trace::job::Job;
use roundel_verify::replay::trace::promise::DeclaredMessage;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The lines of each rank's file.
type Lines = Vec<Vec<Value>>;

fn head(rank: usize, size: usize) -> Value {
    json!({ "format": "roundel-trace", "version": 1, "rank": rank, "size": size })
}

fn communicator(rank: usize, nodes: &Value) -> Value {
    let ranks: Vec<usize> = (0..nodes.as_array().unwrap().len()).collect();
    json!({ "communicator": { "name": "0.0", "rank": rank, "ranks": ranks, "nodes": nodes } })
}

fn call(number: u64, collective: &str, rest: Value) -> Value {
    let mut call = json!({ "communicator": "0.0", "request": 0, "number": number, "collective": collective });
    rest.as_object().unwrap().iter().for_each(|(key, value)| call[key] = value.clone());
    json!({ "call": call })
}

fn no_arguments() -> Value {
    json!({ "numbers": [], "lists": [], "inner": [] })
}

/// A ring of three, with blocks of 8, 0 and 4 bytes: in round 0 each sends its own, in round 1 that of the rank before.
fn ring() -> Lines {
    let nodes = json!([[0], [0], [0]]);
    let posted = [
        (json!([[0, 1, 8], [1, 1, 4]]), json!([[0, 2, 4], [1, 2, 0]])),
        (json!([[0, 2, 0], [1, 2, 8]]), json!([[0, 0, 8], [1, 0, 4]])),
        (json!([[0, 0, 4], [1, 0, 0]]), json!([[0, 1, 0], [1, 1, 8]])),
    ];
    let lines = |(rank, (sent, received)): (usize, (Value, Value))| {
        let (algorithm, arguments) = ("allgather/ring", no_arguments());
        let blocks = json!({ "list": [8, 0, 4] });
        let rest = json!({ "algorithm": algorithm, "arguments": arguments, "blocks": blocks,
                           "sent": sent, "received": received });
        vec![head(rank, 3), communicator(rank, &nodes), call(0, "allgather", rest)]
    };
    posted.into_iter().enumerate().map(lines).collect()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn read(lines: &Lines) -> Result<Job, Error> {
    let file = |(rank, lines): (usize, &Vec<Value>)| File::parse(Path::new(&format!("t.{rank}")), &text(lines));
    Job::of(lines.iter().enumerate().map(file).collect::<Result<_, _>>()?)
}

fn report(lines: &Lines) -> TraceReport {
    diff(&read(lines).unwrap())
}

/// The faults of a changed ring.
fn changed(change: impl Fn(&mut Lines)) -> Vec<Discrepancy> {
    let mut lines = ring();
    change(&mut lines);
    let report = report(&lines);
    assert!(!report.is_fine());
    report.rows.into_iter().flat_map(|row| row.differences).map(|difference| difference.fault).collect()
}

fn message(round: u64, from: usize, to: usize, bytes: u64) -> DeclaredMessage {
    DeclaredMessage { round, from, to, bytes }
}

#[test]
fn a_run_as_declared_is_equal() {
    let report = report(&ring());
    assert!(report.is_fine());
    let [row] = &report.rows[..] else { panic!("{report:?}") };
    assert_eq!(row.who, Who::Algorithm("allgather/ring".into()));
    assert_eq!((row.p, row.calls, row.messages, row.bytes), (3, 1, 6, 24));
}

/// Files of earlier versions have none, and those of one job may differ.
#[test]
fn times_are_no_difference() {
    let mut lines = ring();
    lines[1][2]["call"]["time"] = json!([1_795_000_000_000_000_000_u64, 1_795_000_000_000_007_000_u64]);
    assert!(report(&lines).is_fine());
    let job = read(&lines).unwrap();
    let times: Vec<_> = job
        .files
        .values()
        .flat_map(|file| file.calls.values())
        .map(|call| match &call.what {
            What::Done(done) => done.time.map(|TracedTime(began, ended)| ended - began),
            _ => panic!("{call:?}"),
        })
        .collect();
    assert_eq!(times, [None, Some(7000), None]);
}

#[test]
fn every_wrong_message_is_found() {
    let sent = |lines: &mut Lines, rank: usize| lines[rank][2]["call"]["sent"].take();
    let lost = changed(|lines| {
        let mut all = sent(lines, 1);
        all.as_array_mut().unwrap().pop();
        lines[1][2]["call"]["sent"] = all;
    });
    assert_eq!(lost, [Discrepancy::NotSent(message(1, 1, 2, 8))]);

    let extra = changed(|lines| lines[2][2]["call"]["sent"].as_array_mut().unwrap().push(json!([1, 1, 0])));
    assert_eq!(extra, [Discrepancy::Sent(message(1, 2, 1, 0))]);

    let twice = changed(|lines| lines[0][2]["call"]["sent"].as_array_mut().unwrap().push(json!([0, 1, 8])));
    assert_eq!(twice, [Discrepancy::Sent(message(0, 0, 1, 8))]);

    let longer = changed(|lines| lines[0][2]["call"]["sent"][1][2] = json!(5));
    assert_eq!(longer, [Discrepancy::NotSent(message(1, 0, 1, 4)), Discrepancy::Sent(message(1, 0, 1, 5))]);

    let elsewhere = changed(|lines| lines[0][2]["call"]["sent"][1][1] = json!(2));
    assert_eq!(elsewhere, [Discrepancy::NotSent(message(1, 0, 1, 4)), Discrepancy::Sent(message(1, 0, 2, 4))]);

    let later = changed(|lines| lines[2][2]["call"]["sent"][0][0] = json!(1));
    assert_eq!(later, [Discrepancy::NotSent(message(0, 2, 0, 4)), Discrepancy::Sent(message(1, 2, 0, 4))]);

    let no_rank = changed(|lines| lines[2][2]["call"]["sent"][0][1] = json!(9));
    assert_eq!(no_rank, [Discrepancy::NotSent(message(0, 2, 0, 4)), Discrepancy::Sent(message(0, 2, 9, 4))]);
}

#[test]
fn both_ends_are_looked_at() {
    let lost = changed(|lines| lines[1][2]["call"]["received"] = json!([[0, 0, 8]]));
    assert_eq!(lost, [Discrepancy::NotReceived(message(1, 0, 1, 4))]);
    let other = changed(|lines| lines[1][2]["call"]["received"][0] = json!([0, 2, 8]));
    assert_eq!(other, [Discrepancy::NotReceived(message(0, 0, 1, 8)), Discrepancy::Received(message(0, 2, 1, 8))]);
}

/// Messages of a round may come in any order, because none is declared.
#[test]
fn the_order_of_messages_is_no_difference() {
    let mut lines = ring();
    for rank in &mut lines {
        for way in ["sent", "received"] {
            rank[2]["call"][way].as_array_mut().unwrap().reverse();
        }
    }
    assert!(report(&lines).is_fine());
}

#[test]
fn ranks_must_tell_the_same() {
    let unlike = |what| vec![Discrepancy::Unlike { rank: 2, other: 0, what }];
    assert_eq!(changed(|lines| lines[2][2]["call"]["algorithm"] = json!("allgather/bruck")), unlike("algorithms"));
    assert_eq!(changed(|lines| lines[2][2]["call"]["collective"] = json!("alltoall")), unlike("collectives"));
    assert_eq!(changed(|lines| lines[2][2]["call"]["arguments"]["numbers"] = json!([2])), unlike("parameters"));
    let failed = json!({ "failed": { "communicator": "0.0", "request": 0, "number": 0, "collective": "allgather",
                                     "error": "no" } });
    assert_eq!(changed(|lines| lines[2][2] = failed.clone()), unlike("outcomes"));
    let lengths = changed(|lines| lines[2][2]["call"]["blocks"] = json!({ "list": [8, 0, 5] }));
    assert_eq!(lengths, [Discrepancy::Impossible("ranks have blocks of different lengths".into())]);
    assert_eq!(changed(|lines| drop(lines[2].pop())), [Discrepancy::Incomplete { rank: 2 }]);
}

#[test]
fn an_algorithm_must_be_able_to_do_the_call() {
    let impossible = |words: &str, change: &dyn Fn(&mut Value)| {
        let faults = changed(|lines| lines.iter_mut().for_each(|rank| change(&mut rank[2]["call"])));
        assert!(matches!(&faults[..], [Discrepancy::Impossible(reason)] if reason.contains(words)), "{faults:?}");
    };
    impossible("the catalogue has no `allgather/none`", &|call| call["algorithm"] = json!("allgather/none"));
    impossible("other parameters", &|call| call["arguments"]["numbers"] = json!([2]));
    impossible("outside of the domain", &|call| call["algorithm"] = json!("allgather/recursive-doubling"));
    impossible("is an alltoall, and the call is an allgather", &|call| {
        call["algorithm"] = json!("alltoall/pairwise")
    });
    impossible("3 blocks, and lengths of 2", &|call| call["blocks"] = json!({ "list": [8, 0] }));
    impossible("only an alltoall", &|call| call["blocks"] = json!({ "own": [8, 0, 4] }));
}

/// Two nodes whose ranks alternate: a collective that looks at nodes sees them in another order. In an SMP allreduce,
/// ranks 2 and 3 send to the first ranks of their nodes; those exchange, and send the result back.
#[test]
fn nodes_and_vectors_count() {
    let nodes = json!([[0], [1], [0], [1]]);
    let posted = [
        (json!([[1, 1, 12], [2, 2, 12]]), json!([[0, 2, 12], [1, 1, 12]])),
        (json!([[1, 0, 12], [2, 3, 12]]), json!([[0, 3, 12], [1, 0, 12]])),
        (json!([[0, 0, 12]]), json!([[2, 0, 12]])),
        (json!([[0, 1, 12]]), json!([[2, 1, 12]])),
    ];
    let args = |rank: usize, (sent, received): &(Value, Value), nodes: &Value| {
        let inner = json!({ "numbers": [], "lists": [], "inner": [] });
        let rest = json!({ "algorithm": "allreduce/smp",
                           "arguments": { "numbers": [], "lists": [], "inner": smp_inner(&inner) },
                           "blocks": { "vector": [3, 4] }, "sent": sent, "received": received });
        vec![head(rank, 4), communicator(rank, nodes), call(0, "allreduce", rest)]
    };
    let lines = |nodes: &Value| posted.iter().enumerate().map(|(rank, one)| args(rank, one, nodes)).collect();
    let alike = report(&lines(&nodes));
    assert!(alike.is_fine(), "{alike:?}");
    assert!(!report(&lines(&json!([[0], [0], [1], [1]]))).is_fine());
}

/// The parameters of the inner collectives, as many as the declaration has.
fn smp_inner(none: &Value) -> Value {
    let entry = roundel::algorithms::find("allreduce/smp").unwrap();
    let inner = (entry.schedule)().inners.iter().filter(|inner| inner.schedule.is_some()).count();
    json!(vec![none.clone(); inner])
}

/// The rounds are those of `roundel show alltoall/modified-bruck -p 4 --set radix=2`. Each message has two blocks,
/// whose lengths are sent first; if both are empty, nothing follows.
fn bruck() -> Lines {
    let own = [[0, 1, 2, 3], [10, 11, 12, 0], [20, 0, 22, 0], [30, 0, 0, 33]];
    let sent = [
        json!([[0, 1, 16], [0, 1, 4], [1, 2, 16], [1, 2, 2]]),
        json!([[0, 2, 16], [0, 2, 22], [1, 3, 16], [1, 3, 3]]),
        json!([[0, 3, 16], [1, 0, 16], [1, 0, 30]]),
        json!([[0, 0, 16], [0, 0, 30], [1, 1, 16]]),
    ];
    let received = [
        json!([[0, 3, 16], [0, 3, 30], [1, 2, 16], [1, 2, 30]]),
        json!([[0, 0, 16], [0, 0, 4], [1, 3, 16]]),
        json!([[0, 1, 16], [0, 1, 22], [1, 0, 16], [1, 0, 2]]),
        json!([[0, 2, 16], [1, 1, 16], [1, 1, 3]]),
    ];
    let lines = |rank: usize| {
        let arguments = json!({ "numbers": [2], "lists": [], "inner": [] });
        let rest = json!({ "algorithm": "alltoall/modified-bruck", "arguments": arguments,
                           "blocks": { "own": own[rank] }, "sent": sent[rank], "received": received[rank] });
        vec![head(rank, 4), communicator(rank, &json!([[0], [0], [0], [0]])), call(0, "alltoall", rest)]
    };
    (0..4).map(lines).collect()
}

#[test]
fn lengths_of_blocks_go_ahead_in_an_alltoallv() {
    let fine = report(&bruck());
    assert!(fine.is_fine(), "{fine:?}");
    // A rank has sent an empty message, or has a longer block than it sends.
    let mut lines = bruck();
    lines[3][2]["call"]["sent"].as_array_mut().unwrap().push(json!([1, 1, 0]));
    assert_eq!(report(&lines).rows[0].differences[0].fault, Discrepancy::Sent(message(1, 3, 1, 0)));
    let mut lines = bruck();
    lines[0][2]["call"]["blocks"]["own"][3] = json!(4);
    let faults: Vec<Discrepancy> =
        report(&lines).rows.remove(0).differences.into_iter().map(|one| one.fault).collect();
    // It passes through rank 1.
    let (before, after) = ([message(0, 0, 1, 4), message(1, 1, 3, 3)], [message(0, 0, 1, 5), message(1, 1, 3, 4)]);
    assert_eq!(faults.len(), 8);
    for i in 0..2 {
        assert!(faults.contains(&Discrepancy::NotSent(after[i])) && faults.contains(&Discrepancy::Sent(before[i])));
        assert!(
            faults.contains(&Discrepancy::NotReceived(after[i]))
                && faults.contains(&Discrepancy::Received(before[i]))
        );
    }
    let mut lines = bruck();
    lines[0][2]["call"]["blocks"]["own"] = json!([0, 1]);
    assert!(matches!(report(&lines).rows[0].differences[0].fault, Discrepancy::Impossible(_)));
}

/// A block that goes straight to its destination is a message even if it is empty, and its length is not sent first.
#[test]
fn straight_blocks_are_messages_also_if_they_are_empty() {
    let lines = |first: Value| -> Lines {
        let line = |rank: usize, own: Value, sent: Value, received: Value| {
            let rest = json!({ "algorithm": "alltoall/spread-out", "arguments": no_arguments(),
                               "blocks": { "own": own }, "sent": sent, "received": received });
            vec![head(rank, 2), communicator(rank, &json!([[0], [0]])), call(0, "alltoall", rest)]
        };
        vec![
            line(0, json!([5, 0]), first, json!([[0, 1, 7]])),
            line(1, json!([7, 9]), json!([[0, 0, 7]]), json!([[0, 0, 0]])),
        ]
    };
    assert!(report(&lines(json!([[0, 1, 0]]))).is_fine());
    assert_eq!(report(&lines(json!([]))).rows[0].differences[0].fault, Discrepancy::NotSent(message(0, 0, 1, 0)));
}

#[test]
fn calls_of_the_library_and_failures_are_told() {
    let other = |what: &str, number: u64, rest: Value| {
        let mut line = json!({ "communicator": "0.0", "request": 0, "number": number, "collective": "reduce" });
        rest.as_object().unwrap().iter().for_each(|(key, value)| line[key] = value.clone());
        json!({ what: line })
    };
    let mut lines = ring();
    for rank in &mut lines {
        rank.push(other("library", 1, json!({ "why": "by default: so" })));
        rank.push(other("failed", 2, json!({ "error": "it cannot be" })));
    }
    let alike = report(&lines);
    assert!(alike.is_fine() && alike.rows.len() == 3, "{alike:?}");
    lines[1][3] = other("failed", 1, json!({ "error": "it cannot be" }));
    assert!(!report(&lines).is_fine());
}

#[test]
fn missing_ranks_are_missed() {
    let mut lines = ring();
    lines.pop();
    let report = report(&lines);
    assert!(!report.is_fine() && report.rows.is_empty());
    assert_eq!((report.missing.into_iter().collect::<Vec<_>>(), report.unseen), (vec![2], 1));
}

#[test]
fn what_is_malformed_is_refused_with_its_line() {
    let refused = |change: &dyn Fn(&mut Lines), at: usize, words: &str| {
        let mut lines = ring();
        change(&mut lines);
        let error = read(&lines).err().unwrap();
        let Error::Trace { path, line, reason } = &error else { panic!("{error}") };
        assert!(path == Path::new("t.1") && *line == at && reason.contains(words), "{error}");
    };
    refused(&|lines| lines[1][0] = json!({}), 1, "this is no trace");
    refused(&|lines| lines[1][0]["format"] = json!("x"), 1, "the format is `x`");
    refused(&|lines| lines[1][0]["version"] = json!(2), 1, "the version is 2");
    refused(&|lines| lines[1][0]["rank"] = json!(3), 1, "no rank 3 in a world of 3");
    refused(&|lines| lines[1][0]["more"] = json!(3), 1, "unknown field");
    refused(&|lines| lines[1][1]["communicator"]["rank"] = json!(0), 2, "not rank 1 of the world");
    refused(&|lines| lines[1][1]["communicator"]["nodes"] = json!([[0]]), 2, "nodes of 1 ranks");
    refused(&|lines| lines[1][1]["communicator"]["ranks"] = json!([0, 1, 7]), 2, "no rank 7");
    refused(&|lines| drop(lines[1].remove(1)), 2, "no communicator 0.0");
    refused(&|lines| lines[1][2]["call"]["collective"] = json!("gossip"), 3, "no collective `gossip`");
    refused(&|lines| lines[1][2]["call"]["sent"] = json!([[1, 2]]), 3, "invalid length");
    refused(&|lines| lines[1][2]["call"]["time"] = json!([1]), 3, "invalid length");
    refused(&|lines| lines[1][2]["call"]["time"] = json!([-1, 1]), 3, "invalid value");
    refused(&|lines| lines[1][2]["call"]["sent"] = json!([[1, 2, -3]]), 3, "invalid value");
    refused(&|lines| lines[1][2]["call"]["more"] = json!(1), 3, "unknown field");
    refused(&|lines| lines[1][2]["call"]["blocks"] = json!({ "some": 1 }), 3, "unknown variant");
    refused(&|lines| lines[1][2] = json!({ "gossip": {} }), 3, "unknown variant");
    let again = |lines: &mut Lines, line: usize| {
        let again = lines[1][line].clone();
        lines[1].push(again);
    };
    refused(&|lines| again(lines, 2), 4, "line 3 tells of the same call");
    refused(&|lines| again(lines, 1), 4, "two communicators 0.0");
}

/// A job that is killed may leave half a line.
#[test]
fn half_a_line_is_refused() {
    let lines = ring();
    let whole = text(&lines[1]);
    let last = text(&lines[1][..2]).len();
    for cut in [1, last + 1, last + 20, whole.len() - 3] {
        let error = File::parse(Path::new("t.1"), &whole[..cut]).err().unwrap();
        let at = if cut > last { 3 } else { 1 };
        assert!(matches!(&error, Error::Trace { line, .. } if *line == at), "{cut}: {error}");
    }
    assert!(File::parse(Path::new("t.1"), "").is_err());
}

#[test]
fn files_of_other_jobs_are_refused() {
    let refused = |change: &dyn Fn(&mut Lines), words: &str| {
        let mut lines = ring();
        change(&mut lines);
        let error = read(&lines).err().unwrap();
        assert!(matches!(&error, Error::OtherJob { reason, .. } if reason.contains(words)), "{error}");
    };
    refused(&|lines| lines[2][0]["size"] = json!(4), "different sizes");
    refused(&|lines| lines[2][1]["communicator"]["nodes"] = json!([[0], [1], [1]]), "communicator 0.0");
    refused(&|lines| lines[2] = lines[1].clone(), "both are of rank 1");
}

/// Files of a job in a folder.
fn written(lines: &Lines) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (rank, lines) in lines.iter().enumerate() {
        std::fs::write(folder.path().join(format!("run.{rank}")), text(lines)).unwrap();
    }
    folder
}

/// What is printed with exit code 1.
fn wrong(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_roundel")).arg("trace").args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const TRACE: Subcommand = Subcommand("trace");

#[test]
fn a_name_stands_for_all_files() {
    let folder = written(&ring());
    std::fs::write(folder.path().join("run.txt"), "nothing of the job").unwrap();
    let run = folder.path().join("run").display().to_string();
    let text = TRACE.text(&["diff", &run]);
    let row = text.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row, ["allgather/ring", "3", "1", "6", "24", "equal"], "{text}");
    let files: Vec<String> = (0..3).map(|rank| format!("{run}.{rank}")).collect();
    assert_eq!(TRACE.text(&["diff", &files[0], &files[1], &files[2]]), text);
    assert_eq!(TRACE.json(&["diff", &run])["equal"], true);
    TRACE.refused(&["diff", &format!("{run}s")], "nor any");
    TRACE.refused(&["diff", &format!("{run}.txt")], "run.txt:1: this is no trace");
}

#[test]
fn what_differs_is_told() {
    let mut lines = ring();
    lines[0][2]["call"]["sent"][1][2] = json!(5);
    let folder = written(&lines);
    let run = folder.path().join("run").display().to_string();
    let text = wrong(&["diff", &run]);
    assert!(text.contains("2 differences"), "{text}");
    let output = "call 0 on communicator 0.0: round 1, 5 bytes from rank 0 to rank 1: sent, but not declared";
    assert!(text.contains(output), "{text}");
    std::fs::remove_file(folder.path().join("run.2")).unwrap();
    let text = wrong(&["diff", &run]);
    assert!(text.contains("missing: the files of ranks 2; 1 call with them not compared"), "{text}");
}
