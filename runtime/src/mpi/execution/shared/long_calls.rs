//! Alltoallvs that MPI serves because they are long, which ranks find out only by asking each other.

/// The most calls in a row about which ranks do not ask.
const MOST: u32 = 256;

/// How many of the next alltoallvs MPI serves without a question: after each long one twice as many as before, until
/// one is short. All ranks learn the same of each call, so all count alike.
#[derive(Debug, Default)]
pub(crate) struct LongCalls {
    left: u32,
    last: u32,
}

impl LongCalls {
    /// Whether MPI serves the next call without a question. Counts it.
    #[inline]
    pub(crate) fn passes(&mut self) -> bool {
        let passes = self.left > 0;
        self.left -= u32::from(passes);
        passes
    }

    /// Notes whether a call about which ranks have asked was long.
    pub(crate) fn note(&mut self, long: bool) {
        self.last = if long { (2 * self.last).clamp(1, MOST) } else { 0 };
        self.left = self.last;
    }
}

#[cfg(test)]
mod tests {
    use super::LongCalls;

    #[test]
    fn programs_with_long_calls_are_rarely_asked() {
        let mut calls = LongCalls::default();
        let asked: Vec<usize> = (0..1000)
            .filter(|_| {
                !calls.passes() && {
                    calls.note(true);
                    true
                }
            })
            .collect();
        assert_eq!(asked, [0, 2, 5, 10, 19, 36, 69, 134, 263, 520, 777]);
    }

    #[test]
    fn a_short_call_ends_the_pause() {
        let mut calls = LongCalls::default();
        (0..10).for_each(|_| calls.note(true));
        calls.note(false);
        assert!(!calls.passes());
        calls.note(true);
        assert!(calls.passes() && !calls.passes());
    }
}
