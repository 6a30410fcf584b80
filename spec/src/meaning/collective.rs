//! The trait that `#[derive(Collective)]` implements.

use crate::meaning::arith::MAX_P;
use crate::meaning::place::Place;
use crate::meaning::sink::Sink;
use crate::schedule::arguments::Arguments;
use crate::schedule::contract::Kind;
use crate::schedule::{Order, Schedule};
use std::fmt;

/// Why a collective refuses a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A parameter is not in its domain.
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its domain, as declared.
        domain: &'static str,
        /// The value given.
        value: i64,
    },
    /// A parameter exceeds the range for which index arithmetic is proved.
    TooLarge {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: i64,
    },
    /// A `requires` clause has no value.
    NoValue {
        /// The clause, as declared.
        clause: &'static str,
        /// The number of ranks.
        p: i64,
    },
    /// The collective is not proved for this call.
    Unproved {
        /// The range that is proved.
        range: &'static str,
        /// The numbers outside this range: `p`, a parameter, or `len(…)` of one, with its value.
        outside: Vec<(&'static str, i64)>,
        /// The command that would prove the call, if there is one.
        command: Option<String>,
    },
    /// The collective depends on the placement of ranks, and is not proved for this one.
    Placement {
        /// The range that is proved.
        range: &'static str,
    },
    /// An inner collective divides the vector, and runs where the outer one needs it to take the vector as a whole.
    Divided {
        /// The inner collective.
        name: &'static str,
        /// The number of its blocks.
        blocks: i64,
        /// The number of ranks of the group.
        p: i64,
    },
    /// An inner collective does not let the outer one choose its root.
    Unrooted {
        /// The inner collective.
        name: &'static str,
    },
    /// A collective has no reverse.
    Irreversible {
        /// The collective.
        name: &'static str,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// A `requires` clause is false.
    Requires {
        /// The clause, as declared.
        clause: &'static str,
        /// The number of ranks.
        p: i64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Parameter { name, domain, value } => {
                write!(f, "parameter `{name}` must lie in {domain}, but is {value}")
            }
            Refusal::TooLarge { name, value } => write!(
                f,
                "parameter `{name}` is {value}, and index arithmetic is proved for values up to {MAX_P} (2^31 - 1) \
                 alone; choose a smaller value"
            ),
            Refusal::NoValue { clause, p } => write!(
                f,
                "it requires `{clause}`, which has no value with p = {p} and these parameters: a number does not fit \
                 64 bits, a divisor is 0, or it takes too many steps; choose smaller parameters"
            ),
            Refusal::Unproved { range, outside, command } => {
                let outside: Vec<String> = outside.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "it is proved for {range}, and {} lies outside; ", outside.join(", "))?;
                match command {
                    Some(command) => {
                        write!(f, "`{command}` would extend the proof, `.unproved()` runs it all the same")
                    }
                    None => write!(f, "index arithmetic is proved for values up to {MAX_P} (2^31 - 1) alone"),
                }
            }
            Refusal::Placement { range } => write!(
                f,
                "it depends on how many ranks each node has and is proved for {range}. Here nodes differ otherwise: \
                 give every node equally many ranks (`mpirun --map-by ppr:N:node`), or take a collective that does \
                 not look at nodes; `.unproved()` runs it all the same"
            ),
            Refusal::Divided { name, blocks, p } => write!(
                f,
                "its inner collective {name} divides the vector into {blocks} blocks among {p} ranks, and must take it \
                 as a whole; choose an inner collective without `split`"
            ),
            Refusal::Unrooted { name } => write!(
                f,
                "its inner collective {name} does not let others choose its root; implement `rooted_at`, or derive \
                 `Collective`"
            ),
            Refusal::Irreversible { name, reason } => write!(f, "{name} cannot run backwards: {reason}"),
            Refusal::Requires { clause, p } => write!(
                f,
                "it requires `{clause}`, which is false with p = {p}; choose a collective whose domain contains the \
                 call"
            ),
        }
    }
}

/// The proved limit of one number of a call: its name (`p`, a parameter, or the length of a list), its value in this
/// call, the minimum of its domain, and the largest proved value.
type Limit = (&'static str, i64, i64, i64);

/// The option of `roundel prove` that covers this call and everything proved already.
fn option(&(name, value, least, most): &Limit) -> String {
    let most = value.max(most);
    match name {
        "p" if most > LARGEST_CHECKED => " --require-all-p".into(),
        "p" => format!(" -p 1..={most}"),
        // Quoted, because parentheses are special to the shell.
        name if name.contains('(') => format!(" --set '{name}={least}..={most}'"),
        name => format!(" --set {name}={least}..={most}"),
    }
}

/// The largest p that `roundel prove` checks exhaustively. For larger p, only an induction proves anything.
pub const LARGEST_CHECKED: i64 = 2048;

impl Refusal {
    /// Refuses a call that exceeds some limits. For generated code.
    #[doc(hidden)]
    pub fn beyond(range: &'static str, prove: &str, limits: &[Limit]) -> Refusal {
        let outside: Vec<&Limit> = limits.iter().filter(|(_, value, _, most)| value > most).collect();
        let provable = outside.iter().all(|(_, value, _, most)| *value <= MAX_P && *most < MAX_P);
        let options = || limits.iter().filter(|(_, _, _, most)| *most < MAX_P).map(option).collect::<String>();
        Refusal::Unproved {
            range,
            outside: outside.iter().map(|(name, value, ..)| (*name, *value)).collect(),
            command: provable.then(|| format!("{prove}{}", options())),
        }
    }

    /// Refuses a call unless a `requires` clause is true; `None` stands for a clause without a value. For generated
    /// code.
    #[doc(hidden)]
    pub fn unless(holds: Option<bool>, clause: &'static str, p: i64) -> Result<(), Refusal> {
        match holds {
            Some(true) => Ok(()),
            Some(false) => Err(Refusal::Requires { clause, p }),
            None => Err(Refusal::NoValue { clause, p }),
        }
    }
}

impl std::error::Error for Refusal {}

/// A collective: its rounds as executable code, and its declaration as data.
///
/// Implemented by the derive. The code is authoritative: everything that runs, records or checks the collective takes
/// the rounds from [`rounds`](Collective::rounds). The [`Schedule`] is a second reading of the same declaration, for
/// proofs, pictures and documentation; a generated test compares the two.
pub trait Collective: 'static {
    /// The name of the declared type.
    const NAME: &'static str;

    /// The contract of the collective.
    const KIND: Kind = Kind::Allgather;

    /// Whether it depends on which ranks share a node: if so, it sees ranks numbered node by node
    /// ([`rounds_of`](crate::rounds_of)).
    const LOOKS_AT_NODES: bool = false;

    /// Whether the declaration lists the rotated layout first.
    const PREFERS_ROTATION: bool;

    /// The number of lines of memory; gathers have one.
    const LINES: usize = 1;

    /// The claims about the order of reduction.
    const ORDER: Order = Order { same_tree: false, rank_order: false };

    /// The calls for which the declared bounds are proved, in words, if these are not all that it serves.
    const BOUNDS_PROVED_FOR: Option<&'static str> = None;

    /// The proof record that grants its calls, as a path in the crate that declares it; `None` if only the check at
    /// compile time grants them.
    const RECORD: Option<&'static str> = None;

    /// The declaration as data.
    fn schedule() -> Schedule
    where
        Self: Sized;

    /// The values of this collective's parameters. Collectives of one type with equal arguments have equal rounds.
    fn arguments(&self) -> Arguments;

    /// Whether [`arguments`](Collective::arguments) equals `args`. Does not allocate in generated code.
    fn has_arguments(&self, args: &Arguments) -> bool {
        self.arguments() == *args
    }

    /// The collective with these parameters; `None` if their number is wrong.
    fn from_arguments(args: &Arguments) -> Option<Self>
    where
        Self: Sized;

    /// The same collective with this root, for another one that runs it; `None` if it has no root that others choose.
    fn rooted_at(&self, root: i64) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = root;
        None
    }

    /// Checks that a call at `at` lies in the declared domain: all parameters in their domains, every `requires` true.
    /// The answer is the same on every rank.
    fn admits(&self, at: &Place) -> Result<(), Refusal>;

    /// Checks that the collective is proved for a call at `at` that its domain admits.
    fn proved(&self, at: &Place) -> Result<(), Refusal>;

    /// Like [`proved`](Collective::proved), without its inner collectives: there are as many groups of them as nodes.
    fn proved_alone(&self, at: &Place) -> Result<(), Refusal> {
        self.proved(at)
    }

    /// Checks that the claims of [`ORDER`](Collective::ORDER) are also proved for a call at `at`.
    fn proved_in_order(&self, at: &Place) -> Result<(), Refusal> {
        self.proved(at)
    }

    /// The number of blocks in a call at `at`: one per rank, unless the declaration splits the data otherwise.
    fn blocks(&self, at: &Place) -> i64 {
        at.p
    }

    /// The root; 0 for collectives without one.
    fn root(&self) -> i64 {
        0
    }

    /// How far the blocks are rotated in the `rotated` layout, if the declaration has one: block `b` then lies at
    /// `wrap(b - rotation)` while the collective runs.
    fn rotation(&self, at: &Place) -> Option<i64>;

    /// Hands the rounds of the rank at `at` to `sink`. Only for places that [`admits`](Collective::admits) accepts.
    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error>;
}
