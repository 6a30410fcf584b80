//! Wrong collectives, for the harnesses to refute.
//!
//! Each declaration is Bruck's allgather with one fault, or a small algorithm that is wrong from the start.
//! `check(p <= 1)` makes the check at compile time look away. `expected.txt` lists the harnesses that must fail, and
//! `run.sh` sees to it that exactly these fail as plain tests, and that Kani refutes each of them.

use roundel::Collective;

/// The receiver waits for somebody else.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D + 1, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct WrongPeer;

/// The receiver expects more blocks than are sent, and gets some twice.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..D])]
#[holds(D == pow(2, s))]
pub struct WrongCount;

/// The receiver takes the blocks in the opposite order.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, p - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + n - 1 - k; k in 0..n])]
#[holds(D == pow(2, s))]
pub struct WrongOrder;

/// The first message of every rank is to itself.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..p - 1)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
pub struct ToItself;

/// Right for every p of which somebody could run it; its arithmetic overflows beyond 2^21 ranks.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D + (p * p * p - p * p * p), blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct Overflows;

/// One round too few where p is no power of two.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..floor_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct Incomplete;

/// The last round sends all that is held, and so writes blocks twice.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..D])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..D])]
#[holds(D == pow(2, s))]
pub struct Twice;

/// Everybody sends what it does not hold yet; both sides agree about it.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + 1 + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + 1 + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct NotHeld;

/// The state is not what `holds` says.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D + s / 3)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct WrongFact;

/// A bound that is not met.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
#[bound(each messages_sent = p - 1)]
pub struct WrongBound;
