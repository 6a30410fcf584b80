//! The messages that a schedule promises, and how a recorded run differs from them.
//!
//! The promised messages come from the recorder, like the output of `roundel show`; a test below compares the two.

use roundel::Collective;
use roundel::trace::{PostedMessage, RankTrace};
use roundel_spec::Direction;
use roundel_spec::Placement;
use roundel_spec::check::record_code;
use std::fmt;

/// The messages that all ranks send in one call; block `b` has `bytes(b)` bytes.
pub fn promised<C: Collective>(
    collective: &C,
    placement: &Placement,
    bytes: impl Fn(usize) -> usize,
) -> Vec<PostedMessage> {
    let trace = record_code(collective, placement);
    let real = (0..trace.rounds()).filter(|&round| trace.has_messages(round));
    let mut messages = Vec::new();
    for (number, round) in real.enumerate() {
        for (from, log) in trace.ranks.iter().enumerate() {
            messages.extend(log.directed(round, Direction::Send).map(|sent| PostedMessage {
                call: 0,
                round: number,
                from,
                to: sent.peer,
                bytes: log.blocks(sent).iter().map(|&block| bytes(block as usize)).sum(),
                nonlocal: placement.nonlocal(from, sent.peer),
            }));
        }
    }
    messages.sort_unstable();
    messages
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The schedule has it, but no rank sent it.
    NotSent,
    /// It was sent, but the schedule does not have it.
    NotPromised,
    /// The schedule has it, but no rank posted a receive for it.
    NotReceived,
    /// A rank posted a receive for it, but the schedule does not have it.
    NotExpected,
}

/// A message with which a run differs from its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What is wrong with it.
    pub fault: Fault,
    /// The message.
    pub message: PostedMessage,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PostedMessage { call, round, from, to, bytes, nonlocal } = self.message;
        let place = if nonlocal { "another node" } else { "the same node" };
        let fault = match self.fault {
            Fault::NotSent => "is in the schedule but was not sent",
            Fault::NotPromised => "was sent but is not in the schedule",
            Fault::NotReceived => "is in the schedule but nobody received it",
            Fault::NotExpected => "was received but is not in the schedule",
        };
        write!(f, "call {call}, round {round}, {bytes} bytes from {from} to {to} on {place}: {fault}")
    }
}

/// How a run differs from its schedule: `calls` are what each call promised, `records` what each rank posted.
pub fn differences(calls: &[Vec<PostedMessage>], records: &[RankTrace]) -> Vec<Difference> {
    let numbered = |(call, messages): (usize, &Vec<PostedMessage>)| {
        messages.iter().map(move |&message| PostedMessage { call, ..message }).collect::<Vec<_>>()
    };
    let promised: Vec<PostedMessage> = calls.iter().enumerate().flat_map(numbered).collect();
    let sent = records.iter().flat_map(|record| record.sent.iter().copied()).collect();
    let received = records.iter().flat_map(|record| record.received.iter().copied()).collect();
    let mut found = differ(promised.clone(), sent, Fault::NotSent, Fault::NotPromised);
    found.extend(differ(promised, received, Fault::NotReceived, Fault::NotExpected));
    found
}

/// Messages that one list has and the other does not, counting repetitions.
fn differ(
    mut promised: Vec<PostedMessage>,
    mut found: Vec<PostedMessage>,
    missing: Fault,
    extra: Fault,
) -> Vec<Difference> {
    promised.sort_unstable();
    found.sort_unstable();
    let (mut promised, mut found) = (promised.into_iter().peekable(), found.into_iter().peekable());
    let mut differences = Vec::new();
    loop {
        let difference = match (promised.peek(), found.peek()) {
            (None, None) => return differences,
            (Some(a), Some(b)) if a == b => {
                promised.next();
                found.next();
                continue;
            }
            (Some(a), b) if b.is_none_or(|b| a < b) => (missing, promised.next()),
            _ => (extra, found.next()),
        };
        if let (fault, Some(message)) = difference {
            differences.push(Difference { fault, message });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use roundel::algorithms::{Bruck, LocalityBruck, Visitor, catalogue, visit_all};

    use roundel_spec::check::Point;
    use roundel_verify::report::run::PointRun;
    use std::collections::BTreeSet;
    use std::slice::from_ref;

    /// What the ranks would record if they did what was promised.
    fn faithful(messages: &[PostedMessage], p: usize) -> Vec<RankTrace> {
        let of = |rank: usize| RankTrace {
            sent: messages.iter().copied().filter(|message| message.from == rank).collect(),
            received: messages.iter().copied().filter(|message| message.to == rank).collect(),
        };
        (0..p).map(of).collect()
    }

    fn example() -> (Vec<PostedMessage>, Vec<RankTrace>) {
        let promised = promised(&LocalityBruck::<Bruck>::default(), &Placement::cyclic(9, 3), |block| 8 + block);
        let records = faithful(&promised, 9);
        (promised, records)
    }

    #[test]
    fn a_faithful_run_does_not_differ() {
        let (promised, records) = example();
        assert!(promised.iter().any(|message| message.nonlocal) && promised.iter().any(|message| !message.nonlocal));
        assert_eq!(differences(&[promised], &records), []);
    }

    /// A change of any one field of any one message, on the side of the run, is found.
    #[test]
    fn every_change_of_a_message_is_found() {
        let (promised, records) = example();
        let changes: [fn(&mut PostedMessage); 6] = [
            |message| message.call += 1,
            |message| message.round += 1,
            |message| message.from = (message.from + 1) % 9,
            |message| message.to = (message.to + 1) % 9,
            |message| message.bytes -= 1,
            |message| message.nonlocal = !message.nonlocal,
        ];
        for change in changes {
            for rank in 0..9 {
                for number in 0..records[rank].sent.len() {
                    let mut altered = records.clone();
                    change(&mut altered[rank].sent[number]);
                    let found = differences(from_ref(&promised), &altered);
                    let faults: BTreeSet<String> = found.iter().map(|found| format!("{:?}", found.fault)).collect();
                    assert_eq!(faults, ["NotPromised", "NotSent"].map(String::from).into(), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn messages_too_few_and_too_many_are_found() {
        let (promised, records) = example();
        let message = promised[3];
        let only = |altered: &[RankTrace], fault| {
            assert_eq!(differences(from_ref(&promised), altered), [Difference { fault, message }]);
        };
        let lost = |list: &mut Vec<PostedMessage>| list.retain(|other| *other != message);
        let mut altered = records.clone();
        lost(&mut altered[message.from].sent);
        only(&altered, Fault::NotSent);
        let mut altered = records.clone();
        lost(&mut altered[message.to].received);
        only(&altered, Fault::NotReceived);
        let mut altered = records.clone();
        altered[message.from].sent.push(message);
        only(&altered, Fault::NotPromised);
        let mut altered = records;
        altered[message.to].received.push(message);
        only(&altered, Fault::NotExpected);
    }

    #[test]
    fn a_difference_says_where() {
        let message = PostedMessage { call: 0, round: 2, from: 3, to: 1, bytes: 24, nonlocal: true };
        let text = Difference { fault: Fault::NotSent, message }.to_string();
        let expected = "call 0, round 2, 24 bytes from 3 to 1 on another node: is in the schedule but was not sent";
        assert_eq!(text, expected);
    }

    #[test]
    fn records_can_be_written_and_read() {
        let (_, records) = example();
        let text = serde_json::to_string(&records).unwrap();
        assert!(text.starts_with(r#"[{"sent":[{"call":0,"round":0,"from":0,"to":"#), "{text}");
        assert_eq!(serde_json::from_str::<Vec<RankTrace>>(&text).unwrap(), records);
    }

    /// Compares promises with the rounds that `roundel show` prints.
    struct Shown<'a> {
        placement: &'a Placement,
        seen: BTreeSet<&'static str>,
    }

    impl Shown<'_> {
        fn compare<C: Collective>(&mut self, name: &'static str, collective: &C) {
            if collective.admits(&self.placement.seen(0, C::LOOKS_AT_NODES)).is_err() {
                return;
            }
            self.seen.insert(name);
            let (schedule, args) = (C::schedule(), collective.arguments());
            let point = Point { placement: self.placement.clone(), args };
            let trace = record_code(collective, self.placement);
            let run = PointRun::new(&schedule, &point, &trace);
            let mut shown = Vec::new();
            for (round, number) in run.active_rounds().into_iter().enumerate() {
                shown.extend(run.round(number).messages.iter().map(|message| PostedMessage {
                    call: 0,
                    round,
                    from: message.from,
                    to: message.to,
                    bytes: message.blocks.iter().map(|block| 5 + block).sum(),
                    nonlocal: message.nonlocal,
                }));
            }
            shown.sort_unstable();
            assert_eq!(promised(collective, self.placement, |block| 5 + block), shown, "{name}");
        }
    }

    impl Visitor for Shown<'_> {
        fn any<C: Collective + Sync>(&mut self, name: &'static str, collective: &C) {
            self.compare(name, collective);
        }
    }

    #[test]
    fn promises_are_what_show_prints() {
        let placements = [Placement::consecutive(8, 3), Placement::cyclic(8, 2), Placement::of_sizes(&[1, 4, 3])];
        for placement in &placements {
            let mut shown = Shown { placement, seen: BTreeSet::new() };
            visit_all(&mut shown);
            assert_eq!(shown.seen.len(), catalogue().len());
        }
    }
}
