//! The machine that is simulated: a profile, or LogGPS with the levels of a network.

use super::SimulationError;
use super::topology::Topology;
use crate::error::Error;
use crate::report::units::{self, Seconds};
use roundel::clock::LogGps;
use roundel::profile::Profile;
use std::fmt;
use std::str::FromStr;

/// A machine.
#[derive(Clone, Debug)]
pub enum SimulatedMachine {
    /// The times of rounds, as `roundel tune` measures them.
    Profile(Box<Profile>),
    /// The times of single messages.
    Messages {
        /// The six numbers.
        numbers: LogGps,
        /// The levels of the network, if they differ.
        topology: Option<Topology>,
    },
}

impl SimulatedMachine {
    /// The levels of the network.
    pub fn topology(&self) -> Option<&Topology> {
        match self {
            SimulatedMachine::Profile(_) => None,
            SimulatedMachine::Messages { topology, .. } => topology.as_ref(),
        }
    }
}

impl fmt::Display for SimulatedMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulatedMachine::Profile(profile) => write!(f, "profile of {}", profile.machine.host),
            SimulatedMachine::Messages { numbers, topology } => {
                write!(f, "LogGPS {}", GivenNumbers(*numbers))?;
                let levels = topology.iter().flat_map(|topology| &topology.levels);
                let names: Vec<&str> = levels.map(|level| level.name.as_str()).collect();
                if names.is_empty() { Ok(()) } else { write!(f, "; levels {}", names.join(", ")) }
            }
        }
    }
}

/// The numbers of a machine as users write them: `L=2us,o=0.5us,g=0.1us,G=0.08ns,O=0,S=8192`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenNumbers(pub LogGps);

/// The largest time of each number, in seconds.
const MOST: f64 = 1e3;

impl FromStr for GivenNumbers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |what: String| Error::from(SimulationError::LogGps { what });
        let mut numbers =
            LogGps { latency: 0.0, overhead: 0.0, gap: 0.0, byte_gap: 0.0, byte_overhead: 0.0, eager: u64::MAX };
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (name, value) = part.split_once('=').ok_or_else(|| wrong(format!("`{part}` has no `=`")))?;
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return Err(wrong(format!("`{name}` is there twice")));
            }
            seen.push(name);
            if name == "S" {
                numbers.eager = value.parse().map_err(|_| wrong(format!("`{value}` is no number of bytes")))?;
                continue;
            }
            let slot = match name {
                "L" => &mut numbers.latency,
                "o" => &mut numbers.overhead,
                "g" => &mut numbers.gap,
                "G" => &mut numbers.byte_gap,
                "O" => &mut numbers.byte_overhead,
                other => return Err(wrong(format!("there is no `{other}`, only L, o, g, G, O and S"))),
            };
            let Seconds(time) = value.parse().map_err(|error: Error| wrong(error.to_string()))?;
            // NaN lies in no range.
            if !(0.0..=MOST).contains(&time) {
                return Err(wrong(format!("`{name}` is {value}, and times lie in 0..={MOST} seconds")));
            }
            *slot = time;
        }
        Ok(GivenNumbers(numbers))
    }
}

impl fmt::Display for GivenNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogGps { latency, overhead, gap, byte_gap, byte_overhead, eager } = self.0;
        let times = [("L", latency), ("o", overhead), ("g", gap), ("G", byte_gap), ("O", byte_overhead)];
        for (name, time) in times {
            write!(f, "{name} = {}, ", units::time(time))?;
        }
        match eager {
            u64::MAX => write!(f, "S = none"),
            eager => write!(f, "S = {eager} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        let read = |text: &str| text.parse::<GivenNumbers>().map(|given| given.0).ok();
        let all = read("L=2us, o=0.5us,g=1e-7,G=0.5ns,O=0,S=8192").expect("is right");
        assert_eq!((all.latency, all.overhead, all.gap, all.eager), (2e-6, 0.5e-6, 1e-7, 8192));
        assert_eq!((all.byte_gap, all.byte_overhead), (0.5e-9, 0.0));
        let few = read("L=1").expect("is right");
        assert_eq!((few.latency, few.overhead, few.eager), (1.0, 0.0, u64::MAX));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("", "`` has no `=`"),
            ("L", "`L` has no `=`"),
            ("L=1us,L=2us", "`L` is there twice"),
            ("l=1us", "there is no `l`"),
            ("L=-1us", "`L` is -1us, and times lie in 0..=1000 seconds"),
            ("L=nan", "times lie in"),
            ("L=inf", "times lie in"),
            ("L=fast", "`fast` is no time"),
            ("S=-1", "`-1` is no number of bytes"),
            ("S=1kB", "`1kB` is no number of bytes"),
        ] {
            let message = text.parse::<GivenNumbers>().expect_err(text).to_string();
            assert!(message.contains(words) && message.contains("write, for example"), "{message}");
        }
    }
}
