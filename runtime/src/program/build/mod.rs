//! Programs of a collective: what happens in shared memory, woven with the part between nodes.
//!
//! Processes of a node reduce or gather in the memory that they share; some of them, the lanes, run the part between
//! nodes, each on its own slice of the data; then everybody takes what it wants. A [`Scheme`] says how the first and
//! the last of these are done.
//!
//! The builder says what each process does in *stages*, each with the memory that it touches, and which of two stages
//! that touch the same memory comes first. Signals and waits are derived from that, and are as few as that asks for.
//! Memory that processes hand to each other alternates between even and odd calls: a call writes what was read two
//! calls ago, and whoever read it has been heard of in the call between. So a call begins and ends without a barrier.
//!
//! Where every process has a node for itself nothing is shared: the part works on the user's buffers.

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
use super::{MemoryRegion, Op, Program, ProgramMessage, RegionOffset};
use crate::plan::part::RankPlan;

/// How processes of a node work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Short vectors: everybody puts a copy of its input into shared memory, and whoever needs it reduces all of them.
    Copies,
    /// Long vectors: one vector in shared memory; everybody adds its input, a chunk after the other.
    Chunks,
    /// Buffers that lie in shared memory from the beginning: everybody reduces its share of all inputs. The output of
    /// an allreduce or allgather is one per node, and another one in even and odd calls.
    Direct,
}

impl Scheme {
    /// All of them.
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

/// What is to be done by all ranks together.
#[derive(Clone, Copy)]
pub struct ProgramSpec<'a> {
    /// Allreduce, reduce_scatter or allgather. A broadcast is an allgather with one count that is not zero, a reduce
    /// such a reduce_scatter.
    pub kind: Kind,
    /// Which ranks sit on which node.
    pub placement: &'a Placement,
    /// Of an allreduce one number, the length; of others one for each rank, whose blocks lie in the order of ranks
    /// without gaps.
    pub counts: &'a [usize],
    /// How many bytes an element has.
    pub size: usize,
    /// How many processes of each node send and receive; no more than the smallest node has.
    pub lanes: usize,
    /// How processes of a node work together.
    pub scheme: Scheme,
    /// What a node does among all nodes, by its number. It is asked only for the own node, and not if there is only
    /// one.
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

/// A program that counts bytes, with the shared memory that alternates so many elements further on.
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

/// The spots of a step.
fn spots(op: &mut Op) -> Vec<&mut RegionOffset> {
    match op {
        Op::Copy { from, to, .. } => vec![from, to],
        Op::Combine { left, right, into, .. } => vec![left, right, into],
        _ => Vec::new(),
    }
}
