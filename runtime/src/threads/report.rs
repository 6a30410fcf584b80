//! The report of a deadlock: a line for each rank and each request that waits.

use super::member::{Activity, Member, OWN_CALLS, PostProgress, PostedOperation};
use std::collections::BTreeSet;

/// Which rank waits for which, in the order of ranks. Rounds count from 0, as the steps of a schedule do.
pub(super) fn report(members: &[Member], p: usize) -> String {
    let mut waiting: Vec<&Member> = members.iter().filter(|member| member.activity == Activity::Waits).collect();
    waiting.sort_by_key(|member| (member.rank, member.channel));
    let line = |member: &Member| match member.awaited {
        Some(request) => format!("rank {} waits for its request {}", member.rank, members[request].channel),
        None => line(member, &members[..p]),
    };
    waiting.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The operations that one rank or request waits for, and which of its peers are gone; peers that wait have their own
/// line.
fn line(member: &Member, ranks: &[Member]) -> String {
    let waits: Vec<(usize, String)> =
        member.posted.iter().filter_map(|posted| Some((posted.peer, wait(posted)?))).collect();
    let peers: BTreeSet<usize> = waits.iter().map(|(peer, _)| *peer).collect();
    let waits: Vec<String> = waits.into_iter().map(|(_, wait)| wait).collect();
    let gone: String = peers.into_iter().filter_map(|peer| gone(peer, ranks)).collect();
    let who = match member.channel {
        OWN_CALLS => format!("rank {}", member.rank),
        request => format!("request {request} of rank {}", member.rank),
    };
    format!("{who} ({}, round {}) waits {}{gone}", member.collective, member.round, enumerate(&waits))
}

/// Why a peer will never answer, unless it waits itself.
fn gone(peer: usize, ranks: &[Member]) -> Option<String> {
    match ranks.get(peer) {
        None => Some(format!("; there is no rank {peer}")),
        Some(member) if member.activity == Activity::Ended => Some(format!("; rank {peer} has finished")),
        Some(_) => None,
    }
}

/// The text for an incomplete operation.
fn wait(posted: &PostedOperation) -> Option<String> {
    let PostedOperation { peer, blocks, .. } = posted;
    let blocks = if *blocks == 1 { "1 block".into() } else { format!("{blocks} blocks") };
    match posted.progress {
        PostProgress::WaitsToSend => Some(format!("to send {blocks} to rank {peer}")),
        PostProgress::WaitsToReceive => Some(format!("to receive {blocks} from rank {peer}")),
        PostProgress::Sent | PostProgress::Received(_) => None,
    }
}

/// `a`, `a and b`, `a, b and c`.
fn enumerate(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.concat(),
    }
}
