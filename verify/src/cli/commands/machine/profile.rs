//! `roundel profile`: shows a profile.

use crate::cli::commands::{CommandOutcome, counted, print, print_json};
use crate::cli::{CheckProfileArgs, ProfileCommand};
use crate::error::Error;
use crate::report::table::{Align, Cell, FAINT, HEADING, Table};
use crate::report::units::{rate, time};
use roundel::profile::{Grid, Machine, Profile};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// A profile, for JSON output.
#[derive(Serialize)]
struct ProfileReport<'a> {
    host: &'a str,
    cores: usize,
    cpu: &'a str,
    mpi: &'a str,
    date: &'a str,
    nodes: usize,
    ranks: usize,
    fingerprint: String,
    inside_measured: bool,
    between_measured: bool,
}

/// Runs a subcommand.
pub(crate) fn profile(command: &ProfileCommand, json: bool) -> Result<CommandOutcome, Error> {
    match command {
        ProfileCommand::Check(args) => check(args, json),
    }
}

fn check(args: &CheckProfileArgs, json: bool) -> Result<CommandOutcome, Error> {
    let profile = read(&args.file, args.foreign)?;
    if json {
        print_json(&said(&profile))?;
    } else {
        print(&text(&profile))?;
    }
    Ok(CommandOutcome::Fine)
}

/// Reads a profile of this machine, or of any machine.
pub(crate) fn read(path: &Path, foreign: bool) -> Result<Profile, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
    // It is not known here which MPI will be used.
    let read = if foreign { Profile::parse(&text) } else { Profile::parse_for(&text, &Machine::here("")) };
    read.map_err(|source| Error::Profile { path: path.into(), source })
}

/// Where and when it was measured, in short.
pub(crate) fn measured(profile: &Profile) -> String {
    let Machine { host, date, nodes, ranks, .. } = &profile.machine;
    let (ranks, nodes) = (counted(*ranks as i64, "rank"), counted(*nodes as i64, "node"));
    format!("measured on {host}, {date}, with {ranks} on {nodes}")
}

fn said(profile: &Profile) -> ProfileReport<'_> {
    let machine = &profile.machine;
    ProfileReport {
        host: &machine.host,
        cores: machine.cores,
        cpu: &machine.cpu,
        mpi: &machine.mpi,
        date: &machine.date,
        nodes: machine.nodes,
        ranks: machine.ranks,
        fingerprint: format!("{:016x}", profile.fingerprint()),
        inside_measured: profile.inside.is_measured(),
        between_measured: profile.between.is_measured(),
    }
}

pub(crate) fn text(profile: &Profile) -> String {
    let Machine { cores, cpu, mpi, .. } = &profile.machine;
    let (node, contention) = (&profile.node, &profile.contention);
    let mut out = format!("{}\n{FAINT}{cores} cores, {cpu}; {mpi}{FAINT:#}\n\n", measured(profile));
    let (copy, combine) = (rate(node.copy), rate(node.combine));
    let _ = writeln!(out, "a counter is answered after {}, copies {copy}, reductions {combine}", time(node.signal));
    let _ = writeln!(
        out,
        "when {} processes of every node send at once, short rounds take {:.2} and long ones {:.2} times as long",
        contention.lanes, contention.short, contention.long
    );
    for (name, grid) in [("inside of nodes", &profile.inside), ("between nodes", &profile.between)] {
        let said = if grid.is_measured() { "" } else { ": not measured, so this is the default" };
        let _ = write!(out, "\n{HEADING}{name}{HEADING:#}{said}\n{}", table(grid));
    }
    let _ = writeln!(out, "\n{FAINT}fingerprint {:016x}{FAINT:#}", profile.fingerprint());
    out
}

/// Seconds by size and by number of concurrent messages.
fn table(grid: &Grid) -> Table {
    let ports: Vec<String> = grid.ports().iter().map(|ports| format!("x{ports}")).collect();
    let heads = ["bytes"].into_iter().chain(ports.iter().map(String::as_str));
    let mut table = Table::new(heads.map(|head| (head, Align::Right)));
    for (i, size) in grid.sizes().iter().enumerate() {
        let times = grid.rows().iter().map(|row| Cell::from(time(row[i])));
        table.row([Cell::from(size)].into_iter().chain(times));
    }
    table
}
