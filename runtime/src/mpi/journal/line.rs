//! The lines of a trace file.

use crate::choice::selection::Algorithm;
use crate::trace::PostedMessage;
use roundel_spec::{Arguments, Kind, Placement};
use std::ffi::c_int;
use std::fmt::{Display, Write};

/// The first line of a file.
pub(crate) fn header(rank: c_int, size: c_int) -> String {
    format!("{{\"format\":\"roundel-trace\",\"version\":1,\"rank\":{rank},\"size\":{size}}}\n")
}

/// The line that introduces a communicator and its name.
pub(crate) fn communicator(name: &str, rank: usize, members: &[c_int], placement: &Placement) -> String {
    let nodes = list((0..placement.p()).map(|rank| list(placement.path(rank))));
    let (name, members) = (quoted(name), list(members));
    format!("{{\"communicator\":{{\"name\":{name},\"rank\":{rank},\"ranks\":{members},\"nodes\":{nodes}}}}}\n")
}

/// The lengths of a call's blocks.
#[derive(Debug)]
pub(crate) enum JournalLengths<'a> {
    /// All blocks have this many bytes.
    Each(usize),
    /// A length for each block, in elements of a size.
    List { counts: &'a [usize], size: usize },
    /// Elements of a size, divided as evenly as possible.
    Vector { elements: usize, size: usize },
    /// The lengths of this rank's blocks for the others.
    Own(&'a [usize]),
}

impl Display for JournalLengths<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JournalLengths::Each(bytes) => write!(f, "{{\"each\":{bytes}}}"),
            JournalLengths::List { counts, size } => {
                write!(f, "{{\"list\":{}}}", list(counts.iter().map(|&count| count * size)))
            }
            JournalLengths::Vector { elements, size } => write!(f, "{{\"vector\":[{elements},{size}]}}"),
            JournalLengths::Own(bytes) => write!(f, "{{\"own\":{}}}", list(*bytes)),
        }
    }
}

/// An algorithm with its parameters, in a call with a root.
pub(crate) fn called(algorithm: &Algorithm, root: i64) -> String {
    let args = arguments(&algorithm.with_root(root));
    format!("\"algorithm\":{},\"arguments\":{args}", quoted(algorithm.name()))
}

fn arguments(args: &Arguments) -> String {
    let (numbers, lists) = (list(&args.numbers), list(args.lists.iter().map(list)));
    let inner = list(args.inner.iter().map(arguments));
    format!("{{\"numbers\":{numbers},\"lists\":{lists},\"inner\":{inner}}}")
}

/// Identifies a call.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) communicator: String,
    /// For non-blocking calls, the number of the request, counted from 1; 0 for others.
    pub(crate) request: u32,
    /// The number of earlier blocking calls, or of earlier starts of the same request.
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    /// When it began, in nanoseconds of [`now`](super::now).
    pub(crate) began: u64,
}

impl Head {
    /// A call that an algorithm served until `ended`, with the messages sent and received.
    pub(crate) fn done(
        &self,
        called: &str,
        blocks: JournalLengths<'_>,
        (sent, received): (&[PostedMessage], &[PostedMessage]),
        ended: u64,
    ) -> String {
        let time = list([self.began, ended]);
        let sent = list(sent.iter().map(|message| posted(message, message.to)));
        let received = list(received.iter().map(|message| posted(message, message.from)));
        let messages = format!("\"sent\":{sent},\"received\":{received}");
        self.line("call", &format!("{called},\"blocks\":{blocks},\"time\":{time},{messages}"))
    }

    /// A call that MPI serves.
    pub(crate) fn library(&self, reason: &str) -> String {
        self.line("library", &format!("\"why\":{}", quoted(reason)))
    }

    /// A call that failed.
    pub(crate) fn failed(&self, error: &impl Display) -> String {
        self.line("failed", &format!("\"error\":{}", quoted(&error.to_string())))
    }

    fn line(&self, what: &str, rest: &str) -> String {
        let Head { communicator, request, number, kind, .. } = self;
        let (name, kind) = (quoted(communicator), quoted(kind.name()));
        format!(
            "{{\"{what}\":{{\"communicator\":{name},\"request\":{request},\"number\":{number},\
             \"collective\":{kind},{rest}}}}}\n"
        )
    }
}

/// A message: its round, the rank at the other end, and its bytes.
fn posted(message: &PostedMessage, peer: usize) -> String {
    format!("[{},{peer},{}]", message.round, message.bytes)
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        let _ = match char {
            '"' | '\\' => write!(out, "\\{char}"),
            control if control < ' ' => write!(out, "\\u{:04x}", control as u32),
            char => write!(out, "{char}"),
        };
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\"\\\n\u{1}ü"), "\"a \\\"b\\\"\\\\\\u000a\\u0001ü\"");
    }

    #[test]
    fn a_call_is_a_line() {
        let head = Head { communicator: "0.2".into(), request: 3, number: 4, kind: Kind::ReduceScatter, began: 7 };
        let (sent, received) = (
            [PostedMessage { call: 0, round: 1, from: 2, to: 0, bytes: 12, nonlocal: false }],
            [PostedMessage { call: 0, round: 1, from: 3, to: 2, bytes: 8, nonlocal: false }],
        );
        let lengths = JournalLengths::List { counts: &[3, 2], size: 4 };
        let line = head.done("\"algorithm\":\"x\"", lengths, (&sent, &received), 12);
        let expected = concat!(
            r#"{"call":{"communicator":"0.2","request":3,"number":4,"collective":"reduce_scatter","algorithm":"x","#,
            r#""blocks":{"list":[12,8]},"time":[7,12],"sent":[[1,0,12]],"received":[[1,3,8]]}}"#,
            "\n"
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn a_communicator_is_a_line() {
        let placement = Placement::from_levels(&[vec![5, 1], vec![5, 0], vec![2, 0]]);
        let expected =
            concat!(r#"{"communicator":{"name":"4.0","rank":1,"ranks":[4,2,7],"nodes":[[0,0],[0,1],[1,0]]}}"#, "\n");
        assert_eq!(communicator("4.0", 1, &[4, 2, 7], &placement), expected);
    }
}
