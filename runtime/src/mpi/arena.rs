//! Scratch memory that stays where it is.
//!
//! MPI keeps pointers into scratch while a round's messages are in flight, so a request for more must not move what was
//! handed out before. Memory only grows: after the first call of a size there is nothing left to allocate.

/// Hands out memory in pieces that are aligned to 16 bytes and valid until the next [`reset`](Arena::reset).
///
/// All of it is initialised, with zeros at first and with old messages later.
#[derive(Debug, Default)]
pub(super) struct Arena {
    memory: Vec<u128>,
    used: usize,
    /// Memory that became too small in the middle of a round, kept because pieces of it are in use.
    outgrown: Vec<Vec<u128>>,
}

impl Arena {
    /// A piece of `bytes` bytes.
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> *mut u8 {
        let units = bytes.div_ceil(size_of::<u128>());
        if units > self.memory.len() - self.used {
            self.grow(units);
        }
        let piece = self.memory.as_mut_ptr().wrapping_add(self.used);
        self.used += units;
        piece.cast()
    }

    #[cold]
    fn grow(&mut self, units: usize) {
        let larger = vec![0; units.max(2 * self.memory.len())];
        let outgrown = std::mem::replace(&mut self.memory, larger);
        if self.used > 0 {
            self.outgrown.push(outgrown);
        }
        self.used = 0;
    }

    /// Takes all pieces back.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.used = 0;
        if !self.outgrown.is_empty() {
            self.merge();
        }
    }

    /// Makes the memory large enough for everything that was in use at once.
    #[cold]
    fn merge(&mut self) {
        let total = self.memory.len() + self.outgrown.iter().map(Vec::len).sum::<usize>();
        self.outgrown.clear();
        self.memory = vec![0; total];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_apart_and_in_place_while_the_arena_grows() {
        let mut arena = Arena::default();
        let pieces: Vec<_> = (0..50).map(|i| (i, 1 + i * 7, arena.take(1 + i * 7))).collect();
        for &(i, bytes, piece) in &pieces {
            assert_eq!(piece as usize % 16, 0);
            // SAFETY: the arena handed out `bytes` bytes and was not reset.
            unsafe { piece.write_bytes(i as u8, bytes) };
        }
        for (i, bytes, piece) in pieces {
            // SAFETY: as above; the bytes were written.
            let found = unsafe { std::slice::from_raw_parts(piece, bytes) };
            assert!(found.iter().all(|&byte| byte == i as u8));
        }
    }

    #[test]
    fn what_fitted_once_fits_again_without_growing() {
        let mut arena = Arena::default();
        let sizes = [100, 3, 5000, 17, 0, 64];
        for &bytes in &sizes {
            arena.take(bytes);
        }
        arena.reset();
        let memory = arena.memory.as_ptr();
        for &bytes in &sizes {
            arena.take(bytes);
        }
        assert_eq!(arena.memory.as_ptr(), memory);
        assert!(arena.outgrown.is_empty());
    }
}
