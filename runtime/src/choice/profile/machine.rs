//! Describes the machine that a profile was measured on.

use std::fs::read_to_string;
use std::time::{SystemTime, UNIX_EPOCH};

/// The properties that tell one machine from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The host that wrote the profile. The nodes of a machine have different names.
    pub host: String,
    /// The number of processors of a node.
    pub cores: usize,
    /// The processor model.
    pub cpu: String,
    /// The version text of the MPI library; empty if unknown.
    pub mpi: String,
    /// The date, as in `2026-11-15`.
    pub date: String,
    /// The number of nodes that took part.
    pub nodes: usize,
    /// The number of processes that took part.
    pub ranks: usize,
}

impl Machine {
    /// This machine, today, with this MPI library.
    pub fn here(mpi: &str) -> Self {
        let cpus = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Machine { mpi: line(mpi), host: host(), date: date(seconds / 86_400), nodes: 1, ranks: 1, ..of_cpus(&cpus) }
    }

    /// The first property in which a profile of `self` does not fit `other`: its key, the value of `self` and the
    /// value of `other`. Hosts, dates and numbers of processes may differ, and unknown properties are ignored.
    pub fn differs(&self, other: &Machine) -> Option<(&'static str, String, String)> {
        let quoted = |text: &str| format!("`{text}`");
        let known = |mine: &str, others: &str| !mine.is_empty() && !others.is_empty() && mine != others;
        if known(&self.cpu, &other.cpu) {
            return Some(("cpu", quoted(&self.cpu), quoted(&other.cpu)));
        }
        if self.cores != other.cores && self.cores > 0 && other.cores > 0 {
            return Some(("cores", self.cores.to_string(), other.cores.to_string()));
        }
        known(&self.mpi, &other.mpi).then(|| ("mpi", quoted(&self.mpi), quoted(&other.mpi)))
    }
}

/// The processors of a machine, from Linux's description; unknown on other systems.
fn of_cpus(text: &str) -> Machine {
    let field =
        |line: &str| line.split_once(':').map(|(key, value)| (key.trim().to_string(), value.trim().to_string()));
    let fields: Vec<_> = text.lines().filter_map(field).collect();
    let cpu = fields.iter().find(|(key, _)| key == "model name").map(|(_, value)| line(value));
    let cores = fields.iter().filter(|(key, _)| key == "processor").count();
    Machine { cores, cpu: cpu.unwrap_or_default(), ..Machine::default() }
}

fn host() -> String {
    let file = read_to_string("/proc/sys/kernel/hostname");
    line(&file.or_else(|_| std::env::var("HOSTNAME")).unwrap_or_default())
}

/// The first line, without characters that a file cannot hold.
fn line(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    first.chars().filter(|c| !c.is_control()).take(120).collect::<String>().trim().to_string()
}

/// The date that is `days` days after 1 January 1970, in the Gregorian calendar.
fn date(days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while month < 11 && left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let dates = [0, 58, 59, 364, 365, 789, 11_016, 20_772].map(date);
        let expected = [
            "1970-01-01",
            "1970-02-28",
            "1970-03-01",
            "1970-12-31",
            "1971-01-01",
            "1972-02-29",
            "2000-02-29",
            "2026-11-15",
        ];
        assert_eq!(dates, expected);
    }

    #[test]
    fn processors_are_counted() {
        let text = "processor\t: 0\nmodel name\t: Fast One\n\nprocessor\t: 1\nmodel name\t: Fast One\n";
        let machine = of_cpus(text);
        assert_eq!((machine.cores, machine.cpu.as_str()), (2, "Fast One"));
        assert_eq!(of_cpus("garbage"), Machine::default());
    }

    #[test]
    fn machines_differ_in_what_matters() {
        let one = Machine { cpu: "A".into(), cores: 4, mpi: "M".into(), host: "h1".into(), ..Machine::default() };
        let same = Machine { host: "h2".into(), mpi: String::new(), ..one.clone() };
        assert_eq!((one.differs(&same), same.differs(&one)), (None, None));
        let other = Machine { cpu: "B".into(), ..one.clone() };
        assert_eq!(one.differs(&other), Some(("cpu", "`A`".into(), "`B`".into())));
        assert_eq!(one.differs(&Machine { cores: 8, ..one.clone() }), Some(("cores", "4".into(), "8".into())));
        assert_eq!(one.differs(&Machine { mpi: "N".into(), ..one.clone() }).map(|found| found.0), Some("mpi"));
    }
}
