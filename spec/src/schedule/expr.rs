//! Expressions: the arithmetic and conditions of a declaration.
//!
//! Plain data without spans. A variable carries its name, for people, and its slot in the environment, for the
//! evaluator: looking up names would cost more than the arithmetic. Truth values are the integers 0 and 1; the parser
//! keeps the two types apart, so every expression in this representation is well typed.

use std::fmt;

/// A variable: a built-in one, a parameter, an index, a state, a definition or an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Var {
    /// The name in the declaration.
    pub name: String,
    /// Its place in the environment.
    pub slot: usize,
}

/// A list parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListVar {
    /// The name in the declaration.
    pub name: String,
    /// Its place among the list parameters.
    pub slot: usize,
}

/// The built-in variables, in the order of their slots.
pub const BUILTIN_VARS: [&str; 7] = ["rank", "p", "node", "nodes", "local", "ppn", "lanes"];

/// The slots of the built-in variables.
#[allow(missing_docs)]
pub mod slot {
    pub const RANK: usize = 0;
    pub const P: usize = 1;
    pub const NODE: usize = 2;
    pub const NODES: usize = 3;
    pub const LOCAL: usize = 4;
    pub const PPN: usize = 5;
    pub const LANES: usize = 6;
}

/// The built-in variables that describe a rank's placement; a schedule that uses one depends on the placement.
pub const PLACEMENT_SLOTS: std::ops::Range<usize> = 2..7;

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`
    Neg,
    /// `!a`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl Binary {
    /// The operator's text and how tightly it binds (as in Rust).
    pub const fn text(self) -> (&'static str, u8) {
        match self {
            Binary::Mul => ("*", 10),
            Binary::Div => ("/", 10),
            Binary::Rem => ("%", 10),
            Binary::Add => ("+", 9),
            Binary::Sub => ("-", 9),
            Binary::Shl => ("<<", 8),
            Binary::Shr => (">>", 8),
            Binary::BitAnd => ("&", 7),
            Binary::BitXor => ("^", 6),
            Binary::BitOr => ("|", 5),
            Binary::Eq => ("==", 4),
            Binary::Ne => ("!=", 4),
            Binary::Lt => ("<", 4),
            Binary::Le => ("<=", 4),
            Binary::Gt => (">", 4),
            Binary::Ge => (">=", 4),
            Binary::And => ("&&", 3),
            Binary::Or => ("||", 2),
        }
    }

    /// Whether the result is a truth value.
    pub const fn is_logical(self) -> bool {
        self.text().1 <= 4
    }

    /// Whether it compares two numbers; as in Rust, comparisons are not chained.
    pub const fn is_comparison(self) -> bool {
        self.text().1 == 4
    }

    /// The operator that is easily written instead: `-` for `+`, `<` for `<=`.
    pub const fn confused_with(self) -> Option<Binary> {
        Some(match self {
            Binary::Add => Binary::Sub,
            Binary::Sub | Binary::Mul => Binary::Add,
            Binary::Eq => Binary::Ne,
            Binary::Ne => Binary::Eq,
            Binary::Lt => Binary::Le,
            Binary::Le => Binary::Lt,
            Binary::Gt => Binary::Ge,
            Binary::Ge => Binary::Gt,
            _ => return None,
        })
    }
}

/// Functions of the language. [`crate::arith`] defines their meaning; those of nodes are in [`Place`](crate::Place).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    Min,
    Max,
    Pow,
    CeilLog,
    FloorLog,
    CeilDiv,
    Gcd,
    Digit,
    DigitSum,
    /// `part_size(n, q, s)`: the size of part `s` if `n` things are divided into `q` parts. If `n` is not a multiple of
    /// `q`, the first parts have one more.
    PartSize,
    /// `part_begin(n, q, s)`: the number of things in the parts before part `s`.
    PartBegin,
    /// `part_of(n, q, x)`: the part that contains thing number `x`.
    PartOf,
    FirstRank,
    NodeSize,
    /// `source -> destination`: a block of an all-to-all. Both wrap around p. Only allowed in block sets.
    Pair,
}

impl Builtin {
    /// The function that is easily written instead: `max` for `min`, `floor_log` for `ceil_log`.
    pub const fn confused_with(self) -> Option<Builtin> {
        Some(match self {
            Builtin::Min => Builtin::Max,
            Builtin::Max => Builtin::Min,
            Builtin::CeilLog => Builtin::FloorLog,
            Builtin::FloorLog => Builtin::CeilLog,
            _ => return None,
        })
    }

    /// All functions that expressions call by name.
    pub const ALL: [Builtin; 14] = [
        Builtin::Min,
        Builtin::Max,
        Builtin::Pow,
        Builtin::CeilLog,
        Builtin::FloorLog,
        Builtin::CeilDiv,
        Builtin::Gcd,
        Builtin::Digit,
        Builtin::DigitSum,
        Builtin::PartSize,
        Builtin::PartBegin,
        Builtin::PartOf,
        Builtin::FirstRank,
        Builtin::NodeSize,
    ];

    /// Its name, in declarations and in [`crate::arith`].
    pub const fn name(self) -> &'static str {
        match self {
            Builtin::Min => "min",
            Builtin::Max => "max",
            Builtin::Pow => "pow",
            Builtin::CeilLog => "ceil_log",
            Builtin::FloorLog => "floor_log",
            Builtin::CeilDiv => "ceil_div",
            Builtin::Gcd => "gcd",
            Builtin::Digit => "digit",
            Builtin::DigitSum => "digit_sum",
            Builtin::PartSize => "part_size",
            Builtin::PartBegin => "part_begin",
            Builtin::PartOf => "part_of",
            Builtin::FirstRank => "first_rank",
            Builtin::NodeSize => "node_size",
            Builtin::Pair => "pair",
        }
    }

    /// The number of arguments.
    pub const fn arity(self) -> usize {
        match self {
            Builtin::Digit | Builtin::PartSize | Builtin::PartBegin | Builtin::PartOf => 3,
            Builtin::FirstRank | Builtin::NodeSize => 1,
            _ => 2,
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A variable.
    Var(Var),
    /// `list[index]`
    Element(ListVar, Box<Expr>),
    /// `len(list)`
    Length(ListVar),
    /// `product(list, n)` or `product(list + 1, n)`: the product of the first `n` elements, each with this constant
    /// added.
    Product(ListVar, i64, Box<Expr>),
    /// An operator with one operand.
    Unary(Unary, Box<Expr>),
    /// An operator with two operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A built-in function.
    Builtin(Builtin, Vec<Expr>),
    /// A definition with arguments: its name, its index among the functions, the arguments.
    Call(String, usize, Vec<Expr>),
    /// `if condition { then } else { otherwise }`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// A variable.
    pub fn var(name: &str, slot: usize) -> Self {
        Expr::Var(Var { name: name.into(), slot })
    }

    /// The built-in variable with this [slot].
    pub fn built_in(slot: usize) -> Self {
        Expr::var(BUILTIN_VARS[slot], slot)
    }

    /// An operator with two operands.
    pub fn binary(op: Binary, a: Expr, b: Expr) -> Self {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// The direct subexpressions.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Int(_) | Expr::Bool(_) | Expr::Var(_) | Expr::Length(_) => vec![],
            Expr::Element(_, a) | Expr::Product(_, _, a) | Expr::Unary(_, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Builtin(_, args) | Expr::Call(_, _, args) => args.iter().collect(),
            Expr::If(c, a, b) => vec![c, a, b],
        }
    }

    /// The direct subexpressions, mutable.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Int(_) | Expr::Bool(_) | Expr::Var(_) | Expr::Length(_) => vec![],
            Expr::Element(_, a) | Expr::Product(_, _, a) | Expr::Unary(_, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Builtin(_, args) | Expr::Call(_, _, args) => args.iter_mut().collect(),
            Expr::If(c, a, b) => vec![c, a, b],
        }
    }

    /// Calls `visit` with this expression and every subexpression.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// This expression with each of its nodes in turn replaced by each of its `replacements`.
    pub fn with_one_node_changed(&self, replacements: &dyn Fn(&Expr) -> Vec<Expr>) -> Vec<Expr> {
        let mut all = replacements(self);
        for (number, child) in self.children().into_iter().enumerate() {
            for changed in child.with_one_node_changed(replacements) {
                let mut whole = self.clone();
                if let Some(slot) = whole.children_mut().into_iter().nth(number) {
                    *slot = changed;
                }
                all.push(whole);
            }
        }
        all
    }

    /// Whether the variable in `slot` occurs. Bodies of called definitions are not searched: what a definition may
    /// mention is fixed where it is declared.
    pub fn mentions(&self, slot: usize) -> bool {
        let mut found = false;
        self.walk(&mut |e| found |= matches!(e, Expr::Var(v) if v.slot == slot));
        found
    }
}

impl From<i64> for Expr {
    fn from(n: i64) -> Self {
        Expr::Int(n)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(f, self, 0)
    }
}

/// Writes `e`, with parentheses only if an outer operator of binding strength `outer` needs them.
fn write_expr(f: &mut fmt::Formatter<'_>, e: &Expr, outer: u8) -> fmt::Result {
    match e {
        Expr::Int(n) => write!(f, "{n}"),
        Expr::Bool(b) => write!(f, "{b}"),
        Expr::Var(v) => f.write_str(&v.name),
        Expr::Element(list, i) => write!(f, "{}[{i}]", list.name),
        Expr::Length(list) => write!(f, "len({})", list.name),
        Expr::Product(list, 0, n) => write!(f, "product({}, {n})", list.name),
        Expr::Product(list, plus, n) => write!(f, "product({} + {plus}, {n})", list.name),
        Expr::Unary(op, a) => {
            f.write_str(if *op == Unary::Neg { "-" } else { "!" })?;
            write_expr(f, a, 11)
        }
        Expr::Binary(op, a, b) => {
            let (text, strength) = op.text();
            let parenthesised = strength < outer;
            f.write_str(if parenthesised { "(" } else { "" })?;
            let left = if op.is_comparison() { strength + 1 } else { strength };
            write_expr(f, a, left)?;
            write!(f, " {text} ")?;
            write_expr(f, b, strength + 1)?;
            f.write_str(if parenthesised { ")" } else { "" })
        }
        Expr::Builtin(Builtin::Pair, ends) => match ends.as_slice() {
            [source, destination] => write!(f, "{source} -> {destination}"),
            other => write_call(f, "pair", other),
        },
        Expr::Builtin(function, args) => write_call(f, function.name(), args),
        Expr::Call(name, _, args) if args.is_empty() => f.write_str(name),
        Expr::Call(name, _, args) => write_call(f, name, args),
        Expr::If(c, a, b) if outer > 0 => write!(f, "(if {c} {{ {a} }} else {{ {b} }})"),
        Expr::If(c, a, b) => write!(f, "if {c} {{ {a} }} else {{ {b} }}"),
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, args: &[Expr]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, arg) in args.iter().enumerate() {
        write!(f, "{}{arg}", if i == 0 { "" } else { ", " })?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_only_where_needed() {
        let (a, b) = (Expr::var("a", 0), Expr::var("b", 1));
        let sum = Expr::binary(Binary::Add, a.clone(), b.clone());
        assert_eq!(Expr::binary(Binary::Mul, sum.clone(), 2.into()).to_string(), "(a + b) * 2");
        assert_eq!(Expr::binary(Binary::Sub, a.clone(), sum.clone()).to_string(), "a - (a + b)");
        assert_eq!(Expr::binary(Binary::Sub, sum, b).to_string(), "a + b - b");
        assert_eq!(Expr::Unary(Unary::Neg, Box::new(a)).to_string(), "-a");
    }
}
