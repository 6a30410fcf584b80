//! Aligns the rounds of all ranks.

use super::{Afterwards, Event, RankLog, Trace};

/// One rank and its position among its events.
struct LockstepRank {
    log: RankLog,
    /// The next event.
    next: usize,
    /// The number of rounds passed, and the end of each among the messages, including silent rounds.
    passed: usize,
    ends: Vec<usize>,
    /// What inner collectives have left after the rounds passed.
    afterwards: Vec<Afterwards>,
    /// The number of groups it is in.
    depth: usize,
}

impl LockstepRank {
    fn new(log: RankLog) -> Self {
        let mut walk = LockstepRank { log, next: 0, passed: 0, ends: Vec::new(), afterwards: Vec::new(), depth: 0 };
        walk.note();
        walk
    }

    fn event(&self) -> Option<Event> {
        self.log.events.get(self.next).copied()
    }

    /// Adds its own next round, or a silent one.
    fn round(&mut self, own: bool) {
        if own {
            self.ends.push(self.log.ends[self.passed]);
            self.passed += 1;
            self.next += 1;
            self.note();
        } else {
            self.ends.push(self.ends.last().copied().unwrap_or(0));
        }
    }

    /// Notes what inner collectives have left after its own last round, among the rounds of all ranks.
    fn note(&mut self) {
        let now = self.log.afterwards.iter().filter(|one| one.before == self.passed);
        self.afterwards.extend(now.map(|one| Afterwards { before: self.ends.len(), ..one.clone() }));
    }

    fn finish(self) -> RankLog {
        let events = vec![Event::Round; self.ends.len()];
        RankLog { ends: self.ends, events, afterwards: self.afterwards, ..self.log }
    }
}

pub(super) fn lockstep(ranks: Vec<RankLog>) -> Trace {
    if ranks.iter().all(|log| log.events.iter().all(|event| *event == Event::Round)) {
        let rounds = ranks.iter().map(RankLog::rounds).max().unwrap_or(0);
        return Trace { ranks, own: (0..rounds).collect() };
    }
    let (mut walks, mut own): (Vec<LockstepRank>, _) =
        (ranks.into_iter().map(LockstepRank::new).collect(), Vec::new());
    while walks.iter().any(|walk| walk.event().is_some()) {
        step(&mut walks, &mut own);
    }
    Trace { ranks: walks.into_iter().map(LockstepRank::finish).collect(), own }
}

/// Advances the ranks in the innermost groups by one event: rounds first, then nested groups, then the exits.
fn step(walks: &mut [LockstepRank], own: &mut Vec<usize>) {
    let waits = |walk: &LockstepRank, depth: usize| walk.depth == depth && walk.event().is_some();
    let depth = walks.iter().filter(|walk| walk.event().is_some()).map(|walk| walk.depth).max().unwrap_or(0);
    let has = |walk: &LockstepRank, event: Event| waits(walk, depth) && walk.event() == Some(event);
    if walks.iter().any(|walk| has(walk, Event::Round)) {
        if depth == 0 {
            own.extend(walks.first().map(|walk| walk.ends.len()));
        }
        walks.iter_mut().for_each(|walk| {
            let own = has(walk, Event::Round);
            walk.round(own);
        });
        return;
    }
    let (event, deeper) = if walks.iter().any(|walk| has(walk, Event::Enter)) {
        (Event::Enter, depth + 1)
    } else {
        (Event::Leave, depth.saturating_sub(1))
    };
    for walk in walks.iter_mut().filter(|walk| has(walk, event)) {
        walk.depth = deeper;
        walk.next += 1;
    }
}
