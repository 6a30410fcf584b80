//! Memory for messages whose length is known only when they are about to arrive.
//!
//! Allocated memory does not move during a call, because messages are in flight from it; so a full arena adds another
//! chunk. When the call is complete, the chunks become one, and the next call like it finds enough memory.

/// Memory that only grows, and is handed out piece by piece. Aligned to 16 bytes.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// All but the last are full.
    chunks: Vec<Vec<u128>>,
    /// The part of the last chunk in use, in units of 16 bytes.
    used: usize,
}

impl Arena {
    /// Space for `bytes` bytes, valid until [`clear`](Arena::clear).
    pub(crate) fn take(&mut self, bytes: usize) -> *mut u8 {
        let units = bytes.div_ceil(size_of::<u128>());
        let room = self.chunks.last().map_or(0, Vec::len);
        if self.chunks.is_empty() || room - self.used < units {
            self.chunks.push(vec![0; units.max(room)]);
            self.used = 0;
        }
        let begin = self.used;
        self.used += units;
        // There is a last chunk, and it has room.
        self.chunks.last_mut().map_or(std::ptr::null_mut(), |chunk| chunk[begin..].as_mut_ptr().cast())
    }

    /// Frees all space. Nothing may use it any more.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        if self.chunks.len() > 1 {
            let units = self.chunks.iter().map(Vec::len).sum();
            self.chunks.clear();
            self.chunks.push(vec![0; units]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fitted_once_fits_again_in_one_chunk() {
        let mut arena = Arena::default();
        for turn in 0..3 {
            let taken: Vec<usize> = [100, 0, 1000, 16, 17].map(|bytes| arena.take(bytes) as usize).to_vec();
            assert!(taken.iter().all(|address| address % 16 == 0));
            assert!(
                turn == 0 || (arena.chunks.len() == 1 && taken[2] == taken[0] + 112 && taken[4] == taken[3] + 16)
            );
            arena.clear();
        }
    }
}
