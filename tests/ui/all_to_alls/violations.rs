use roundel::Collective;

/// Sends a block again that it has just sent: in an all-to-all a message moves its blocks.
#[derive(Collective)]
#[collective(alltoall)]
#[requires(p >= 2)]
#[round(s in 0..2)]
#[send(to = rank + 1, blocks = [rank -> rank + 1])]
#[recv(from = rank - 1, blocks = [rank - 1 -> rank])]
pub struct SentAgain;

/// The same block to two ranks.
#[derive(Collective)]
#[collective(alltoall)]
#[round]
#[send(for s in 1..p, to = rank + s, blocks = [rank -> rank + 1])]
#[recv(for s in 1..p, from = rank - s, blocks = [rank - s -> rank - s + 1])]
pub struct SentTwice;

/// The last rank is forgotten.
#[derive(Collective)]
#[collective(alltoall)]
#[round(s in 1..p - 1)]
#[send(to = rank + s, blocks = [rank -> rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> rank])]
pub struct LastMissing;

/// The digits of the receiver are those before the substep.
#[derive(Collective)]
#[collective(alltoall, radix: 2..)]
#[round(x in 0..ceil_log(radix, p), z in 1..radix)]
#[state(X = 1, next = radix * X)]
#[send(to = rank + z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
#[recv(from = rank - z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
pub struct ReceiverForgets {
    pub radix: i64,
}

/// Substeps beyond p have no messages: the formula without its last term counts too many.
#[derive(Collective)]
#[collective(alltoall, radix: 2..)]
#[round(x in 0..ceil_log(radix, p), z in 1..radix)]
#[state(X = 1, next = radix * X)]
#[send(to = rank + z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
#[recv(from = rank - z * X, blocks = [rank - j % (radix * X) -> rank - j % (radix * X) + j; j in 0..p, digit(j, radix, x) == z])]
#[bound(rounds = ceil_log(radix, p) * (radix - 1))]
pub struct TooManySubsteps {
    pub radix: i64,
}

/// Blocks of two digits are kept for others on their way.
#[derive(Collective)]
#[collective(alltoall)]
#[requires(p >= 4)]
#[round(x in 0..ceil_log(2, p))]
#[state(X = 1, next = 2 * X)]
#[send(to = rank + X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, 2, x) == 1])]
#[recv(from = rank - X, blocks = [rank - j % (2 * X) -> rank - j % (2 * X) + j; j in 0..p, digit(j, 2, x) == 1])]
#[bound(scratch <= p - 2 - ceil_log(2, p))]
pub struct OneSlotTooFew;

/// `holds` still claims what has been sent.
#[derive(Collective)]
#[collective(alltoall)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank -> rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> rank])]
#[holds(blocks = [rank -> rank + j; j in 0..p] + [rank - j -> rank; j in 1..s])]
pub struct CopiesNotMoves;

fn main() {}
