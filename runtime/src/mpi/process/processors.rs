//! Counts processors, which decides whether a waiting rank spins or yields.

/// The number of processors of the machine, including those that this rank is not bound to: other ranks may run
/// there.
pub(crate) fn processors() -> usize {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let known = counted(&online);
    known.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1)
}

/// The number of entries in a list like `0-3,8`.
fn counted(list: &str) -> Option<usize> {
    let last = |range: &str| range.trim().split('-').map(str::parse::<usize>).collect::<Result<Vec<_>, _>>();
    let count = |range: &str| match last(range).as_deref() {
        Ok(&[_]) => Some(1),
        Ok(&[first, last]) if first <= last => Some(last - first + 1),
        _ => None,
    };
    list.split(',').map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        assert_eq!([counted("0-3\n"), counted("0"), counted("0-1,4,6-9")], [Some(4), Some(1), Some(7)]);
        assert_eq!([counted(""), counted("all"), counted("3-1"), counted("0-1-2")], [None; 4]);
        assert!(processors() > 0);
    }
}
