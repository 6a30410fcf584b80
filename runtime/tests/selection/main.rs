//! Files of rules, what the environment says, and what is chosen.

#![cfg(feature = "profile")]

mod catalogue;
mod choices;
mod environment;
mod files;
mod oracle;
mod rules;
