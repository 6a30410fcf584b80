//! Estimates the time that the processes of a node spend before and after the rounds between nodes.

use crate::choice::profile::NodeSpeed;
use crate::program::build::Scheme;
use roundel_spec::Kind;
use roundel_spec::arith::ceil_log;

/// A call from the point of view of one process of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeShare {
    pub(crate) kind: Kind,
    /// The number of processes on the node.
    pub(crate) ppn: usize,
    /// Whether there are other nodes.
    pub(crate) several: bool,
    /// The number of processes of the node that send.
    pub(crate) lanes: usize,
    /// The bytes that a process contributes.
    pub(crate) brings: u64,
    /// The bytes of a process's result.
    pub(crate) takes: u64,
}

impl NodeShare {
    /// The time of a call within nodes, in seconds. A process that is alone on its node neither waits nor copies.
    pub(crate) fn seconds(&self, scheme: Scheme, node: &NodeSpeed) -> f64 {
        if self.ppn < 2 {
            return 0.0;
        }
        let wait = node.signal * ceil_log(2, self.ppn as i64) as f64;
        let after = if self.several { wait } else { 0.0 };
        self.bringing(scheme, node, wait) + after + self.taking(scheme) / node.copy
    }

    /// The time until the node has the data to send or, with a single node, the result.
    fn bringing(&self, scheme: Scheme, node: &NodeSpeed, wait: f64) -> f64 {
        let (brings, others) = (self.brings as f64, (self.ppn - 1) as f64);
        let copied = brings / node.copy;
        // Every process reduces its own chunk.
        let chunk = brings / self.ppn as f64;
        match (self.kind, scheme) {
            (Kind::Allgather, _) => copied + wait,
            (_, Scheme::Copies) => copied + wait + others * self.reduced() / node.combine,
            (_, Scheme::Chunks) => chunk / node.copy + others * (node.signal + chunk / node.combine) + wait,
            (_, Scheme::Direct) => wait + others * chunk / node.combine + wait,
        }
    }

    /// The bytes that a process reduces when inputs are copied: a lane reduces its slice; on a single node every
    /// process reduces its own result.
    fn reduced(&self) -> f64 {
        if self.several { self.brings as f64 / self.lanes.max(1) as f64 } else { self.takes as f64 }
    }

    /// The bytes copied at the end. When inputs are copied on a single node, every process reduces into its own
    /// output. An output in shared memory needs no copy.
    fn taking(&self, scheme: Scheme) -> f64 {
        let reduces = self.kind != Kind::Allgather;
        let there = match scheme {
            Scheme::Copies => reduces && !self.several,
            Scheme::Chunks => false,
            Scheme::Direct => self.kind != Kind::ReduceScatter || !self.several,
        };
        if there { 0.0 } else { self.takes as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeSpeed = NodeSpeed { signal: 1e-6, copy: 8e9, combine: 4e9 };

    fn allreduce(ppn: usize, several: bool, bytes: u64) -> NodeShare {
        NodeShare { kind: Kind::Allreduce, ppn, several, lanes: 1, brings: bytes, takes: bytes }
    }

    fn best(share: NodeShare, schemes: &[Scheme]) -> Scheme {
        let time = |scheme: &&Scheme| share.seconds(**scheme, &NODE);
        *schemes.iter().min_by(|a, b| time(a).total_cmp(&time(b))).expect("has schemes")
    }

    /// As in section 4 of the paper: the first option for short messages, the second for long ones; beyond, our
    /// variant without copies.
    #[test]
    fn short_inputs_are_copied_and_long_ones_combined_in_chunks() {
        let both = [Scheme::Copies, Scheme::Chunks];
        for several in [false, true] {
            let (short, long) = (allreduce(8, several, 8), allreduce(8, several, 16 << 20));
            assert_eq!((best(short, &both), best(long, &both)), (Scheme::Copies, Scheme::Chunks));
            assert_eq!((best(short, &Scheme::ALL), best(long, &Scheme::ALL)), (Scheme::Copies, Scheme::Direct));
        }
    }

    #[test]
    fn a_process_alone_takes_no_time() {
        let share = allreduce(1, true, 1 << 20);
        assert!(Scheme::ALL.iter().all(|&scheme| share.seconds(scheme, &NODE) == 0.0));
    }

    #[test]
    fn by_hand() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        let (one, several) = (allreduce(4, false, 4000), allreduce(4, true, 4000));
        near(one.seconds(Scheme::Copies, &NODE), 4000.0 / 8e9 + 2e-6 + 12000.0 / 4e9);
        near(several.seconds(Scheme::Copies, &NODE), 8000.0 / 8e9 + 4e-6 + 12000.0 / 4e9);
        near(one.seconds(Scheme::Chunks, &NODE), 5000.0 / 8e9 + 3000.0 / 4e9 + 3e-6 + 2e-6);
        near(one.seconds(Scheme::Direct, &NODE), 4e-6 + 3000.0 / 4e9);
        let gather = NodeShare { kind: Kind::Allgather, takes: 400, brings: 10, ..several };
        near(gather.seconds(Scheme::Copies, &NODE), 410.0 / 8e9 + 4e-6);
        near(gather.seconds(Scheme::Direct, &NODE), 10.0 / 8e9 + 4e-6);
    }
}
