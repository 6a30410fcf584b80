use roundel::Collective;

// Locality-aware Bruck that fetches as many nodes' blocks in the last round as before.
#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[requires(lanes > 1)]
#[round]
#[within(node, inner)]
#[round(i in 0..ceil_log(lanes, nodes))]
#[state(H = 1, next = lanes * H)]
#[define(get(l) = if 0 < l && l < lanes && l * H < nodes { H } else { 0 })]
#[send(to = at(node - local * H, local), blocks = [region(node + k); k in 0..get(local)])]
#[recv(from = at(node + local * H, local), blocks = [region(node + local * H + k); k in 0..get(local)])]
#[within(node, inner, brings = [region(node + local * H + k); k in 0..get(local)])]
#[check(p <= 24)]
pub struct Grouped<I> {
    pub inner: I,
}

fn main() {}
