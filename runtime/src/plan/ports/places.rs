//! Assigns lines to memory: as few slots as possible, with results in the output.
//!
//! Time is counted in ticks: one for all messages of a step, and one for each combination after them. A place is free
//! for an arrival if its last use was before the messages, and for a computed value if its last use is at latest the
//! combination itself. The output may hold other lines until its result is computed.

use super::pattern::Pattern;
use crate::plan::{INPUT, OUTPUT};

/// The times of places that were never used, and of those that are never free.
const NEVER: i64 = -1;
const FOREVER: i64 = i64::MAX;

/// Assigns the lines of a pattern to lines of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinePlaces {
    /// The memory line of each line of the pattern.
    pub(super) lines: Vec<u32>,
    /// The memory line of each arrival.
    pub(super) arrivals: Vec<u32>,
    /// The number of memory lines.
    pub(super) count: usize,
}

/// The times at which lines are made and last used.
struct Times {
    made: Vec<i64>,
    used: Vec<i64>,
}

impl Times {
    fn new(pattern: &Pattern) -> Self {
        let mut times = Times { made: vec![NEVER; pattern.lines.len()], used: vec![NEVER; pattern.lines.len()] };
        let mut tick = 0;
        for step in &pattern.steps {
            let messages = tick;
            for line in pattern.made(step) {
                pattern.received(line).iter().for_each(|arrival| times.used[arrival.line as usize] = messages);
            }
            for line in pattern.made(step) {
                times.made[line as usize] = messages;
                if let Some(own) = pattern.line(line).own {
                    times.made[line as usize] = tick + 1;
                    times.used[own as usize] = times.used[own as usize].max(tick + 1);
                    tick += pattern.received(line).len() as i64;
                }
            }
            tick += 1;
        }
        pattern.results.iter().for_each(|&line| times.used[line as usize] = FOREVER);
        times
    }
}

/// Until when each place of each fraction is in use; the output is the first place.
struct OccupancyTable {
    until: Vec<Vec<i64>>,
    /// Until when other values may use the output.
    output: Vec<i64>,
    count: usize,
}

impl OccupancyTable {
    fn new(pattern: &Pattern, times: &Times) -> Self {
        let mut output = vec![NEVER; pattern.fractions()];
        for &line in &pattern.results {
            let made = times.made[line as usize];
            output[pattern.line(line).fraction as usize] =
                if pattern.line(line).own.is_some() { made } else { made - 1 };
        }
        OccupancyTable { until: vec![Vec::new(); output.len()], output, count: 2 }
    }

    /// A place for a value that arrives or is made at time `at` and is used until time `until`.
    fn take(&mut self, fraction: u32, at: i64, arrives: bool, until: i64) -> u32 {
        let (places, output) = (&mut self.until[fraction as usize], self.output[fraction as usize]);
        let free = |used: i64| used == NEVER || used < at || used == at && !arrives;
        let fits = |place: usize| place > 0 || until == FOREVER || until <= output;
        let found = (0..places.len()).find(|&place| fits(place) && free(places[place]));
        let place = found.unwrap_or_else(|| places.len() + !fits(places.len()) as usize);
        places.resize(places.len().max(place + 1), NEVER);
        places[place] = until;
        self.count = self.count.max(place + 2);
        place as u32 + OUTPUT
    }
}

impl LinePlaces {
    pub(super) fn new(pattern: &Pattern) -> Self {
        let times = Times::new(pattern);
        let mut table = OccupancyTable::new(pattern, &times);
        let mut places = LinePlaces {
            lines: vec![INPUT; pattern.lines.len()],
            arrivals: vec![INPUT; pattern.received.len()],
            count: 0,
        };
        let mut tick = 0;
        for step in &pattern.steps {
            let messages = tick;
            for line in pattern.made(step) {
                tick = places.arrive(pattern, &times, &mut table, line, messages, tick);
            }
            for line in pattern.made(step).filter(|&line| pattern.line(line).own.is_some()) {
                let (made, used) = (times.made[line as usize], times.used[line as usize]);
                places.lines[line as usize] = table.take(pattern.line(line).fraction, made, false, used);
            }
            tick += 1;
        }
        places.count = table.count;
        places
    }

    /// Assigns places to the arrivals for a line. Returns the time after they are combined.
    fn arrive(
        &mut self,
        pattern: &Pattern,
        times: &Times,
        table: &mut OccupancyTable,
        line: u32,
        at: i64,
        tick: i64,
    ) -> i64 {
        let (fraction, arrive) = (pattern.line(line).fraction, pattern.line(line).received.clone());
        if pattern.line(line).own.is_none() {
            let place = table.take(fraction, at, true, times.used[line as usize]);
            self.lines[line as usize] = place;
            arrive.for_each(|arrival| self.arrivals[arrival as usize] = place);
            return tick;
        }
        let combined = arrive.clone().zip(tick + 1..);
        combined.for_each(|(arrival, until)| self.arrivals[arrival as usize] = table.take(fraction, at, true, until));
        tick + arrive.len() as i64
    }
}
