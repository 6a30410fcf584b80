//! A user's own allgather, in a separate crate.
//!
//! The algorithm is not in the catalogue: a cyclic shift with any number of ports in each round. This page explains its
//! declaration line by line; [`CyclicShift`] is the whole of it.
//!
//! # The idea
//!
//! Before a round every rank holds `D` blocks: its own and the next ones upwards, around the ring of ranks. A machine
//! with several ports sends several messages at once, so in round `i` a rank communicates with `ports[i]` others: it
//! sends what it holds to the ranks `D`, `2 D`, … below it, and gets the following blocks from the ranks `D`, `2 D`, …
//! above it. Now it holds `ports[i] + 1` times as many. With one port in each round this is Bruck's algorithm.
//!
//! # The declaration
//!
//! It begins with the kind of the collective and its parameters, each with its domain. A parameter is a field of the
//! struct:
//!
//! ```text
//! #[collective(allgather, ports: list(1..))]
//! ```
//!
//! Rounds have an index, and *state* that changes from round to round. State is easier to read, and easier to prove,
//! than a formula such as `pow(2, i)`. No rank ever holds more than all `p` blocks:
//!
//! ```text
//! #[round(i in 0..len(ports))]
//! #[state(D = 1, next = min(p, D * (ports[i] + 1)))]
//! ```
//!
//! Not every list of ports serves every `p`. `requires` is the domain, the same on all ranks; `final` refers to the
//! state after the last round. A call outside the domain is refused before any message is sent:
//!
//! ```text
//! #[requires(final D == p)]
//! ```
//!
//! The last round sends fewer blocks than the others: message `j` carries only blocks that are still missing. That
//! number gets a name:
//!
//! ```text
//! #[define(n(j) = max(0, min(D, p - j * D)))]
//! ```
//!
//! A round is described twice, once as the sender and once as the receiver sees it. Ranks and blocks wrap around `p`,
//! so `rank - j * D` needs no remainder. Blocks travel in the order of their list, and a message without blocks does
//! not exist:
//!
//! ```text
//! #[send(for j in 1..=ports[i], to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
//! #[recv(for j in 1..=ports[i], from = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
//! ```
//!
//! That is all. To get from small `p` to all `p`, a prover needs to know what ranks hold before each round, and
//! `roundel prove` finds it: `blocks = [rank + k; k in 0..D]`. One more line states the cost, for users who choose
//! among algorithms; `roundel bounds` tells what it is:
//!
//! ```text
//! #[bound(rounds <= len(ports), each blocks_sent = p - 1, per_round messages_sent <= ports[i])]
//! ```
//!
//! # What the compiler does with it
//!
//! It checks the declaration exactly, for every `p` and every list of ports up to the limits of `check`, and turns it
//! into code. A wrong declaration does not compile. Without `n(j)`, for example, if every message carried `D` blocks,
//! the error would point at the `to` of `send` and name the smallest case:
//!
//! ```text
//! round 0 sends a message to its own rank: with p = 1, ports = [1], the peer of rank 0 is 0
//! ```
//!
//! Only what was checked is trusted: a call with more ranks, or with longer lists, is refused unless a proof record in
//! this crate covers it. For experiments, `.unproved()` allows such calls explicitly.
//!
//! The derive also emits tests, which run with those of this crate: they check that generated code and declaration
//! agree, and run the harnesses of `docs/kani.md`, which `cargo kani` proves.
//!
//! # Running it
//!
//! On threads, for tests and for a first look:
//!
//! ```
//! use cyclic_shift::CyclicShift;
//! use roundel::{Allgather, threads};
//!
//! let shift = CyclicShift { ports: vec![1, 2] };
//! let results = threads::run(6, |comm| {
//!     let mut all = [0; 6];
//!     shift.allgather(comm, &[comm.rank() * 10], &mut all).map(|()| all)
//! });
//! assert!(results.into_iter().all(|all| all == Ok([0, 10, 20, 30, 40, 50])));
//! ```
//!
//! On MPI, with the feature `mpi` of `roundel`, the communicator is one of the `mpi` crate and nothing else changes;
//! see `main.rs`.

use roundel::Collective;

/// Allgather by cyclic shift, with `ports[i]` messages in round `i`.
///
/// Domain: `p` at most the product of all `ports[i] + 1`. Cost: `len(ports)` rounds, `p - 1` blocks sent by each rank.
#[derive(Collective, Clone, Debug, PartialEq, Eq)]
#[collective(allgather, ports: list(1..))]
#[check(p <= 20, len(ports) <= 3, ports <= 3)]
#[round(i in 0..len(ports))]
#[state(D = 1, next = min(p, D * (ports[i] + 1)))]
#[requires(final D == p)]
#[define(n(j) = max(0, min(D, p - j * D)))]
#[send(for j in 1..=ports[i], to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
#[recv(for j in 1..=ports[i], from = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
#[bound(rounds <= len(ports), each blocks_sent = p - 1, per_round messages_sent <= ports[i])]
pub struct CyclicShift {
    /// The number of messages that a rank sends in each round.
    pub ports: Vec<i64>,
}

impl CyclicShift {
    /// For `p` ranks, with the same number of ports in each round and as few rounds as possible.
    ///
    /// ```
    /// use cyclic_shift::CyclicShift;
    /// assert_eq!(CyclicShift::uniform(10, 2).ports, [2, 2, 2]);
    /// assert!(CyclicShift::uniform(1, 2).ports.is_empty());
    /// ```
    pub fn uniform(p: usize, ports: i64) -> Self {
        let rounds = roundel::arith::ceil_log(ports + 1, p as i64);
        CyclicShift { ports: vec![ports; rounds as usize] }
    }
}
