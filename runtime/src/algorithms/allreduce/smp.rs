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
    t = pow(2, floor_log(2, nodes)), rem = nodes - t, leads = local == 0,
    folded = node < 2 * rem, gives = folded && node % 2 == 0, takes = folded && node % 2 == 1,
    v = if folded { node / 2 } else { node - rem }, real(u) = if u < rem { 2 * u + 1 } else { u + rem }
)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(sends = local % (2 * D) == D, receives = local % (2 * D) == 0 && local + D < ppn)]
#[send(when = sends, to = at(node, local - D))]
#[recv(when = receives, from = at(node, local + D), combine = right)]
#[round("fold")]
#[send(when = leads && gives, to = at(node + 1, 0))]
#[recv(when = leads && takes, from = at(node - 1, 0), combine = left)]
#[round(s in 0..floor_log(2, nodes))]
#[state(D = 1, next = 2 * D)]
#[exchange(when = leads && !gives, with = at(real(v ^ D), 0), combine = by_rank)]
#[round("unfold")]
#[send(when = leads && takes, to = at(node - 1, 0))]
#[recv(when = leads && gives, from = at(node + 1, 0), replaces = acc)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(when = local < D && local + D < ppn, to = at(node, local + D))]
#[recv(when = D <= local && local < 2 * D, from = at(node, local - D), replaces = acc)]
// For the checks and the prover:
#[bound(nonlocal_rounds = floor_log(2, nodes) + if rem > 0 { 2 } else { 0 })]
#[checked(node nonlocal_messages_sent <= floor_log(2, nodes) + if rem > 0 { 1 } else { 0 })]
#[bound(nonlocal_messages_sent <= floor_log(2, nodes) + if rem > 0 { 1 } else { 0 })]
#[bound(each nonlocal_messages_sent <= if local > 0 { 0 } else if gives { 1 } else { floor_log(2, nodes) + 1 })]
#[check(p <= 24)]
pub struct SmpAllreduce;
