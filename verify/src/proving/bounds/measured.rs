//! What a collective costs at every point of a range.

use roundel_spec::check::{self, Census, Point, Points};
use roundel_spec::eval::Env;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::Metric;
use roundel_spec::{Schedule, Violation};

/// The points of a range, and the costs there.
pub(super) struct Measured {
    points: Vec<Point>,
    censuses: Vec<Census>,
}

impl Measured {
    /// Measures a schedule. Its bounds do not matter, so that a wrong one does not keep the right one from being told.
    pub(super) fn of(schedule: &Schedule, points: &Points) -> Result<Self, Box<Violation>> {
        let bare = Schedule { bounds: Vec::new(), ..schedule.clone() };
        let mut all = Measured { points: Vec::new(), censuses: Vec::new() };
        for point in points.iter() {
            if let Some(passed) = check::at_point(&bare, &point)? {
                all.points.push(point);
                all.censuses.push(passed.census);
            }
        }
        Ok(all)
    }

    /// The largest amount of a metric over the ranks, at every point.
    pub(super) fn largest(&self, metric: Metric) -> Vec<i64> {
        self.censuses.iter().map(|census| census.max(metric)).collect()
    }

    /// The largest amount at the largest p.
    pub(super) fn example(&self, metric: Metric) -> i64 {
        let p = |point: &Point| point.placement.p();
        let most = self.points.iter().map(p).max();
        let there = self.points.iter().zip(&self.censuses).filter(|(point, _)| Some(p(point)) == most);
        there.map(|(_, census)| census.max(metric)).max().unwrap_or(0)
    }

    /// Whether all ranks use the same, at every point.
    pub(super) fn is_alike(&self, metric: Metric) -> bool {
        self.censuses
            .iter()
            .all(|census| census.ranks.iter().all(|usage| usage.get(metric, census.rounds) == census.max(metric)))
    }

    /// The values of an expression on the first rank, at every point.
    pub(super) fn values(&self, schedule: &Schedule, e: &Expr) -> Vec<Option<i64>> {
        let value = |point: &Point| Env::new(schedule, &point.args, &point.place(schedule, 0)).eval(e).ok();
        self.points.iter().map(value).collect()
    }
}
