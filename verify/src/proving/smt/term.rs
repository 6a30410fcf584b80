//! SMT-LIB terms, as text.
//!
//! Solvers read text, and so do people who look at an emitted file, so no other representation is needed. The
//! constructors simplify what is trivially true or false, so that files stay short.

/// A term, or a formula.
pub(crate) type Term = String;

pub(crate) fn int(n: i64) -> Term {
    if n < 0 { format!("(- {})", n.unsigned_abs()) } else { n.to_string() }
}

pub(crate) fn app(op: &str, args: &[&str]) -> Term {
    format!("({op} {})", args.join(" "))
}

pub(crate) fn add(a: &str, b: &str) -> Term {
    match (a, b) {
        ("0", _) => b.into(),
        (_, "0") => a.into(),
        _ => app("+", &[a, b]),
    }
}

pub(crate) fn sub(a: &str, b: &str) -> Term {
    if b == "0" { a.into() } else { app("-", &[a, b]) }
}

pub(crate) fn mul(a: &str, b: &str) -> Term {
    match (a, b) {
        ("1", _) => b.into(),
        (_, "1") => a.into(),
        ("0", _) | (_, "0") => "0".into(),
        _ => app("*", &[a, b]),
    }
}

pub(crate) fn eq(a: &str, b: &str) -> Term {
    if a == b { "true".into() } else { app("=", &[a, b]) }
}

pub(crate) fn le(a: &str, b: &str) -> Term {
    if a == b { "true".into() } else { app("<=", &[a, b]) }
}

pub(crate) fn lt(a: &str, b: &str) -> Term {
    app("<", &[a, b])
}

pub(crate) fn ge(a: &str, b: &str) -> Term {
    le(b, a)
}

pub(crate) fn not(a: &str) -> Term {
    match a {
        "true" => "false".into(),
        "false" => "true".into(),
        _ => app("not", &[a]),
    }
}

pub(crate) fn and(items: impl IntoIterator<Item = Term>) -> Term {
    connect("and", "true", "false", items)
}

pub(crate) fn or(items: impl IntoIterator<Item = Term>) -> Term {
    connect("or", "false", "true", items)
}

/// Joins formulas; `neutral` ones are dropped, and a `dominant` one is the result.
fn connect(op: &str, neutral: &str, dominant: &str, items: impl IntoIterator<Item = Term>) -> Term {
    let mut kept: Vec<Term> = Vec::new();
    for item in items {
        if item == dominant {
            return item;
        }
        if item != neutral && !kept.contains(&item) {
            kept.push(item);
        }
    }
    match kept.len() {
        0 => neutral.into(),
        1 => kept.remove(0),
        _ => format!("({op} {})", kept.join(" ")),
    }
}

pub(crate) fn implies(a: &str, b: &str) -> Term {
    match (a, b) {
        ("true", _) => b.into(),
        ("false", _) | (_, "true") => "true".into(),
        _ => app("=>", &[a, b]),
    }
}

pub(crate) fn ite(c: &str, a: &str, b: &str) -> Term {
    match c {
        "true" => a.into(),
        "false" => b.into(),
        _ if a == b => a.into(),
        _ => app("ite", &[c, a, b]),
    }
}

/// `lo <= x < hi`
pub(crate) fn within(x: &str, lo: &str, hi: &str) -> Term {
    and([le(lo, x), lt(x, hi)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trivial_parts_disappear() {
        assert_eq!(and(["true".into(), "a".into(), "a".into()]), "a");
        assert_eq!(or(["a".into(), "true".into()]), "true");
        assert_eq!(implies("true", "b"), "b");
        assert_eq!(add("x", &int(0)), "x");
        assert_eq!(int(-3), "(- 3)");
    }
}
