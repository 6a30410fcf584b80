//! Numbers on the command line, with our own error messages.

use crate::error::Error;

/// A number of ranks or of nodes. The caller, which knows the limits, handles zero.
pub fn ranks(text: &str) -> Result<usize, Error> {
    match text.contains("..") {
        true => Err(Error::OneNumber { text: text.into() }),
        false => parse(text, "number of ranks", 1),
    }
}

/// The number of a rank, a node or a mutant.
pub fn index(text: &str) -> Result<usize, Error> {
    parse(text, "number of a rank, node or mutant", 0)
}

/// A number of something.
pub fn count(text: &str) -> Result<usize, Error> {
    parse(text, "number", 0)
}

/// A number of at least one.
pub fn some(text: &str) -> Result<usize, Error> {
    let found = parse(text, "number", 1)?;
    if found == 0 { Err(Error::Number { text: text.into(), what: "number", least: 1 }) } else { Ok(found) }
}

/// A number of bytes.
pub fn bytes(text: &str) -> Result<usize, Error> {
    parse(text, "number of bytes", 0)
}

/// A number of bytes for files and messages of any length.
pub fn long_bytes(text: &str) -> Result<u64, Error> {
    parse(text, "number of bytes", 0).map(|bytes| bytes as u64)
}

/// A number of seconds.
pub fn seconds(text: &str) -> Result<u64, Error> {
    some(text).map(|seconds| seconds as u64)
}

fn parse(text: &str, what: &'static str, least: usize) -> Result<usize, Error> {
    text.trim().parse().map_err(|_| Error::Number { text: text.into(), what, least })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_said_in_our_words() {
        let says = |result: Result<usize, Error>, words: &str| {
            let message = result.expect_err(words).to_string();
            assert!(message.contains(words), "{message}");
        };
        says(ranks("-1"), "`-1` is no number of ranks: write a whole number of at least 1");
        says(ranks("1..=4"), "`roundel check` and `roundel prove` take ranges");
        says(some("0"), "`0` is no number: write a whole number of at least 1");
        says(bytes("1.5"), "`1.5` is no number of bytes");
        assert_eq!(ranks(" 8 ").ok(), Some(8));
    }
}
