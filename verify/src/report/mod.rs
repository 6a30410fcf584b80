//! Output for people: rounds, pictures, curves, tables, progress.

pub mod drawing;
pub mod highlight;
pub mod picture;
pub mod plot;
pub mod rounds;
pub mod run;
pub mod table;
pub mod units;
