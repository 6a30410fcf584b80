//! Runs all ranks of a plan in lockstep, on provenance instead of data, and checks the result against the
//! specification.
//!
//! For reductions a slot holds a tree of contributions, for all others the number of a block. The rules are those of
//! the language, applied to slots: a slot is written before it is read, every send matches one receive of the same
//! round, nothing is combined twice. The replay judges everything that makes or changes plans, and is independent of
//! how they are made.

use super::fault::PlanFault;
use super::pairs::{End, receives, sends};
use super::{INPUT, Local, OUTPUT, Plan, Slot, Turn};
use roundel_spec::schedule::Order;
use roundel_spec::trees::{TreeValue, Trees};

impl Plan {
    /// Checks the plan against its specification, and returns the order in which it reduces (both properties are true
    /// for collectives that do not reduce).
    ///
    /// # Errors
    /// The first error.
    pub fn replay(&self) -> Result<Order, PlanFault> {
        self.replay_where(|_| true)
    }

    /// Like [`replay`](Self::replay), if only some blocks matter: those that are not empty.
    ///
    /// # Errors
    /// The first error.
    pub fn replay_where(&self, matters: impl Fn(usize) -> bool) -> Result<Order, PlanFault> {
        self.shape().map_err(|reason| PlanFault::Shape { reason })?;
        let mut memory = PlanMemory::new(self);
        for (number, round) in self.rounds.iter().enumerate() {
            memory.round(number, round)?;
        }
        memory.end(matters)
    }
}

/// The most slots of all ranks together for which a plan is replayed.
const MOST_SLOTS: usize = 1 << 30;

impl Plan {
    /// Checks the numbers of a plan; returns the rule that is violated, if any.
    fn shape(&self) -> Result<(), &'static str> {
        let &Plan { kind, p, root, lines, blocks, .. } = self;
        let slots = p.checked_mul(lines).and_then(|slots| slots.checked_mul(blocks));
        let expected = [
            (!kind.moves(), "blocks of an all-to-all move, plan another kind"),
            (root < p, "the root must be a rank, and 0 where there is none"),
            (lines > OUTPUT as usize, "there must be a line for the input and one for the output"),
            (blocks == p || !kind.has_a_block_each(), "there must be a block for each rank"),
            (
                slots.is_some_and(|slots| slots <= MOST_SLOTS),
                "it has too many slots, use fewer lines, blocks or ranks",
            ),
        ];
        expected.iter().find(|(right, _)| !right).map_or(Ok(()), |(_, reason)| Err(reason))
    }
}

/// The contents of all slots.
struct PlanMemory<'a> {
    plan: &'a Plan,
    trees: Trees,
    slots: Vec<Option<TreeValue>>,
    /// For every slot, the last round plus one in which a message read it, and wrote it.
    used: Vec<(u32, u32)>,
}

impl<'a> PlanMemory<'a> {
    fn new(plan: &'a Plan) -> Self {
        let trees = Trees::new(if plan.kind.reduces() { plan.p } else { plan.blocks });
        let slots = vec![None; plan.p * plan.lines * plan.blocks];
        let used = vec![(0, 0); slots.len()];
        let mut memory = PlanMemory { plan, trees, slots, used };
        for (rank, block) in (0..plan.p).flat_map(|rank| (0..plan.blocks).map(move |block| (rank, block))) {
            if plan.kind.initially_holds(rank, block, plan.root, plan.p) {
                let leaf = memory.trees.leaf(if plan.kind.reduces() { rank } else { block });
                let slot = memory.index(rank, Slot::new(INPUT, block as u32));
                memory.slots[slot] = Some(leaf);
            }
        }
        memory
    }

    fn index(&self, rank: usize, slot: Slot) -> usize {
        (rank * self.plan.lines + slot.line as usize) * self.plan.blocks + slot.block as usize
    }

    fn round(&mut self, round: usize, turns: &[Turn]) -> Result<(), PlanFault> {
        if turns.len() != self.plan.p {
            return Err(PlanFault::Turns { round, expected: self.plan.p, found: turns.len() });
        }
        for (rank, turn) in turns.iter().enumerate() {
            self.exists(round, rank, turn)?;
            self.messages(round, rank, turn)?;
        }
        let arrived = self.travel(round, turns)?;
        for (slot, value) in arrived {
            self.slots[slot] = Some(value);
        }
        for (rank, turn) in turns.iter().enumerate() {
            turn.locals.iter().try_for_each(|local| self.local(round, rank, local))?;
        }
        Ok(())
    }

    /// Checks that everything that a turn names exists, and that it does not write the input.
    fn exists(&self, round: usize, rank: usize, turn: &Turn) -> Result<(), PlanFault> {
        let &Plan { p, lines, blocks, .. } = self.plan;
        let messages = || turn.sends.iter().chain(&turn.receives);
        if let Some(message) = messages().find(|message| message.peer >= p || message.peer == rank) {
            return Err(PlanFault::NoSuchPeer { rank, round, peer: message.peer, p });
        }
        let locals = turn.locals.iter().flat_map(|local| local.reads().chain([local.writes()]));
        let mut named = messages().flat_map(|message| message.slots.iter().copied()).chain(locals);
        if let Some(slot) = named.find(|slot| slot.line as usize >= lines || slot.block as usize >= blocks) {
            return Err(PlanFault::NoSuchSlot { rank, round, slot, lines, blocks });
        }
        let received = turn.receives.iter().flat_map(|message| message.slots.iter().copied());
        match received.chain(turn.locals.iter().map(Local::writes)).find(|slot| slot.line == INPUT) {
            Some(slot) => Err(PlanFault::InputWritten { rank, round, slot }),
            None => Ok(()),
        }
    }

    /// Checks that sends read valid data, and that no message writes a slot that another one uses.
    fn messages(&mut self, round: usize, rank: usize, turn: &Turn) -> Result<(), PlanFault> {
        let now = round as u32 + 1;
        for &slot in turn.sends.iter().flat_map(|message| &message.slots) {
            let index = self.index(rank, slot);
            self.used[index].0 = now;
            if self.slots[index].is_none() {
                return Err(PlanFault::Empty { rank, round, slot });
            }
        }
        for &slot in turn.receives.iter().flat_map(|message| &message.slots) {
            let index = self.index(rank, slot);
            if self.used[index].0 == now || self.used[index].1 == now {
                return Err(PlanFault::Clash { rank, round, slot });
            }
            self.used[index].1 = now;
        }
        Ok(())
    }

    /// Matches every send with a receive; returns what arrives where.
    fn travel(&self, round: usize, turns: &[Turn]) -> Result<Vec<(usize, TreeValue)>, PlanFault> {
        let (sends, receives) = (sends(turns), receives(turns));
        let mut arrived = Vec::new();
        for (sent, received) in sends.iter().zip(&receives) {
            let (&(from, to, _, out), &(_, _, _, into)) = (sent, received);
            if (from, to) != (received.0, received.1) {
                return Err(unmatched(round, &sends, &receives, (from, to).min((received.0, received.1))));
            }
            if !out.slots.iter().map(|slot| slot.block).eq(into.slots.iter().map(|slot| slot.block)) {
                let [found, expected] = [out, into].map(|m| m.slots.iter().map(|slot| slot.block).collect());
                return Err(PlanFault::OtherBlocks { round, from, to, expected, found });
            }
            for (&read, &written) in out.slots.iter().zip(&into.slots) {
                if let Some(value) = self.slots[self.index(from, read)] {
                    arrived.push((self.index(to, written), value));
                }
            }
        }
        match sends.get(receives.len()).or(receives.get(sends.len())) {
            Some(&(from, to, ..)) => Err(unmatched(round, &sends, &receives, (from, to))),
            None => Ok(arrived),
        }
    }

    /// The content of a slot that a local step reads for a block.
    fn read(&self, round: usize, rank: usize, slot: Slot, block: u32) -> Result<TreeValue, PlanFault> {
        if slot.block != block {
            return Err(PlanFault::OtherBlock { rank, round, slot, expected: block });
        }
        self.slots[self.index(rank, slot)].ok_or(PlanFault::Empty { rank, round, slot })
    }

    fn local(&mut self, round: usize, rank: usize, local: &Local) -> Result<(), PlanFault> {
        let slot = local.writes();
        let value = match *local {
            Local::Copy { from, to } => self.read(round, rank, from, to.block)?,
            Local::Combine { .. } if !self.plan.kind.reduces() => {
                return Err(PlanFault::NothingToReduce { rank, round, slot });
            }
            Local::Combine { left, right, into } => {
                let left = self.read(round, rank, left, into.block)?;
                let right = self.read(round, rank, right, into.block)?;
                let twice = |contributor| PlanFault::Twice { rank, round, slot, contributor };
                self.trees.join(left, right).map_err(twice)?
            }
        };
        let index = self.index(rank, slot);
        self.slots[index] = Some(value);
        Ok(())
    }

    /// Checks the output against the specification.
    fn end(&self, matters: impl Fn(usize) -> bool) -> Result<Order, PlanFault> {
        let &Plan { kind, p, root, .. } = self.plan;
        let mut order = Order { same_tree: true, rank_order: true };
        for block in (0..self.plan.blocks).filter(|&block| matters(block)) {
            let mut first = None;
            for rank in (0..p).filter(|&rank| kind.must_hold(rank, block, root, p)) {
                let value = self.complete(rank, Slot::new(OUTPUT, block as u32))?;
                order.same_tree &= *first.get_or_insert(value.tree) == value.tree;
                order.rank_order &= value.run.is_some();
            }
        }
        Ok(order)
    }

    /// The content of an output slot, if it is complete.
    fn complete(&self, rank: usize, slot: Slot) -> Result<TreeValue, PlanFault> {
        let reduces = self.plan.kind.reduces();
        let expected = if reduces { self.plan.p } else { 1 };
        let held = self.slots[self.index(rank, slot)];
        let counts = |value: TreeValue| match reduces {
            true => self.trees.count(value.tree),
            false => (value.tree == self.trees.leaf(slot.block as usize).tree) as usize,
        };
        let found = held.map_or(0, counts);
        held.filter(|_| found == expected).ok_or(PlanFault::Incomplete { rank, slot, expected, found })
    }
}

fn unmatched(round: usize, sends: &[End<'_>], receives: &[End<'_>], (from, to): (usize, usize)) -> PlanFault {
    let count = |ends: &[End<'_>]| ends.iter().filter(|end| (end.0, end.1) == (from, to)).count();
    PlanFault::Unmatched { round, from, to, sent: count(sends), received: count(receives) }
}
