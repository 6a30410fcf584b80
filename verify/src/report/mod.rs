//! Output for people: rounds, pictures, curves, tables, progress.

pub mod highlight;
pub mod plot;
pub mod rounds;
pub mod run;
pub mod svg;
pub mod table;
pub mod units;
