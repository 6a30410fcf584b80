//! LogGPS: the time of messages from six numbers, where no grid was measured.
//!
//! A rank has a processor and two ports, one for each direction. Of a message of k bytes:
//!
//! - its sender takes it up when its processor and its port are free, say at t. The processor is busy for
//!   `o + (k - 1) O`, the port for `g + (k - 1) G`; the last byte arrives at `t + o + L + (k - 1) G`
//! - at the receiver it occupies the other port for `g + (k - 1) G`, and then the processor for `o + (k - 1) O`
//! - if k exceeds S, it waits for the receiver: a request arrives at `t + o + L`, the answer leaves as soon as the
//!   receiver is in the round, and the data leaves `L` later. Request and answer cost the processors nothing
//!
//! A round ends on a rank when its processor has dealt with all messages of the round, and all data that had to wait
//! for receivers has left. So a single message takes `2 o + L + (k - 1) G`, as in LogGP.
//!
//! Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995. Ino, Fujimoto, Hagihara: LogGPS, PPoPP 2001. Hoefler,
//! Schneider, Lumsdaine: LogGOPSim, LSAP 2010, which adds O.

use crate::choice::profile::WIRE;

/// The six numbers, in seconds and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogGps {
    /// L: from the departure of a byte to its arrival.
    pub latency: f64,
    /// o: what a message costs the processor of each end.
    pub overhead: f64,
    /// g: from one message of a port to the next.
    pub gap: f64,
    /// G: what each further byte costs a port.
    pub byte_gap: f64,
    /// O: what each further byte costs a processor.
    pub byte_overhead: f64,
    /// S: longer messages wait for their receiver.
    pub eager: u64,
}

/// The figures of the default profile, for messages between nodes.
impl Default for LogGps {
    fn default() -> Self {
        let [latency, overhead, bandwidth] = WIRE;
        let byte_gap = 1.0 / bandwidth;
        LogGps { latency, overhead, gap: overhead, byte_gap, byte_overhead: 0.0, eager: u64::MAX }
    }
}

/// The way of one message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// Its L.
    pub latency: f64,
    /// Its G, with what other messages on the way cost it.
    pub byte_gap: f64,
}

/// Since when the processor and the ports of a rank are free.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankClock {
    /// The processor.
    pub processor: f64,
    /// The port of messages that leave.
    pub leaving: f64,
    /// The port of messages that arrive.
    pub arriving: f64,
}

/// A message that a rank has taken up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// When its last byte arrives, if nothing else arrives at its receiver. Data that waits has no such time yet.
    pub arrival: f64,
    /// When its data may leave, if it has to wait for the receiver.
    pub ready: Option<f64>,
    /// Whether it is the receiver for which it waits longest.
    pub awaits_receiver: bool,
}

impl LogGps {
    /// A rank takes up a message of so many bytes, to a receiver that has been in the round since `receiver`.
    pub fn send(&self, rank: &mut RankClock, bytes: f64, wire: Wire, receiver: f64) -> Departure {
        let (further, start) = (further(bytes), rank.processor.max(rank.leaving));
        rank.processor = start + self.overhead + further * self.byte_overhead;
        if bytes <= self.eager as f64 {
            rank.leaving = start + self.gap + further * wire.byte_gap;
            let arrival = start + self.overhead + wire.latency + further * wire.byte_gap;
            return Departure { arrival, ready: None, awaits_receiver: false };
        }
        rank.leaving = start + self.gap;
        let request = start + self.overhead + wire.latency;
        Departure {
            arrival: f64::INFINITY,
            ready: Some(request.max(receiver) + wire.latency),
            awaits_receiver: receiver > request,
        }
    }

    /// Data that has waited for its receiver leaves. Returns when its last byte has left, and when it arrives.
    pub fn release(&self, rank: &mut RankClock, bytes: f64, wire: Wire, ready: f64) -> (f64, f64) {
        let start = ready.max(rank.leaving);
        let left = start + further(bytes) * wire.byte_gap;
        rank.leaving = left + self.gap;
        (left, left + wire.latency)
    }

    /// A rank takes a message whose last byte arrives at `arrival`. Returns whether it had to wait for it.
    pub fn receive(&self, rank: &mut RankClock, bytes: f64, wire: Wire, arrival: f64) -> bool {
        let transfer = further(bytes) * wire.byte_gap;
        let last = arrival.max(rank.arriving + transfer);
        rank.arriving = last + self.gap;
        let waits = last > rank.processor;
        rank.processor = rank.processor.max(last) + self.overhead + further(bytes) * self.byte_overhead;
        waits
    }
}

/// The bytes of a message after its first one.
fn further(bytes: f64) -> f64 {
    (bytes - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: LogGps =
        LogGps { latency: 100.0, overhead: 10.0, gap: 20.0, byte_gap: 2.0, byte_overhead: 0.5, eager: 64 };
    const WIRE: Wire = Wire { latency: 100.0, byte_gap: 2.0 };

    #[test]
    fn a_short_message_by_hand() {
        let (mut a, mut b) = (RankClock::default(), RankClock::default());
        let sent = MACHINE.send(&mut a, 11.0, WIRE, 0.0);
        assert_eq!(a, RankClock { processor: 15.0, leaving: 40.0, arriving: 0.0 });
        assert_eq!(sent, Departure { arrival: 130.0, ready: None, awaits_receiver: false });
        assert!(MACHINE.receive(&mut b, 11.0, WIRE, sent.arrival));
        assert_eq!(b, RankClock { processor: 145.0, leaving: 0.0, arriving: 150.0 });
    }

    #[test]
    fn a_port_sends_one_message_after_the_other() {
        let mut a = RankClock::default();
        let arrivals = [(); 3].map(|()| MACHINE.send(&mut a, 11.0, WIRE, 0.0).arrival);
        assert_eq!(arrivals, [130.0, 170.0, 210.0]);
        let mut b = RankClock::default();
        // Two that arrive at the same time: the second one's 20 time units begin after the gap.
        assert!(MACHINE.receive(&mut b, 11.0, WIRE, 130.0) && MACHINE.receive(&mut b, 11.0, WIRE, 130.0));
        assert_eq!((b.arriving, b.processor), (190.0, 185.0));
    }

    #[test]
    fn a_long_message_waits_for_its_receiver() {
        for (receiver, ready, awaits) in [(0.0, 210.0, false), (500.0, 600.0, true)] {
            let mut a = RankClock::default();
            let sent = MACHINE.send(&mut a, 101.0, WIRE, receiver);
            assert_eq!((sent.ready, sent.awaits_receiver), (Some(ready), awaits));
            assert_eq!((a.processor, a.leaving), (60.0, 20.0));
            assert_eq!(MACHINE.release(&mut a, 101.0, WIRE, ready), (ready + 200.0, ready + 300.0));
            assert_eq!(a.leaving, ready + 220.0);
        }
        let mut a = RankClock::default();
        assert_eq!(MACHINE.send(&mut a, 64.0, WIRE, 500.0).ready, None);
    }

    #[test]
    fn a_message_without_bytes_costs_its_latency() {
        let (mut a, mut b) = (RankClock::default(), RankClock::default());
        let sent = MACHINE.send(&mut a, 0.0, WIRE, 0.0);
        MACHINE.receive(&mut b, 0.0, WIRE, sent.arrival);
        assert_eq!(b.processor, 2.0 * MACHINE.overhead + MACHINE.latency);
    }
}
