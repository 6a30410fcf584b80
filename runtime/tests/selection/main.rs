//! Files of rules, settings in the environment, and choices.

#![cfg(feature = "profile")]

mod catalogue;
mod choices;
mod environment;
mod files;
mod oracle;
mod rules;
