//! Finds similar names, for "did you mean".

/// The candidate most similar to `name`.
pub fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let first = |fits: fn(&str, &str) -> bool| candidates.iter().copied().find(|candidate| fits(candidate, name));
    let scored = candidates.iter().map(|&candidate| (distance(name, candidate), candidate));
    let closest = scored.filter(|(d, candidate)| close(name, candidate, *d)).min().map(|(_, candidate)| candidate);
    first(differs_in_case).or(closest).or_else(|| first(shortens)).or_else(|| first(contains))
}

/// Whether two words differ only in capital letters, as `d` and `D` do.
fn differs_in_case(candidate: &str, name: &str) -> bool {
    candidate.eq_ignore_ascii_case(name)
}

/// Whether a name consists of several words, of which one was written, as in `ceil_log` and `log2`.
fn contains(candidate: &str, name: &str) -> bool {
    let word = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    word.len() >= 3 && candidate.split('_').any(|part| part == word)
}

/// Whether a word abbreviates another one, as `recv` does `receive`: the same first letter, then some of the others.
fn shortens(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    let is_part = short.chars().all(|letter| letters.any(|other| other == letter));
    is_part && short.chars().next() == long.chars().next() && short.len() >= 4 && long.len() <= 2 * short.len()
}

/// Names of the form `kind/name` that are similar to `written`, the most similar first, at most `most`. `written` may
/// be a whole name, its last part, the kind, or a substring of any.
pub fn suggestions<'a>(written: &str, names: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let written = written.trim_end_matches('/').replace('_', "-").to_lowercase();
    let last = |name: &'a str| name.rsplit('/').next().unwrap_or(name);
    let score = |name: &'a str| -> Option<usize> {
        let whole = distance(&written, name);
        let part = distance(&written, last(name));
        let alike = [(whole, name), (part, last(name))].into_iter().filter(|(d, name)| close(&written, name, *d));
        let contained = (written.len() > 2 && name.contains(&written))
            || (last(name).len() > 2 && written.split('/').any(|piece| piece == last(name)));
        let kind = name.split('/').next().unwrap_or(name);
        let of_kind = Some(distance(&written, kind)).filter(|d| close(&written, kind, *d) || *d == 0);
        // A name that contains `written` ranks below one that differs in a letter or two, and above one that differs in
        // more.
        alike.map(|(d, _)| d).chain(of_kind.map(|d| d + 2)).chain(contained.then_some(3)).min()
    };
    let mut scored: Vec<(usize, usize, &str)> =
        names.into_iter().enumerate().filter_map(|(i, name)| Some((score(name)?, i, name))).collect();
    scored.sort_unstable();
    // Drops names that are much less similar than the first.
    let enough = scored.first().map_or(0, |(best, ..)| best + 1);
    scored.into_iter().filter(|(score, ..)| *score <= enough).take(most).map(|(_, _, name)| name).collect()
}

/// Single letters have nothing in common.
fn close(name: &str, candidate: &str, distance: usize) -> bool {
    distance <= 1 + candidate.len() / 4 && distance < name.chars().count()
}

/// The edit distance of two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + (x != *y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        assert_eq!(similar("sends", ["send", "recv"]), Some("send"));
        assert_eq!(similar("ceillog", ["ceil_log", "floor_log"]), Some("ceil_log"));
        assert_eq!(similar("quux", ["send", "recv"]), None);
        assert_eq!(similar("s", ["p", "D"]), None);
        assert_eq!(similar("d", ["p", "D"]), Some("D"));
        assert_eq!(similar("Rank", ["rang", "rank"]), Some("rank"));
        assert_eq!(similar("log2", ["min", "ceil_log", "floor_log"]), Some("ceil_log"));
        assert_eq!(similar("messages", ["blocks_sent", "messages_sent"]), Some("messages_sent"));
        assert_eq!(similar("of", ["part_of"]), None);
        assert_eq!(similar("receive", ["send", "recv"]), Some("recv"));
        assert_eq!(similar("serendipity", ["send", "recv"]), None);
    }

    #[test]
    fn few_names_are_suggested_the_most_similar_first() {
        let names = ["allgather/ring", "allreduce/ring", "allgather/sparbit", "alltoall/k-bruck"];
        assert_eq!(suggestions("allgather/rang", names, 5), ["allgather/ring"]);
        assert_eq!(suggestions("sparbt", names, 5), ["allgather/sparbit"]);
        assert_eq!(suggestions("allgather", names, 5), ["allgather/ring", "allgather/sparbit"]);
        assert_eq!(suggestions("alltoall/ring", names, 1), ["allgather/ring"]);
        assert_eq!(suggestions("K_Bruck", names, 5), ["alltoall/k-bruck"]);
        let names = ["allreduce/reduce-broadcast", "broadcast/binomial"];
        assert_eq!(suggestions("broadcast", names, 1), ["broadcast/binomial"]);
        assert_eq!(suggestions("quicksort", names, 5), Vec::<&str>::new());
    }
}
