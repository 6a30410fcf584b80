//! The times of rounds by length and number of messages, with interpolation between the points of the grid.

use super::logarithm::{exp2, log2};

/// The times of rounds in which a process exchanges messages of equal length with several others at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    sizes: Vec<u64>,
    ports: Vec<usize>,
    /// One row for each number of ports, with a time for each size.
    seconds: Vec<Vec<f64>>,
    measured: bool,
    /// Logarithms of sizes and of seconds.
    logs: Vec<f64>,
    log_seconds: Vec<Vec<f64>>,
}

/// Why a grid is invalid, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridFault {
    /// There are no sizes.
    NoSizes,
    /// A size is not larger than the one before, or is zero.
    Size {
        /// Its index.
        at: usize,
    },
    /// There are no ports, or they do not begin with 1.
    FirstPorts,
    /// A number of ports is not larger than the one before.
    Ports {
        /// Its index.
        at: usize,
    },
    /// The number of rows is not the number of port counts.
    Rows {
        /// The number of rows.
        found: usize,
    },
    /// The number of times in a row is not the number of sizes.
    Row {
        /// The index of the row.
        row: usize,
        /// The number of times in it.
        found: usize,
    },
    /// An invalid time.
    Seconds {
        /// The index of the row.
        row: usize,
        /// The index in the row.
        at: usize,
    },
}

/// The valid times, in seconds.
pub(super) const TIMES: std::ops::RangeInclusive<f64> = 1e-12..=1e6;

impl Grid {
    /// A measured grid: sizes of messages in bytes, numbers of messages at once, and for each of these a row with the
    /// seconds for every size.
    ///
    /// # Errors
    /// Returns why the grid is invalid.
    pub fn new(sizes: Vec<u64>, ports: Vec<usize>, seconds: Vec<Vec<f64>>) -> Result<Self, GridFault> {
        check(&sizes, &ports, &seconds)?;
        let logs = sizes.iter().map(|&size| log2(size as f64)).collect();
        let log_seconds = seconds.iter().map(|row| row.iter().map(|&time| log2(time)).collect()).collect();
        Ok(Grid { sizes, ports, seconds, measured: true, logs, log_seconds })
    }

    /// The sizes, in bytes, ascending.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The numbers of messages at once, from 1, ascending.
    pub fn ports(&self) -> &[usize] {
        &self.ports
    }

    /// The seconds: one row for each number of ports, with a time for each size.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.seconds
    }

    /// Whether it was measured; otherwise it has default values.
    pub const fn is_measured(&self) -> bool {
        self.measured
    }

    /// The same grid, marked as not measured. Only defaults are not measured.
    pub(super) fn assumed(self) -> Self {
        Grid { measured: false, ..self }
    }

    /// The seconds of a round with `ports` messages of `bytes` bytes at once.
    ///
    /// Between sizes, the logarithm of the time is linear in the logarithm of the size. Below the smallest size, the
    /// time is constant; beyond the largest, it grows with the last slope. Between numbers of ports and beyond the
    /// largest, the time is linear.
    pub fn seconds(&self, bytes: u64, ports: usize) -> f64 {
        if ports == 0 {
            return 0.0;
        }
        let last = self.ports.len() - 1;
        let above = self.ports.partition_point(|&known| known < ports);
        match above {
            _ if above <= last && self.ports[above] == ports => self.row(above, bytes),
            _ if last == 0 => self.row(0, bytes) * ports as f64,
            _ => self.between_rows(above.clamp(1, last), bytes, ports),
        }
    }

    /// Interpolates linearly between two rows; beyond the second one, the time does not decrease.
    fn between_rows(&self, above: usize, bytes: u64, ports: usize) -> f64 {
        let (few, many) = (self.ports[above - 1], self.ports[above]);
        let (low, high) = (self.row(above - 1, bytes), self.row(above, bytes));
        if ports > many {
            return high + ((high - low) / (many - few) as f64).max(0.0) * (ports - many) as f64;
        }
        low + (high - low) * ((ports - few) as f64 / (many - few) as f64)
    }

    fn row(&self, row: usize, bytes: u64) -> f64 {
        let (times, last) = (&self.seconds[row], self.sizes.len() - 1);
        let above = self.sizes.partition_point(|&size| size <= bytes);
        match above {
            0 => times[0],
            _ if above > last => times[last] + self.slope(row) * (bytes - self.sizes[last]) as f64,
            _ => self.between_sizes(row, above, bytes),
        }
    }

    fn between_sizes(&self, row: usize, above: usize, bytes: u64) -> f64 {
        let (low, times) = (above - 1, &self.log_seconds[row]);
        let part = (log2(bytes as f64) - self.logs[low]) / (self.logs[above] - self.logs[low]);
        self.seconds[row][low] * exp2((times[above] - times[low]) * part)
    }

    /// Seconds per byte beyond the largest size: the slope between the last two sizes or, if it is not usable, the
    /// average.
    fn slope(&self, row: usize) -> f64 {
        let (times, last) = (&self.seconds[row], self.sizes.len() - 1);
        let average = times[last] / self.sizes[last] as f64;
        match last.checked_sub(1) {
            Some(before) if times[last] > times[before] => {
                (times[last] - times[before]) / (self.sizes[last] - self.sizes[before]) as f64
            }
            _ => average,
        }
    }

    /// The position of a size between the smallest, 0, and the largest, 1, by its logarithm.
    pub(super) fn position(&self, bytes: u64) -> f64 {
        let (first, last) = (self.logs[0], self.logs[self.logs.len() - 1]);
        if last <= first {
            return 0.0;
        }
        ((log2(bytes.max(1) as f64) - first) / (last - first)).clamp(0.0, 1.0)
    }
}

fn check(sizes: &[u64], ports: &[usize], seconds: &[Vec<f64>]) -> Result<(), GridFault> {
    let first_size = sizes.first().ok_or(GridFault::NoSizes)?;
    let fail = |wrong: bool, fault: GridFault| if wrong { Err(fault) } else { Ok(()) };
    fail(*first_size == 0, GridFault::Size { at: 0 })?;
    let falls = sizes.windows(2).position(|pair| pair[1] <= pair[0]);
    falls.map_or(Ok(()), |before| Err(GridFault::Size { at: before + 1 }))?;
    fail(ports.first() != Some(&1), GridFault::FirstPorts)?;
    let falls = ports.windows(2).position(|pair| pair[1] <= pair[0]);
    falls.map_or(Ok(()), |before| Err(GridFault::Ports { at: before + 1 }))?;
    fail(seconds.len() != ports.len(), GridFault::Rows { found: seconds.len() })?;
    for (row, times) in seconds.iter().enumerate() {
        fail(times.len() != sizes.len(), GridFault::Row { row, found: times.len() })?;
        // NaN lies in no range.
        let odd = times.iter().position(|time| !TIMES.contains(time));
        odd.map_or(Ok(()), |at| Err(GridFault::Seconds { row, at }))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let seconds = vec![vec![1.0, 2.0, 8.0], vec![1.5, 3.0, 12.0], vec![3.0, 6.0, 24.0]];
        Grid::new(vec![8, 64, 512], vec![1, 2, 4], seconds).expect("makes sense")
    }

    #[test]
    fn measured_points_come_back() {
        let grid = grid();
        for (row, &ports) in grid.ports().iter().enumerate() {
            for (at, &size) in grid.sizes().iter().enumerate() {
                assert_eq!(grid.seconds(size, ports), grid.rows()[row][at]);
            }
        }
    }

    #[test]
    fn straight_lines_between_logarithms() {
        let grid = grid();
        // From 8 to 64, a factor of 8 in size is a factor of 2 in time: each doubling is the cube root of 2.
        assert!((grid.seconds(16, 1) - 2f64.cbrt()).abs() < 1e-6);
        assert!((grid.seconds(128, 1) - 2.0 * 4f64.cbrt()).abs() < 1e-6);
        assert_eq!(grid.seconds(64, 3), 4.5);
    }

    #[test]
    fn beyond_the_grid() {
        let grid = grid();
        assert_eq!((grid.seconds(0, 1), grid.seconds(1, 1), grid.seconds(8, 0)), (1.0, 1.0, 0.0));
        assert!((grid.seconds(512 + 448, 1) - 14.0).abs() < 1e-9);
        assert_eq!(grid.seconds(8, 6), 4.5);
        let flat = Grid::new(vec![10], vec![1], vec![vec![2.0]]).expect("makes sense");
        assert_eq!((flat.seconds(1, 1), flat.seconds(20, 1), flat.seconds(10, 3)), (2.0, 4.0, 6.0));
        let falling = Grid::new(vec![8, 16], vec![1, 2], vec![vec![2.0, 1.0], vec![1.0, 0.5]]);
        let falling = falling.expect("makes sense");
        assert_eq!((falling.seconds(32, 1), falling.seconds(8, 3)), (2.0, 1.0));
    }

    #[test]
    fn longer_messages_and_more_of_them_take_longer() {
        let grid = grid();
        let mut before = 0.0;
        for bytes in 0..5000 {
            let now = grid.seconds(bytes, 3);
            assert!(now >= before, "{bytes}");
            before = now;
        }
        assert!((1..20).all(|ports| grid.seconds(100, ports) <= grid.seconds(100, ports + 1)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let fault = |sizes: &[u64], ports: &[usize], rows: &[&[f64]]| {
            let rows = rows.iter().map(|row| row.to_vec()).collect();
            Grid::new(sizes.to_vec(), ports.to_vec(), rows).err()
        };
        assert_eq!(fault(&[], &[1], &[&[]]), Some(GridFault::NoSizes));
        assert_eq!(fault(&[0], &[1], &[&[1.0]]), Some(GridFault::Size { at: 0 }));
        assert_eq!(fault(&[8, 8], &[1], &[&[1.0, 1.0]]), Some(GridFault::Size { at: 1 }));
        assert_eq!(fault(&[8], &[], &[]), Some(GridFault::FirstPorts));
        assert_eq!(fault(&[8], &[2], &[&[1.0]]), Some(GridFault::FirstPorts));
        assert_eq!(fault(&[8], &[1, 1], &[&[1.0], &[1.0]]), Some(GridFault::Ports { at: 1 }));
        assert_eq!(fault(&[8], &[1, 2], &[&[1.0]]), Some(GridFault::Rows { found: 1 }));
        assert_eq!(fault(&[8], &[1], &[&[1.0, 2.0]]), Some(GridFault::Row { row: 0, found: 2 }));
        for odd in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(fault(&[8], &[1], &[&[odd]]), Some(GridFault::Seconds { row: 0, at: 0 }), "{odd}");
        }
    }
}
