//! Temporary.
use std::sync::atomic::{AtomicU32, Ordering};
/// Counter.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Counter(AtomicU32);
impl Counter {
    /// Raise.
    pub fn raise(&self) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }
    /// Has.
    pub fn has(&self, value: u32) -> bool {
        self.0.load(Ordering::Acquire).wrapping_sub(value) as i32 >= 0
    }
}
