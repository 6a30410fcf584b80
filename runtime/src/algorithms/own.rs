//! Collectives of other crates, by name, beside those of the catalogue.
//!
//! [`collectives!`](crate::collectives) registers them when the library or the program that contains it is loaded, so
//! that `ROUNDEL_FORCE` and selection files can name them.

use super::catalogue::{CATALOGUE, Entry, FORMER};
use crate::any_collective::make;
use roundel_spec::{Collective, Kind};
use std::sync::{Mutex, PoisonError, RwLock};

/// The registered collectives, in the order of their registration.
static OWN: RwLock<Vec<&'static Entry>> = RwLock::new(Vec::new());

/// The first registration at load time that failed: nothing can be reported there.
static FAULT: Mutex<Option<NameError>> = Mutex::new(None);

/// Why a collective cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name has characters that `ROUNDEL_FORCE` reads otherwise, or none.
    #[error("`{name}` is no name for a collective: use small letters, digits and hyphens")]
    Malformed {
        /// The name.
        name: &'static str,
    },
    /// The catalogue, or the choice that is not an algorithm, has the name.
    #[error("{} is called `{name}` already: give yours another name", kind.with_article())]
    Taken {
        /// The collective.
        kind: Kind,
        /// The name.
        name: &'static str,
    },
}

/// Gives a collective of another crate a name beside those of the catalogue: `my-ring` for `allgather/my-ring`.
///
/// Call it before anything reads settings; [`collectives!`](crate::collectives) does so when its library is loaded.
/// Selections then name it like an algorithm of the catalogue. It is never chosen by default.
///
/// # Errors
/// If the name is malformed, or another collective of the kind has it.
///
/// ```
/// # use roundel::Collective;
/// # #[derive(Collective)]
/// # #[collective(allgather)]
/// # #[round(s in 0..p - 1)]
/// # #[send(to = rank + 1, blocks = [rank - s])]
/// # #[recv(from = rank - 1, blocks = [rank - 1 - s])]
/// # struct Mine;
/// use roundel::algorithms::{find, register};
/// assert!(register::<Mine>("my-ring").is_ok());
/// assert_eq!(register::<Mine>("ring").unwrap_err().to_string(),
///     "an allgather is called `ring` already: give yours another name");
/// ```
pub fn register<C: Collective + Send + Sync>(name: &'static str) -> Result<(), NameError> {
    let kind = C::KIND;
    if !is_name(name) {
        return Err(NameError::Malformed { name });
    }
    let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
    let full = full_name(kind, name);
    let taken = is_taken(kind, name) || own.iter().any(|entry| entry.name == full);
    if taken {
        return Err(NameError::Taken { kind, name });
    }
    // Registered once, for the time of the process.
    own.push(Box::leak(Box::new(Entry {
        name: full.leak(),
        type_name: C::NAME,
        source: "",
        schedule: C::schedule,
        make: make::<C>,
        origin: std::any::type_name::<C>().split("::").next(),
    })));
    Ok(())
}

/// The registered collectives.
pub fn own() -> Vec<&'static Entry> {
    OWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Keeps the fault of a registration at load time, for the first reader of settings. For
/// [`collectives!`](crate::collectives).
#[doc(hidden)]
pub fn registered(outcome: Result<(), NameError>) {
    if let Err(error) = outcome {
        FAULT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// The fault of a registration at load time, if any.
#[cfg(feature = "profile")]
pub(crate) fn fault() -> Option<NameError> {
    FAULT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn full_name(kind: Kind, name: &str) -> String {
    format!("{}/{name}", kind.name().replace('_', "-"))
}

/// Whether a name has only the characters of names in the catalogue.
#[doc(hidden)]
pub const fn is_name(name: &str) -> bool {
    let (bytes, mut i) = (name.as_bytes(), 0);
    while i < bytes.len() {
        if !matches!(bytes[i], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty() && bytes[0].is_ascii_lowercase()
}

/// Whether the catalogue has a collective of this kind and name, or the name stands for something else.
#[doc(hidden)]
pub const fn is_taken(kind: Kind, name: &str) -> bool {
    let (kind, bytes, mut i) = (kind.name().as_bytes(), name.as_bytes(), 0);
    while i < CATALOGUE.len() {
        if is_called(CATALOGUE[i].name.as_bytes(), kind, bytes) {
            return true;
        }
        i += 1;
    }
    i = 0;
    while i < FORMER.len() {
        if is_called(FORMER[i].0.as_bytes(), kind, bytes) {
            return true;
        }
        i += 1;
    }
    same(bytes, b"library") || same(bytes, b"shared-memory") || same(bytes, b"kernel-copy")
}

/// Whether `full` is `kind/name`; a kind has hyphens in names and underscores in declarations.
const fn is_called(full: &[u8], kind: &[u8], name: &[u8]) -> bool {
    if full.len() != kind.len() + 1 + name.len() || full[kind.len()] != b'/' {
        return false;
    }
    let mut i = 0;
    while i < kind.len() {
        if full[i] != kind[i] && !(full[i] == b'-' && kind[i] == b'_') {
            return false;
        }
        i += 1;
    }
    same(full.split_at(kind.len() + 1).1, name)
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    let mut i = 0;
    while i < left.len() && i < right.len() {
        if left[i] != right[i] {
            return false;
        }
        i += 1;
    }
    left.len() == right.len()
}

/// Registers collectives of your own under names, when the library or the program that contains the line is loaded.
///
/// `ROUNDEL_FORCE` and selection files then name them like those of the catalogue: `allgather:mine`. In a `cdylib` with
/// `use roundel_pmpi as _;` this makes a library to preload that has the catalogue and your collectives, with `use
/// roundel_capi as _;` a library for C.
///
/// ```
/// # use roundel::Collective;
/// # #[derive(Collective)]
/// # #[collective(allgather)]
/// # #[round(s in 0..p - 1)]
/// # #[send(to = rank + 1, blocks = [rank - s])]
/// # #[recv(from = rank - 1, blocks = [rank - 1 - s])]
/// # struct Mine;
/// roundel::collectives!["mine" => Mine];
/// # fn main() {
/// assert_eq!(roundel::algorithms::own()[0].name, "allgather/mine");
/// # }
/// ```
///
/// A name that the catalogue has is an error at compile time:
///
/// ```compile_fail
/// # use roundel::Collective;
/// # #[derive(Collective)]
/// # #[collective(allgather)]
/// # #[round(s in 0..p - 1)]
/// # #[send(to = rank + 1, blocks = [rank - s])]
/// # #[recv(from = rank - 1, blocks = [rank - 1 - s])]
/// # struct Mine;
/// roundel::collectives!["ring" => Mine];
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! collectives {
    ($($name:literal => $type:ty),+ $(,)?) => {
        const _: () = {
            $(
                assert!(
                    $crate::algorithms::is_name($name),
                    concat!("`", $name, "` is no name for a collective: use small letters, digits and hyphens")
                );
                assert!(
                    !$crate::algorithms::is_taken(<$type as $crate::Collective>::KIND, $name),
                    concat!("the catalogue has a collective `", $name, "` of this kind: give yours another name")
                );
            )+

            extern "C" fn register() {
                $($crate::algorithms::registered($crate::algorithms::register::<$type>($name));)+
            }

            // The loader calls it before the program begins.
            #[used]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
            static REGISTER: extern "C" fn() = register;
        };
    };
}
