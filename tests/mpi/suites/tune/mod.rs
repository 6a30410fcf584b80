//! Profiles measured on real MPI, with ranks placed in every way.
//!
//! Run under `mpirun`. Times are not known in advance. The suite checks that all ranks get the same profile, that
//! everything is measured that there are ranks for, that the profile can be written, and that it takes about as long as
//! the budget. Ends with one line on rank 0, or with a message and a failure on the first rank that sees anything
//! wrong.

use crate::placements::placements;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::choice::{Question, ports};
use roundel::profile::{Grid, Profile};
use roundel_spec::Kind;
use roundel_tests::ending::end;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const BUDGET: Duration = Duration::from_millis(500);

pub(crate) fn run(world: &SimpleCommunicator, _: &[String]) {
    let mut profiles = 0;
    for (name, path) in placements(world.rank() as usize, world.size() as usize) {
        let comm = world.duplicate();
        let suite = Suite { comm: &comm, name };
        suite.expect(roundel::mpi::place(&comm, &path).is_ok(), "place");
        suite.measure(path.first().copied().unwrap_or(0));
        profiles += 1;
    }
    if world.rank() == 0 {
        println!("tune: p = {}, {profiles} profiles, all as expected", world.size());
    }
}

struct Suite<'a> {
    comm: &'a SimpleCommunicator,
    name: &'static str,
}

impl Suite<'_> {
    fn measure(&self, node: usize) {
        let (begin, mut shares) = (Instant::now(), Vec::new());
        let profile = match roundel::mpi::tune(self.comm, BUDGET, |share| shares.push(share)) {
            Ok(profile) => profile,
            Err(error) => self.fail(&error.to_string()),
        };
        // A single round over all points may take longer than the budget where ranks share processors.
        self.expect(begin.elapsed() < 40 * BUDGET, "about as long as was said");
        self.expect(shares.iter().all(|share| (0.0..=1.0).contains(share)), "shares of the time");
        self.expect(shares.last() == Some(&1.0), "the end of the time");
        self.same_everywhere(&profile);
        self.as_placed(&profile, node);
        self.is_usable(&profile);
    }

    fn same_everywhere(&self, profile: &Profile) {
        let own = profile.fingerprint();
        let (mut least, mut most) = (0u64, 0u64);
        self.comm.all_reduce_into(&own, &mut least, SystemOperation::min());
        self.comm.all_reduce_into(&own, &mut most, SystemOperation::max());
        self.expect(least == most, "the same profile on all ranks");
    }

    /// What there are ranks for is measured, and nothing else.
    fn as_placed(&self, profile: &Profile, node: usize) {
        let mut all = vec![0u64; self.comm.size() as usize];
        self.comm.all_gather_into(&(node as u64), &mut all);
        let mut sizes = BTreeMap::new();
        all.iter().for_each(|node| *sizes.entry(node).or_insert(0usize) += 1);
        let machine = &profile.machine;
        self.expect((machine.nodes, machine.ranks) == (sizes.len(), all.len()), "the number of nodes and ranks");
        self.expect(profile.between.is_measured() == (sizes.len() > 1), "what is measured between nodes");
        self.expect(profile.inside.is_measured() == sizes.values().any(|&size| size > 1), "what is measured inside");
        let default = Profile::default();
        let least = sizes.values().copied().min().unwrap_or(1);
        let crowded = sizes.len() > 1 && least > 1;
        self.expect(
            if crowded { profile.contention.lanes == least } else { profile.contention == default.contention },
            "the crowd",
        );
        self.expect(!machine.mpi.is_empty() && !machine.host.is_empty(), "the machine");
    }

    /// Times are plausible, and a choice can be made with them.
    fn is_usable(&self, profile: &Profile) {
        let fine = |grid: &Grid| {
            grid.sizes().len() > 1 && grid.rows().iter().flatten().all(|time| (1e-9..10.0).contains(time))
        };
        self.expect(fine(&profile.inside) && fine(&profile.between), "times");
        let node = &profile.node;
        self.expect((1e-9..1.0).contains(&node.signal) && node.copy > 1e6 && node.combine > 1e6, "the node");
        let chosen = ports::rank(profile, &Question::new(Kind::Allreduce, 48, 4, 4096));
        self.expect(chosen.is_ok_and(|chosen| !chosen.is_empty()), "a choice");
    }

    fn expect(&self, right: bool, what: &str) {
        if !right {
            self.fail(what);
        }
    }

    fn fail(&self, what: &str) -> ! {
        end(self.comm, &format!("{}: {what} is wrong", self.name))
    }
}
