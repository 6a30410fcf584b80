//! The contents of slots in the simulation: contributions, in the order in which an operation would see them.
//!
//! A gather is the case in which nothing is ever combined: the block of rank r is the contribution of rank r to block
//! r. Two ranks have reduced the same tree, up to swapped operands, exactly if they have combined the same sets of
//! ranks on the way: a tree whose leaves have names is determined by the leaves below each of its nodes.

use super::OracleMessage;
use roundel_spec::{Action, Kind};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The ranks whose contributions are in a value, the first operand first; and how they were combined.
#[derive(Debug)]
pub(super) struct OracleValue {
    /// The block to which all contributions belong.
    block: usize,
    ranks: Vec<usize>,
    operands: Option<(Rc<OracleValue>, Rc<OracleValue>)>,
    /// The rank that has combined it in a way of its own, if one has.
    maker: Option<usize>,
}

impl OracleValue {
    pub(super) fn own(rank: usize, block: usize) -> Rc<Self> {
        Rc::new(OracleValue { block, ranks: vec![rank], operands: None, maker: None })
    }

    fn combined(left: &Rc<OracleValue>, right: &Rc<OracleValue>) -> Result<Rc<Self>, String> {
        let ranks = [left.ranks.as_slice(), &right.ranks].concat();
        let operands = Some((Rc::clone(left), Rc::clone(right)));
        let value = OracleValue { block: left.block, ranks, operands, maker: None };
        match value.sorted().windows(2).find(|two| two[0] == two[1]) {
            Some(twice) => Err(format!("counts rank {} twice", twice[0])),
            None if left.block != right.block => Err(format!("mixes blocks {} and {}", left.block, right.block)),
            None => Ok(Rc::new(value)),
        }
    }

    /// The ranks, sorted.
    pub(super) fn sorted(&self) -> Vec<usize> {
        let mut ranks = self.ranks.clone();
        ranks.sort_unstable();
        ranks
    }

    /// Whether the operands are in rank order.
    pub(super) fn in_rank_order(&self) -> bool {
        self.ranks.windows(2).all(|two| two[0] < two[1])
    }

    /// The sets of ranks that were combined on the way.
    pub(super) fn unions(&self) -> BTreeSet<Vec<usize>> {
        let mut all = BTreeSet::from([self.sorted()]);
        // No rank has the first number, so this is the name of the maker.
        all.extend(self.maker.map(|maker| vec![usize::MAX, maker]));
        if let Some((left, right)) = &self.operands {
            all.extend(left.unions());
            all.extend(right.unions());
        }
        all
    }

    fn is_part_of(&self, other: &OracleValue) -> bool {
        let other = other.sorted();
        self.ranks.iter().all(|rank| other.binary_search(rank).is_ok())
    }
}

/// One slot.
pub(super) type Slot = Option<Rc<OracleValue>>;

/// The lines of one rank, each with a slot for every block.
#[derive(Clone, Debug)]
pub(super) struct OracleMemory {
    lines: Vec<Vec<Slot>>,
}

impl OracleMemory {
    /// The initial contents of a rank's memory.
    pub(super) fn initial(kind: Kind, (rank, p): (usize, usize), lines: usize, blocks: usize, root: usize) -> Self {
        let own = |block| match kind {
            Kind::Allgather | Kind::Gather => (block == rank).then(|| OracleValue::own(rank, block)),
            Kind::Broadcast | Kind::Scatter => (rank == root).then(|| OracleValue::own(rank, block)),
            Kind::Alltoall => (block / p == rank).then(|| OracleValue::own(rank, block)),
            Kind::Allreduce | Kind::ReduceScatter | Kind::Reduce => Some(OracleValue::own(rank, block)),
        };
        let mut all = vec![vec![None; blocks]; lines.max(1)];
        all[0] = (0..blocks).map(own).collect();
        OracleMemory { lines: all }
    }

    pub(super) fn line(&self, line: usize) -> &[Slot] {
        &self.lines[line]
    }

    /// The values that a message carries; or the number of an empty slot.
    pub(super) fn read(&self, note: &OracleMessage) -> Result<Vec<Rc<OracleValue>>, usize> {
        let line = &self.lines[note.line];
        note.blocks.iter().map(|&block| line[block].clone().ok_or(block)).collect()
    }

    /// Empties the slots of a message; or returns the number of one that is already empty.
    pub(super) fn give_up(&mut self, note: &OracleMessage) -> Result<(), usize> {
        let line = &mut self.lines[note.line];
        note.blocks.iter().try_for_each(|&block| line[block].take().map(|_| ()).ok_or(block))
    }

    /// Empties a slot, or keeps what is in it as something that this rank has combined in a way of its own.
    pub(super) fn leave_to_chance(&mut self, rank: usize, line: usize, block: usize, keeps_value: bool) {
        let slot = &mut self.lines[line][block];
        *slot = slot.take().filter(|_| keeps_value).map(|value| {
            let OracleValue { block, ref ranks, ref operands, .. } = *value;
            Rc::new(OracleValue { block, ranks: ranks.clone(), operands: operands.clone(), maker: Some(rank) })
        });
    }

    /// Stores an arriving value in one slot. `in_use` tells whether another message of the round reads or writes the
    /// slot.
    pub(super) fn write(
        &mut self,
        note: &OracleMessage,
        block: usize,
        arrived: Rc<OracleValue>,
        in_use: bool,
    ) -> Result<(), String> {
        let old = self.lines[note.line][block].take();
        let operand = |with: u8, memory: &Self| {
            let other = if usize::from(with) == note.line { &old } else { &memory.lines[usize::from(with)][block] };
            other.clone().ok_or_else(|| format!("combines with empty slot {block}"))
        };
        let new = match (note.action, &old) {
            (Action::Copy, Some(_)) => return Err(format!("overwrites slot {block}")),
            _ if arrived.block != block => return Err(format!("puts block {} into slot {block}", arrived.block)),
            (Action::Copy, None) => arrived,
            (Action::Replace | Action::Overwrite, _) if in_use => {
                return Err(format!("replaces slot {block}, which is in use"));
            }
            (Action::Replace, Some(old)) if !old.is_part_of(&arrived) => {
                return Err(format!("replaces slot {block} by less"));
            }
            (Action::Replace | Action::Overwrite, _) => arrived,
            (Action::CombineLeft { with }, _) => OracleValue::combined(&arrived, &operand(with, self)?)?,
            (Action::CombineRight { with }, _) => OracleValue::combined(&operand(with, self)?, &arrived)?,
        };
        // The result of a combination with another line must not lose contributions of this one.
        let loses = |old: &Rc<OracleValue>| {
            matches!(note.action, Action::CombineLeft { .. } | Action::CombineRight { .. }) && !old.is_part_of(&new)
        };
        if old.as_ref().is_some_and(loses) {
            return Err(format!("combines into slot {block}, and loses what it has"));
        }
        self.lines[note.line][block] = Some(new);
        Ok(())
    }

    /// Checks the result of a rank.
    pub(super) fn result(&self, kind: Kind, rank: usize, p: usize, root: usize) -> Result<(), String> {
        for (block, slot) in self.lines[0].iter().enumerate() {
            let expected: Vec<usize> = match kind {
                Kind::Allgather => vec![block],
                Kind::Gather if rank == root => vec![block],
                Kind::Broadcast => vec![root],
                Kind::Scatter if block == rank => vec![root],
                Kind::Alltoall if block % p == rank => vec![block / p],
                Kind::Allreduce => (0..p).collect(),
                Kind::Reduce if rank == root => (0..p).collect(),
                Kind::ReduceScatter if block == rank => (0..p).collect(),
                Kind::Gather | Kind::Scatter | Kind::Reduce | Kind::ReduceScatter | Kind::Alltoall => continue,
            };
            let right = slot.as_ref().is_some_and(|value| value.block == block && value.sorted() == expected);
            if !right {
                return Err(format!("slot {block} of rank {rank} ends wrong"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(action: Action, line: usize) -> OracleMessage {
        OracleMessage { receives: true, peer: 1, blocks: vec![0], line, action }
    }

    /// The result on rank 0 if block 0 of rank 1 arrives twice.
    fn second(first: Action, second: Action, line: usize) -> Result<Vec<usize>, String> {
        let mut memory = OracleMemory::initial(Kind::Allreduce, (0, 2), 2, 2, 0);
        memory.write(&note(first, line), 0, OracleValue::own(1, 0), false).expect("the first is right");
        memory.write(&note(second, line), 0, OracleValue::own(1, 0), false)?;
        Ok(memory.line(line)[0].as_ref().map_or_else(Vec::new, |value| value.ranks.clone()))
    }

    const LEFT: Action = Action::CombineLeft { with: 0 };
    const RIGHT: Action = Action::CombineRight { with: 0 };

    #[test]
    fn every_fault_is_seen() {
        assert_eq!(second(LEFT, LEFT, 0), Err("counts rank 1 twice".into()));
        assert_eq!(second(LEFT, Action::Replace, 0), Err("replaces slot 0 by less".into()));
        assert_eq!(second(Action::Copy, Action::Copy, 1), Err("overwrites slot 0".into()));
        assert_eq!(second(Action::Copy, LEFT, 1), Ok(vec![1, 0]));
        assert_eq!(second(Action::Copy, RIGHT, 1), Ok(vec![0, 1]));
        assert_eq!(second(Action::Copy, Action::Replace, 1), Ok(vec![1]));
        let mut memory = OracleMemory::initial(Kind::Allreduce, (0, 2), 2, 2, 0);
        let with_other = note(Action::CombineLeft { with: 1 }, 0);
        let says = |note: &OracleMessage, value: Rc<OracleValue>, in_use: bool, words: &str| {
            let reason = memory.clone().write(note, 0, value, in_use).expect_err(words);
            assert!(reason.contains(words), "{reason}");
        };
        says(&with_other, OracleValue::own(1, 0), false, "empty slot 0");
        says(&note(LEFT, 0), OracleValue::own(1, 1), false, "puts block 1 into slot 0");
        says(&note(Action::Replace, 0), OracleValue::own(0, 0), true, "in use");
        assert_eq!(memory.result(Kind::Allreduce, 0, 2, 0), Err("slot 0 of rank 0 ends wrong".into()));
        assert_eq!(memory.read(&note(Action::Copy, 1)).expect_err("empty"), 0);
        memory.write(&note(LEFT, 0), 0, OracleValue::own(1, 0), false).expect("right");
        assert_eq!(memory.result(Kind::ReduceScatter, 0, 2, 0), Ok(()));
        assert_eq!(memory.result(Kind::ReduceScatter, 1, 2, 0), Err("slot 1 of rank 1 ends wrong".into()));
    }

    #[test]
    fn trees_are_told_apart_and_swapped_operands_are_not() {
        let [a, b, c] = [0, 1, 2].map(|rank| OracleValue::own(rank, 0));
        let join = |left: &Rc<OracleValue>, right: &Rc<OracleValue>| {
            OracleValue::combined(left, right).expect("different ranks")
        };
        let (left, right) = (join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
        assert!(left.in_rank_order() && right.in_rank_order());
        assert_ne!(left.unions(), right.unions());
        let swapped = join(&c, &join(&b, &a));
        assert!(!swapped.in_rank_order());
        assert_eq!(swapped.unions(), left.unions());
    }
}
