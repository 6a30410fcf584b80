//! What a clause declares about a message: its direction, its line of memory, its effect on that line.

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// It leaves this rank.
    Send,
    /// It arrives at this rank.
    Recv,
}

/// A line of a rank's memory, by its number. Gathers have one line, in which every block has its slot; reductions may
/// declare more.
pub type Line = u8;

/// The effect of a message on its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// A send reads the line; a receive fills slots that are empty.
    #[default]
    Copy,
    /// A receive fills slots, whatever their contents.
    Replace,
    /// A receive fills slots, whatever their contents. The old contents are lost after the round's sends have read
    /// them.
    Overwrite,
    /// A receive combines what arrives, as the left operand, with line `with`.
    CombineLeft {
        /// The other operand.
        with: Line,
    },
    /// A receive combines line `with`, as the left operand, with what arrives.
    CombineRight {
        /// The other operand.
        with: Line,
    },
}

/// The clause of the declaration that a message comes from, and its effect on this rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// Its number among the `send` and `recv` clauses, in source order.
    pub number: u16,
    /// The line it reads or writes.
    pub line: Line,
    /// Its effect on that line.
    pub action: Action,
}

impl Site {
    /// The clause with this number, on the only line.
    pub const fn plain(number: u16) -> Self {
        Site { number, line: 0, action: Action::Copy }
    }
}
