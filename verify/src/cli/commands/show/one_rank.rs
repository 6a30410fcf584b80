//! What one rank of many sends and receives, without the others.

use crate::alone::{self, AloneMessage, AloneRound};
use crate::cli::ShowArgs;
use crate::cli::commands::{CommandOutcome, counted, print, print_json};
use crate::error::Error;
use crate::named::NamedCollective;
use crate::params::Params;
use crate::report::table::{Align, Cell, FAINT, HEADING, Table};
use roundel_spec::{Kind, Placement};
use serde::Serialize;
use std::fmt::Write;

/// The largest number of rounds that text shows, and how many of these are the last ones.
const SHOWN: usize = 200;
const LAST: usize = 20;

/// One rank, for JSON output.
#[derive(Serialize)]
struct RankReport {
    name: String,
    p: usize,
    ppn: usize,
    params: Params,
    rank: usize,
    rounds: Vec<AloneRound>,
    #[serde(skip)]
    kind: Option<Kind>,
    #[serde(skip)]
    blocks: usize,
}

pub(super) fn show(
    collectives: &[NamedCollective],
    args: &ShowArgs,
    rank: usize,
    json: bool,
) -> Result<CommandOutcome, Error> {
    let reports: Vec<RankReport> = collectives.iter().map(|one| report(one, args, rank)).collect::<Result<_, _>>()?;
    match reports.as_slice() {
        [one] if json => print_json(one)?,
        several if json => print_json(&several)?,
        all => {
            let texts: Vec<String> =
                all.iter().zip(collectives).map(|(report, one)| text(report, one, args)).collect::<Result<_, _>>()?;
            print(&texts.join("\n"))?;
        }
    }
    Ok(CommandOutcome::Fine)
}

fn placement(args: &ShowArgs) -> Result<Placement, Error> {
    if args.p > alone::MAX_P {
        return Err(Error::Ranks { p: args.p, limit: alone::MAX_P, reason: "every rank is placed one by one" });
    }
    args.placing.of(args.p)
}

fn report(collective: &NamedCollective, args: &ShowArgs, rank: usize) -> Result<RankReport, Error> {
    let p = args.p;
    if rank >= p {
        return Err(Error::NoSuchRank { rank, p });
    }
    let (schedule, placement) = (collective.schedule(), placement(args)?);
    let params = Params::resolve(collective.name(), &schedule, &args.set)?;
    let (rounds, blocks) = collective
        .with_rounds(&params.args, &placement, |source| Ok((alone::rounds(source, rank)?, source.blocks())))?;
    let (name, ppn) = (collective.name().into(), placement.ppn());
    Ok(RankReport { name, p, ppn, params, rank, rounds, kind: Some(schedule.kind), blocks })
}

fn text(report: &RankReport, collective: &NamedCollective, args: &ShowArgs) -> Result<String, Error> {
    let RankReport { name, p, ppn, rank, rounds, .. } = report;
    let placement = placement(args)?;
    let mut case = vec![format!("p = {p}")];
    case.extend((ppn < p).then(|| format!("ppn = {ppn}")));
    case.extend(report.params.named().into_iter().map(|(name, value)| format!("{name} = {value}")));
    let mut out = format!("{HEADING}{name}{HEADING:#}  {}\n", case.join(", "));
    let _ = writeln!(out, "{FAINT}{}{FAINT:#}\n\n{HEADING}rank {rank}{HEADING:#}", collective.summary());
    let mut table = Table::new(["round", "sends", "receives"].map(|head| (head, Align::Left)));
    for (at, round) in rounds.iter().enumerate() {
        if rounds.len() > SHOWN && (SHOWN - LAST..rounds.len() - LAST).contains(&at) {
            if at == SHOWN - LAST {
                table.row([Cell::from("…")]);
            }
            continue;
        }
        let side = |messages: &[AloneMessage], word: &str| {
            let one = |message: &AloneMessage| {
                let away = if placement.nonlocal(*rank, message.peer) { " (other node)" } else { "" };
                let blocks = message.text(report.kind.unwrap_or(Kind::Allgather), *p, report.blocks);
                format!("{blocks} {word} {}{away}", message.peer)
            };
            let few: Vec<String> = messages.iter().take(8).map(one).collect();
            match messages.len() {
                0 => "-".to_string(),
                many if many > 8 => format!("{}; … ({many} messages)", few.join("; ")),
                _ => few.join("; "),
            }
        };
        table.row([Cell::from(round.round), side(&round.sends, "to").into(), side(&round.receives, "from").into()]);
    }
    out += &table.to_string();
    let sent = rounds.iter().flat_map(|round| &round.sends);
    let (messages, blocks) = sent.fold((0i64, 0i64), |(n, sum), message| (n + 1, sum + message.blocks as i64));
    let proved = match collective.proved(&report.params.args, &placement) {
        Ok(()) => format!("proved for {}", collective.proved_range()?),
        Err(_) => format!("not proved here, only for {}", collective.proved_range()?),
    };
    let _ = writeln!(
        out,
        "\n{} with messages of this rank, {} and {} sent; the other ranks were not looked at; {proved}",
        counted(rounds.len() as i64, "round"),
        counted(messages, "message"),
        counted(blocks, "block"),
    );
    Ok(out)
}
