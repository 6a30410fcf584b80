//! Measures a [`Profile`]: rounds of messages, and the local work of processes.
//!
//! All points of the grids are measured in turn, again and again, so that disturbances affect all of them alike; the
//! median of each counts. A time is that of the slowest rank. Rank 0 makes every decision, and every number is agreed
//! on by all ranks, so that all get the same profile.

mod counter;
mod local;
mod wire;

use self::wire::WireBench;
use crate::choice::profile::{Contention, Grid, Machine, NodeSpeed, PORTS, Profile, SIZES};
use crate::error::Error;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::state::attribute;
use ::mpi::environment::library_version;
use ::mpi::topology::Communicator;
use roundel_spec::Placement;
use std::time::{Duration, Instant};

/// The most rounds over all points: more do not improve the result.
const ENOUGH: usize = 101;

/// The default duration of a measurement.
pub const BUDGET: Duration = Duration::from_secs(60);

/// Within a node, messages are measured up to this index of the sizes: all of its processes need buffers.
const INSIDE: usize = 9;

/// Measures the machine that a communicator spans, in about the time `budget`. Collective: all ranks call it, and all
/// get the same profile. Calls `progress` on every rank with the elapsed share of the time, from 0 to 1.
///
/// One node gives no times between nodes, and one process per node gives no times within a node. The profile then has
/// default values, marked as not measured. A short budget also limits the length of messages.
///
/// # Errors
/// Returns MPI's errors.
pub fn tune(comm: &impl Communicator, budget: Duration, mut progress: impl FnMut(f64)) -> Result<Profile, Error> {
    let group = attribute::state(comm)?.group(comm)?;
    let mut wire = WireBench::new(group.comm.raw());
    let machine = machine(&mut wire, &group.placement)?;
    let signal = counter::signal(&mut wire)?;
    let node = NodeSpeed { signal, copy: local::copy(&mut wire)?, combine: local::combine(&mut wire)? };
    let mut survey = Survey::new(&mut wire, group, budget);
    survey.run(&mut progress)?;
    let profile = survey.profile(machine, node);
    progress(1.0);
    Ok(profile)
}

/// The machine of rank 0.
fn machine(wire: &mut WireBench, placement: &Placement) -> Result<Machine, Error> {
    let own = Machine::here(&library_version().unwrap_or_default());
    let text = format!("{}\n{}\n{}\n{}\n{}", own.host, own.cores, own.cpu, own.mpi, own.date);
    let text = wire.agreed_text(text)?;
    let fields: Vec<&str> = text.split('\n').collect();
    let field = |i: usize| fields.get(i).copied().unwrap_or_default().to_string();
    Ok(Machine {
        host: field(0),
        cores: field(1).parse().unwrap_or(0),
        cpu: field(2),
        mpi: field(3),
        date: field(4),
        nodes: placement.regions().nodes() as usize,
        ranks: placement.p(),
    })
}

/// Which ranks exchange messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    /// All ranks of a node, among themselves.
    Inside,
    /// The first rank of every node.
    Between,
    /// The same number of ranks of every node: as many as the smallest node has.
    AllLanes,
}

/// Ranks that exchange messages in a circle, and the position of this one.
#[derive(Clone, Debug, Default)]
struct Circle {
    ranks: Vec<usize>,
    own: usize,
}

impl Circle {
    /// The circle of `ranks`, if `rank` is one of them and not alone.
    fn new(ranks: Vec<usize>, rank: usize) -> Self {
        match ranks.iter().position(|&other| other == rank) {
            Some(own) if ranks.len() > 1 => Circle { ranks, own },
            _ => Circle::default(),
        }
    }

    /// The ranks that this rank sends to and receives from, one pair for each port. Ranks repeat if there are too
    /// few.
    fn partners(&self, ports: usize) -> Vec<(usize, usize)> {
        let n = self.ranks.len();
        let distance = |port: usize| 1 + port % (n - 1);
        let pair = |d: usize| (self.ranks[(self.own + d) % n], self.ranks[(self.own + n - d) % n]);
        if n < 2 { Vec::new() } else { (0..ports).map(|port| pair(distance(port))).collect() }
    }
}

/// A point of a grid and its measured times.
struct GridPoint {
    scene: Traffic,
    size: usize,
    ports: usize,
    times: Vec<f64>,
}

/// A measurement in progress.
struct Survey<'a> {
    wire: &'a mut WireBench,
    inside: Circle,
    between: Circle,
    all_lanes: Circle,
    /// The largest number of processes that every node has.
    lanes: usize,
    points: Vec<GridPoint>,
    begin: Instant,
    budget: Duration,
}

impl<'a> Survey<'a> {
    fn new(wire: &'a mut WireBench, group: &OwnComm, budget: Duration) -> Self {
        let nodes = members(&group.placement);
        let rank = group.rank;
        let lanes = nodes.iter().map(Vec::len).min().unwrap_or(1);
        let (several, crowded) = (nodes.len() > 1, nodes.len() > 1 && lanes > 1);
        let shared = nodes.iter().any(|node| node.len() > 1);
        let own = nodes.iter().find(|node| node.contains(&rank)).cloned().unwrap_or_default();
        let place = own.iter().position(|&other| other == rank).unwrap_or(0);
        let lane = |place: usize| nodes.iter().filter_map(|node| node.get(place).copied()).collect();
        let all_lanes = if place < lanes { Circle::new(lane(place), rank) } else { Circle::default() };
        let points = points(shared, several, crowded);
        let (inside, between) = (Circle::new(own, rank), Circle::new(lane(0), rank));
        Survey { wire, inside, between, all_lanes, lanes, points, begin: Instant::now(), budget }
    }

    /// Measures all points until the time is over. The first round over them does not count; it determines the
    /// longest messages.
    fn run(&mut self, progress: &mut impl FnMut(f64)) -> Result<(), Error> {
        let sizes = self.warm_up(progress)?;
        self.points.retain(|point| point.size < sizes);
        for done in 1.. {
            for i in 0..self.points.len() {
                let time = self.time(i)?;
                self.points[i].times.push(time);
                progress(self.share().max(done as f64 / ENOUGH as f64).min(1.0));
            }
            if !self.wire.agreed(done < ENOUGH && self.share() < 1.0)? {
                break;
            }
        }
        Ok(())
    }

    /// Measures every point once, and stops at the size at which a quarter of the time is over. Returns the number of
    /// sizes.
    fn warm_up(&mut self, progress: &mut impl FnMut(f64)) -> Result<usize, Error> {
        for size in 0..SIZES.len() {
            for i in 0..self.points.len() {
                if self.points[i].size == size {
                    self.time(i)?;
                    progress(self.share().min(1.0));
                }
            }
            if !self.wire.agreed(self.share() < 0.25)? && size > 0 {
                return Ok(size + 1);
            }
        }
        Ok(SIZES.len())
    }

    /// The elapsed share of the time.
    fn share(&self) -> f64 {
        self.begin.elapsed().as_secs_f64() / self.budget.as_secs_f64().max(1e-3)
    }

    fn time(&mut self, i: usize) -> Result<f64, Error> {
        let GridPoint { scene, size, ports, .. } = self.points[i];
        let circle = match scene {
            Traffic::Inside => &self.inside,
            Traffic::Between => &self.between,
            Traffic::AllLanes => &self.all_lanes,
        };
        self.wire.round(&circle.partners(ports), SIZES[size] as usize)
    }

    fn profile(&self, machine: Machine, node: NodeSpeed) -> Profile {
        let default = Profile::default();
        Profile {
            machine,
            node,
            contention: self.contention().unwrap_or(default.contention),
            inside: self.grid(Traffic::Inside).unwrap_or(default.inside),
            between: self.grid(Traffic::Between).unwrap_or(default.between),
        }
    }

    /// The medians for one kind of traffic, if it was measured.
    fn grid(&self, scene: Traffic) -> Option<Grid> {
        let points = self.points.iter().filter(|point| point.scene == scene);
        let sizes = 1 + points.clone().map(|point| point.size).max()?;
        let time = |ports: usize, size: usize| {
            points.clone().find(|point| (point.ports, point.size) == (ports, size)).map(GridPoint::median)
        };
        let row = |&ports: &usize| (0..sizes).map(|size| time(ports, size)).collect();
        let rows = PORTS.iter().map(row).collect::<Option<Vec<Vec<f64>>>>()?;
        Grid::new(SIZES[..sizes].to_vec(), PORTS.to_vec(), rows).ok()
    }

    /// By what factor rounds are slower if all lanes send, if that was measured: for the shortest and for the longest
    /// messages.
    fn contention(&self) -> Option<Contention> {
        let ratio = |point: &GridPoint| {
            let same =
                |other: &&GridPoint| other.scene == Traffic::Between && (other.size, other.ports) == (point.size, 1);
            let alone = self.points.iter().find(same)?.median();
            Some((point.median() / alone).clamp(0.1, 1e4))
        };
        let mut ratios = self.points.iter().filter(|point| point.scene == Traffic::AllLanes).filter_map(ratio);
        let short = ratios.next()?;
        Some(Contention { lanes: self.lanes, short, long: ratios.next_back().unwrap_or(short) })
    }
}

impl GridPoint {
    fn median(&self) -> f64 {
        median(&mut self.times.clone())
    }
}

/// The median of some times; a nanosecond if clocks stand still.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0).clamp(1e-9, 1e6)
}

/// The points for which there are ranks, by size.
fn points(shared: bool, several: bool, crowded: bool) -> Vec<GridPoint> {
    let mut found = Vec::new();
    for size in 0..SIZES.len() {
        let mut add = |scene: Traffic, ports: usize| found.push(GridPoint { scene, size, ports, times: Vec::new() });
        for ports in PORTS {
            if shared && size < INSIDE {
                add(Traffic::Inside, ports);
            }
            if several {
                add(Traffic::Between, ports);
            }
        }
        if crowded {
            add(Traffic::AllLanes, 1);
        }
    }
    found
}

/// The ranks of every node.
fn members(placement: &Placement) -> Vec<Vec<usize>> {
    let mut nodes = vec![Vec::new(); placement.regions().nodes() as usize];
    for rank in 0..placement.p() {
        if let Some(node) = nodes.get_mut(placement.node(rank)) {
            node.push(rank);
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends and receives match; no rank sends to itself.
    #[test]
    fn partners_meet() {
        for n in 2..9 {
            let ranks: Vec<usize> = (0..n).map(|i| 3 * i + 1).collect();
            let circles: Vec<Circle> = ranks.iter().map(|&rank| Circle::new(ranks.clone(), rank)).collect();
            for ports in 1..=12 {
                for (own, circle) in circles.iter().enumerate() {
                    for (port, (to, _)) in circle.partners(ports).into_iter().enumerate() {
                        let there = ranks.iter().position(|&rank| rank == to).expect("is in the circle");
                        assert_ne!(to, ranks[own]);
                        assert_eq!(circles[there].partners(ports)[port].1, ranks[own]);
                    }
                }
            }
        }
        assert!(Circle::new(vec![4], 4).partners(3).is_empty() && Circle::new(vec![4, 5], 6).partners(3).is_empty());
    }

    #[test]
    fn nodes_have_their_members() {
        assert_eq!(members(&Placement::cyclic(5, 3)), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(members(&Placement::consecutive(3, 1)), [vec![0], vec![1], vec![2]]);
    }

    #[test]
    fn only_what_there_are_ranks_for_is_measured() {
        let count = |points: Vec<GridPoint>, scene| points.into_iter().filter(|point| point.scene == scene).count();
        assert_eq!(count(points(true, false, false), Traffic::Inside), INSIDE * PORTS.len());
        assert_eq!(points(true, false, false).len(), INSIDE * PORTS.len());
        assert_eq!(count(points(true, true, true), Traffic::AllLanes), SIZES.len());
        assert!(points(false, false, false).is_empty());
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut []), median(&mut [0.0])), (2.0, 1e-9, 1e-9));
    }
}
