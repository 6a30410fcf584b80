//! Text in a picture: lines, and short forms.

use crate::report::drawing::width;
use crate::report::rounds::Round;

/// Text broken into lines of at most this width, if words allow it.
pub(super) fn lines(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + 0.33 * size <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// How much a round sends, in words.
pub(super) fn counted(round: &Round) -> String {
    let (messages, blocks) = (round.messages.len(), round.blocks());
    let s = |n| if n == 1 { "" } else { "s" };
    format!("{messages} message{}, {blocks} block{}", s(messages), s(blocks))
}

/// A short text for a set of ranks: `all`, `3`, `0–2`, `6–1` if it wraps around, or their number.
pub(crate) fn short(ranks: u64, of: usize) -> String {
    let members: Vec<usize> = (0..of.min(64)).filter(|rank| ranks >> rank & 1 == 1).collect();
    let begins = |rank: &&usize| of > 0 && ranks >> ((**rank + of - 1) % of) & 1 == 0;
    let starts: Vec<&usize> = members.iter().filter(begins).collect();
    match (members.as_slice(), starts.as_slice()) {
        ([], _) => String::new(),
        (all, _) if all.len() == of => "all".into(),
        ([one], _) => one.to_string(),
        (some, [start]) => format!("{start}–{}", (*start + some.len() - 1) % of),
        ([a, b], _) => format!("{a},{b}"),
        (some, _) => format!("Σ{}", some.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_ranks_are_short() {
        assert_eq!(short(0b0111, 8), "0–2");
        assert_eq!(short(0b1100_0001, 8), "6–0");
        assert_eq!(short(0b0001_0001, 8), "0,4");
        assert_eq!(short(0b0101_0101, 8), "Σ4");
        assert_eq!(short(0b0010_0000, 8), "5");
        assert_eq!(short(0xff, 8), "all");
        assert_eq!(short(u64::MAX, 64), "all");
        assert_eq!(short(0, 8), "");
    }

    #[test]
    fn text_is_broken_where_it_is_too_wide() {
        let text = "p = 12, ppn = 4 · 4 rounds, at most 4 messages";
        assert_eq!(lines(text, 13.0, 1e4), [text]);
        let broken = lines(text, 13.0, 160.0);
        assert!(broken.len() > 1 && broken.iter().all(|line| width(line, 13.0) <= 160.0), "{broken:?}");
        assert_eq!(broken.join(" "), text);
    }
}
