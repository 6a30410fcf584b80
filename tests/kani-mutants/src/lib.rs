//! Wrong collectives, for the harnesses to refute.
//!
//! Each declaration is Bruck's allgather with one fault, or a small algorithm that is wrong from the start. `check(p <=
//! 1)` hides the fault from the check at compile time. `expected.txt` lists the harnesses that must fail. `run.sh`
//! verifies that exactly these fail as plain tests, and that Kani refutes one harness for each fault.

use roundel::Collective;

/// The receiver waits for another rank.
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

/// Every rank sends its first message to itself.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..p - 1)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
pub struct ToItself;

/// Right for every p that could be run; its arithmetic overflows beyond 2^21 ranks.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D + (p * p * p - p * p * p), blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct Overflows;

/// One round too few if p is not a power of two.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..floor_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[holds(D == pow(2, s))]
pub struct Incomplete;

/// The last round sends everything that is held, so blocks are written twice.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..D])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..D])]
#[holds(D == pow(2, s))]
pub struct Twice;

/// Every rank sends what it does not hold yet; sender and receiver agree on the blocks.
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
