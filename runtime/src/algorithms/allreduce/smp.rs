use crate::Collective;

/// Hierarchical allreduce: nodes reduce to their leaders, which run recursive doubling and broadcast the result.
///
/// Within nodes, both directions follow a binomial tree. If the number of nodes is not a power of two, the leaders of
/// the first `2 rem` nodes fold in pairs, and the second of each pair takes part for both. Operands stay in the order
/// of ranks.
///
/// Domain: any p, any placement. Cost: a leader sends at most floor(log2 nodes) + 1 messages to other nodes, other
/// ranks none. MPI libraries call this an SMP allreduce: Eq. 5 of Bienz, Olson, Gropp: Node-Aware Improvements to
/// Allreduce, ExaMPI 2019.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[order(same_tree, rank_order)]
#[define(
    w = floor_log(2, nodes), rem = nodes - pow(2, w), leads = local == 0,
    folded = node < 2 * rem, gives = folded && node % 2 == 0, takes = folded && node % 2 == 1,
    v = if folded { node / 2 } else { node - rem }, real(u) = if u < rem { 2 * u + 1 } else { u + rem },
    // Those of its node whose contributions a rank has that is no leader.
    behind = if leads { 0 } else { min(local & -local, ppn - local) }
)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(sends = local % (2 * D) == D, receives = local % (2 * D) == 0 && local + D < ppn)]
#[send(when = sends, to = at(node, local - D))]
#[recv(when = receives, from = at(node, local + D), combine = right)]
#[define(reach = if local % D == 0 { D } else { local & -local })]
#[holds(D == pow(2, s), acc = [at(node, k); k in local..min(local + reach, ppn)], nonlocal_messages_sent = 0)]
#[round("fold")]
#[send(when = leads && gives, to = at(node + 1, 0))]
#[recv(when = leads && takes, from = at(node - 1, 0), combine = left)]
#[holds(acc = [region(g); g in if takes { node - 1 } else { node }..if leads { node + 1 } else { 0 }]
    + [at(node, local + k); k in 0..behind])]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[exchange(when = leads && !gives, with = at(real(v ^ D), 0), combine = by_rank)]
#[define(lo = v / D * D, first(u) = if u < rem { 2 * u } else { u + rem })]
#[define(from = if gives { node } else { first(lo) }, upto = if gives { node + 1 } else { first(lo + D) })]
#[holds(D == pow(2, s), acc = [region(g); g in from..if leads { upto } else { 0 }] + [at(node, local + k); k in 0..behind])]
#[holds(nonlocal_messages_sent = if !leads { 0 } else if gives { 1 } else { s })]
#[round("unfold")]
#[send(when = leads && takes, to = at(node - 1, 0))]
#[recv(when = leads && gives, from = at(node + 1, 0), replaces = acc)]
#[holds(acc = [region(g); g in 0..if leads { nodes } else { 0 }] + [at(node, local + k); k in 0..behind])]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(when = local < D && local + D < ppn, to = at(node, local + D))]
#[recv(when = D <= local && local < 2 * D, from = at(node, local - D), replaces = acc)]
// For the checks and the prover:
#[define(done = local < D, sent = if takes { w + 1 } else if gives { 1 } else { w })]
#[holds(D == pow(2, s), acc = [region(g); g in 0..if done { nodes } else { 0 }]
    + [at(node, local + k); k in 0..if done { 0 } else { behind }])]
#[holds(nonlocal_messages_sent = if leads { sent } else { 0 })]
#[bound(nonlocal_rounds = w + if rem > 0 { 2 } else { 0 })]
#[unproved_bound(node nonlocal_messages_sent <= w + if rem > 0 { 1 } else { 0 })]
#[bound(nonlocal_messages_sent <= w + if rem > 0 { 1 } else { 0 })]
#[bound(each nonlocal_messages_sent <= if local > 0 { 0 } else if gives { 1 } else { w + 1 })]
#[check(p <= 24)]
pub struct SmpAllreduce;
