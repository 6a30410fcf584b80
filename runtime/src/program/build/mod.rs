//! Builds the programs of a collective: the steps in shared memory, combined with the part between nodes.
//!
//! Processes of a node reduce or gather in their shared memory; some of them, the lanes, run the part between nodes,
//! each on its own slice of the data; then every process takes its result. A [`Scheme`] determines the first and the
//! last of these.
//!
//! The builder describes each process in *stages*, with the memory that each accesses, and the order of stages that
//! access the same memory. The minimal signals and waits are derived from that. Memory that processes share
//! alternates between even and odd calls: a call overwrites what was read two calls ago, and the synchronisation of
//! the call in between has confirmed that read. So a call begins and ends without a barrier.
//!
//! If every process has a node for itself, nothing is shared: the part works on the user's buffers.

mod error;
mod lane;
mod node;
mod shape;
mod stage;
mod step_list;
mod weave;

pub use error::BuildError;

use roundel_spec::{Kind, Placement};
use std::fmt;

use self::node::NodeMemory;
use self::shape::NodeGeometry;
use self::stage::Stage;
use self::weave::Weave;
use super::{CombineStep, CopyStep, MemoryRegion, Op, Program, ProgramMessage, RegionOffset};
use crate::plan::part::RankPlan;

/// How the processes of a node cooperate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// For short vectors: every process copies its input into shared memory, and each process that needs the result
    /// reduces all copies.
    Copies,
    /// For long vectors: one vector in shared memory, to which every process adds its input, chunk by chunk.
    Chunks,
    /// For buffers in shared memory: every process reduces its share of all inputs. The output of an allreduce or
    /// allgather is shared by the node, and alternates between even and odd calls.
    Direct,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Scheme; 3] = [Scheme::Copies, Scheme::Chunks, Scheme::Direct];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Copies => "copies",
            Scheme::Chunks => "chunks",
            Scheme::Direct => "direct",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The collective of all ranks to build programs for.
#[derive(Clone, Copy)]
pub struct ProgramSpec<'a> {
    /// Allreduce, reduce_scatter or allgather. A broadcast is an allgather with a single non-zero count, and a reduce
    /// is a reduce_scatter with a single non-zero count.
    pub kind: Kind,
    /// The placement of ranks on nodes.
    pub placement: &'a Placement,
    /// For an allreduce one number, the length; for others one number for each rank, whose blocks lie in the order of
    /// ranks without gaps.
    pub counts: &'a [usize],
    /// The number of bytes of an element.
    pub size: usize,
    /// The number of processes of each node that send and receive; limited by the smallest node.
    pub lanes: usize,
    /// How the processes of a node cooperate.
    pub scheme: Scheme,
    /// The part of a node in the plan between nodes, by its number. It is called only for this rank's node, and not if
    /// there is only one node.
    pub parts: &'a dyn Fn(usize) -> RankPlan,
}

/// The programs of one rank for even and for odd calls.
pub fn build(job: &ProgramSpec, rank: usize) -> Result<[Program; 2], BuildError> {
    let shape = NodeGeometry::new(job, rank)?;
    let node = NodeMemory::new(&shape)?;
    let stages: Vec<Vec<Stage>> = (0..shape.n).map(|local| node.stages(local)).collect();
    let weave = Weave::new(&stages, node.fixed);
    let mut program = Program {
        shared: node.fixed + 2 * node.alternating,
        signals: (0..shape.n).map(|local| weave.total(local)).collect(),
        input: node.input(shape.local),
        output: node.output(),
        ..Program::default()
    };
    program.ops.extend(weave.opens(shape.local).then_some(Op::Signal));
    for (number, stage) in stages[shape.local].iter().enumerate() {
        let key = (shape.local, number);
        program.ops.extend(weave.awaits(key).map(|(local, times)| Op::Await { local, times }));
        program.ops.extend_from_slice(&stage.ops);
        if stage.part {
            cross(&mut program, &shape, &node)?;
        }
        program.ops.extend(weave.signals(key).then_some(Op::Signal));
    }
    let size = job.size;
    program.scratch.checked_mul(size).ok_or(BuildError::TooLarge { what: "the working memory" })?;
    Ok([0, node.alternating].map(|distance| in_bytes(program.clone(), node.fixed, distance, size)))
}

/// Adds the part between nodes.
fn cross(program: &mut Program, shape: &NodeGeometry, node: &NodeMemory) -> Result<(), BuildError> {
    let part = (shape.job.parts)(shape.node);
    let course = lane::course(shape, &part, node.lines(shape.local))?;
    program.ops.extend(course.ops);
    program.messages = course.messages;
    program.scratch = course.scratch;
    Ok(())
}

/// Converts a program from elements to bytes, and shifts its alternating shared memory by `distance` elements.
fn in_bytes(mut program: Program, fixed: usize, distance: usize, size: usize) -> Program {
    let moved = |offset: usize| if offset < fixed { offset } else { offset + distance };
    let place = |spot: &mut RegionOffset| {
        let offset = if spot.region == MemoryRegion::Shared { moved(spot.offset) } else { spot.offset };
        spot.offset = offset * size;
    };
    program.ops.iter_mut().flat_map(spots).for_each(place);
    program.messages.iter_mut().map(|message: &mut ProgramMessage| &mut message.spot).for_each(place);
    program.input = program.input.map(|offset| moved(offset) * size);
    program.output = program.output.map(|offset| moved(offset) * size);
    program.shared *= size;
    program.scratch *= size;
    program
}

/// The offsets in a step.
fn spots(op: &mut Op) -> Vec<&mut RegionOffset> {
    match op {
        Op::Copy(CopyStep { from, to, .. }) => vec![from, to],
        Op::Combine(CombineStep { left, right, into, .. }) => vec![left, right, into],
        _ => Vec::new(),
    }
}
