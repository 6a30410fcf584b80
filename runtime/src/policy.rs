//! How a message that is not contiguous in memory travels.

/// How one message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Directly from or into the user's memory, in one contiguous piece.
    Contiguous,
    /// Through a packed copy.
    Packed,
    /// Directly from or into the user's memory, described by a derived datatype.
    Datatype,
}

/// Chooses a [`Wire`] from the shape of a message. Contiguous data is never copied; for the rest, a copy of a few
/// kilobytes is cheaper than a datatype, and a datatype is cheaper than a copy of megabytes.
///
/// In an alltoall, a piece may lie in either of the user's buffers, or in the transport's memory, where blocks in
/// transit wait. With a datatype, blocks go directly from their place to their destination. Blocks of an alltoallv
/// are always packed unless they are contiguous: their places are unknown before their lengths are.
///
/// ```
/// use roundel::{Policy, Wire};
/// let policy = Policy::default();
/// assert_eq!(policy.choose(1, 1 << 30), Wire::Contiguous);
/// assert_eq!(policy.choose(2, 64), Wire::Packed);
/// assert_eq!(Policy::DATATYPE.choose(2, 64), Wire::Datatype);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Messages of several pieces are packed up to this many bytes.
    pub pack_up_to: usize,
}

impl Policy {
    /// Never copies: every message of several pieces is a derived datatype.
    pub const DATATYPE: Policy = Policy { pack_up_to: 0 };
    /// Never uses a datatype: every message of several pieces is packed.
    pub const PACKED: Policy = Policy { pack_up_to: usize::MAX };

    /// How a message of `pieces` contiguous pieces with `bytes` bytes in total travels.
    #[inline]
    pub const fn choose(&self, pieces: usize, bytes: usize) -> Wire {
        if pieces <= 1 {
            Wire::Contiguous
        } else if bytes <= self.pack_up_to {
            Wire::Packed
        } else {
            Wire::Datatype
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Policy { pack_up_to: 64 * 1024 }
    }
}
