//! A progress bar that appears only where it helps: on a terminal, for work that takes more than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A bar over a known amount of work. Shared between threads; removed when dropped.
#[derive(Debug)]
pub(crate) struct WorkProgress {
    bar: ProgressBar,
    start: Instant,
    wanted: AtomicBool,
}

impl WorkProgress {
    /// A bar that is hidden at first.
    pub(crate) fn new(total: usize, what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} ({eta} left)") {
            bar.set_style(style.progress_chars("=> "));
        }
        let bar = bar.with_message(what);
        WorkProgress { bar, start: Instant::now(), wanted: AtomicBool::new(std::io::stderr().is_terminal()) }
    }

    /// Reports that another piece of work is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
        if self.start.elapsed() > Duration::from_secs(1) && self.wanted.swap(false, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
