//! Turns names of a declaration into SMT-LIB symbols.
//!
//! A variable may be called `par` or `select`, which are words of the solver's own language; some solvers refuse them,
//! and others would misinterpret them. Such a name gets a trailing `.`, which no variable has and which the user never
//! sees.

/// Words with a meaning in SMT-LIB, z3 or cvc5, and stems of names that the encoding itself generates.
const TAKEN: &[&str] = &[
    // reserved words
    "as",
    "assert",
    "echo",
    "exists",
    "exit",
    "forall",
    "let",
    "match",
    "par",
    "pop",
    "push",
    "reset",
    "lambda",
    "define",
    "BINARY",
    "DECIMAL",
    "HEXADECIMAL",
    "NUMERAL",
    "STRING",
    // sorts
    "Array",
    "BitVec",
    "Bool",
    "Float32",
    "Float64",
    "FloatingPoint",
    "Int",
    "List",
    "Map",
    "Pair",
    "Real",
    "RegLan",
    "RoundingMode",
    "RNE",
    "RNA",
    "RTP",
    "RTN",
    "RTZ",
    "Seq",
    "Set",
    "Bag",
    "String",
    "Tuple",
    "Relation",
    "Unit",
    // functions
    "abs",
    "and",
    "concat",
    "const",
    "cos",
    "cot",
    "csc",
    "distinct",
    "div",
    "divisible",
    "euler",
    "exp",
    "extract",
    "first",
    "head",
    "iand",
    "if",
    "iff",
    "implies",
    "insert",
    "is_int",
    "ite",
    "mod",
    "nil",
    "not",
    "or",
    "pi",
    "pow2",
    "quot",
    "rem",
    "sec",
    "select",
    "sin",
    "sqrt",
    "store",
];

/// The symbol for a name; a `.` begins a suffix of the encoding, which is kept.
pub(crate) fn symbol(name: &str) -> String {
    let (stem, suffix) = name.split_at(name.find(['.', '!']).unwrap_or(name.len()));
    let stem = if TAKEN.contains(&stem) { format!("{stem}.") } else { stem.into() };
    let plain = stem.is_ascii() && !stem.starts_with(|c: char| c.is_ascii_digit());
    if plain { stem + suffix } else { format!("|{stem}{suffix}|") }
}

/// The name that a symbol stands for; `None` for symbols that the encoding generated.
pub fn name_of(symbol: &str) -> Option<&str> {
    let bare = symbol.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')).unwrap_or(symbol);
    let bare = bare.strip_suffix(['.', '!']).unwrap_or(bare);
    (!bare.contains('.')).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_solver_are_not_names() {
        assert_eq!((symbol("D"), symbol("D.1"), symbol("peer!")), ("D".into(), "D.1".into(), "peer!".into()));
        assert_eq!((symbol("par"), symbol("par.1")), ("par.".into(), "par..1".into()));
        assert_eq!(symbol("größe"), "|größe|");
        // The encoding generates `quot.1` itself.
        assert_ne!(symbol("quot.1"), "quot.1");
    }

    #[test]
    fn people_see_names() {
        for name in ["D", "par", "größe", "peer"] {
            assert_eq!(name_of(&symbol(name)), Some(name));
        }
        assert_eq!(name_of("peer!"), Some("peer"));
        assert_eq!((name_of("quot.3"), name_of("k.held")), (None, None));
    }
}
