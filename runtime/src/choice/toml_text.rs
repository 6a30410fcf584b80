//! Positions in the text of a TOML file: every error in a profile or in a selection names a line.

use toml::Spanned;
use toml::de::DeValue;

/// A value with its position in the text.
pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// The text of a file.
#[derive(Clone, Copy)]
pub(super) struct TomlText<'i>(pub(super) &'i str);

impl TomlText<'_> {
    /// The line of an offset, from 1.
    pub(super) fn line_at(self, offset: usize) -> usize {
        self.0.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
    }

    /// The line of a value, from 1.
    pub(super) fn line(self, value: &Value<'_>) -> usize {
        self.line_at(value.span().start)
    }

    /// The last line.
    pub(super) fn last_line(self) -> usize {
        self.0.lines().count().max(1)
    }

    /// The line and the column of an offset, from 1.
    pub(super) fn position(self, offset: usize) -> (usize, usize) {
        let begin = self.0.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
        let column = self.0.get(begin..offset).map_or(0, |before| before.chars().count()) + 1;
        (self.line_at(offset), column)
    }

    /// A value as written, possibly truncated.
    pub(super) fn written(self, value: &Value<'_>) -> String {
        let text = self.0.get(value.span()).unwrap_or_default();
        let short: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
        if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
    }
}

/// Where the parser found an error.
pub(super) fn offset(error: &toml::de::Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

/// The parser's message, on one line.
pub(super) fn message(error: &toml::de::Error) -> String {
    error.message().replace('\n', ", ")
}

/// A whole number, in any base.
pub(super) fn whole(value: &Value<'_>) -> Option<i64> {
    let integer = value.get_ref().as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
