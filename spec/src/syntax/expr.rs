//! Expressions: Rust's expression grammar, interpreted as integer arithmetic.

use super::scope::{Entity, NameScope, Ty};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Binary, Builtin, Expr, Unary};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Lit, Result, UnOp};

/// Lowers expressions in a scope.
pub(crate) struct Lower<'a> {
    pub(crate) scope: &'a NameScope,
    pub(crate) kind: Kind,
}

impl Lower<'_> {
    /// An expression of the expected type.
    pub(crate) fn typed(&self, e: &syn::Expr, expected: Ty) -> Result<Expr> {
        let (lowered, ty) = self.any(e)?;
        if ty == expected {
            return Ok(lowered);
        }
        let help = match expected {
            Ty::Bool => "write a comparison such as `rank < 2 * d`",
            Ty::Int => "write `if condition { 1 } else { 0 }` to count it",
        };
        Err(Error::new_spanned(e, format!("expected {}, found {}; {help}", expected.article(), ty.article())))
    }

    /// A number.
    pub(crate) fn int(&self, e: &syn::Expr) -> Result<Expr> {
        self.typed(e, Ty::Int)
    }

    /// An expression and its type.
    pub(crate) fn any(&self, e: &syn::Expr) -> Result<(Expr, Ty)> {
        match e {
            syn::Expr::Lit(lit) => literal(&lit.lit),
            syn::Expr::Paren(inner) => self.any(&inner.expr),
            syn::Expr::Group(inner) => self.any(&inner.expr),
            syn::Expr::Path(path) => self.name(path),
            syn::Expr::Unary(unary) => self.unary(unary),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::Call(call) => self.call(call),
            syn::Expr::Index(index) => self.element(index),
            syn::Expr::If(branch) => self.branch(branch),
            syn::Expr::Block(block) => self.block(&block.block),
            syn::Expr::MethodCall(call) => {
                Err(Error::new_spanned(call, format!("there are no methods; {}", self.instead_of(call))))
            }
            syn::Expr::Range(range) => {
                Err(Error::new_spanned(range, "a range stands only after `in`, as in `k in 0..n`"))
            }
            other => Err(Error::new_spanned(
                other,
                "this is not part of the language; use numbers, variables, operators, `if … { } else { }` and \
                 functions",
            )),
        }
    }

    /// What to write instead of a Rust method.
    fn instead_of(&self, call: &syn::ExprMethodCall) -> String {
        let (name, receiver) = (call.method.to_string(), plain(&call.receiver));
        let args: Vec<String> = call.args.iter().map(plain).collect();
        let is_known = is_function(&name) || matches!(self.scope.get(&name), Some(Entity::Function { .. }));
        let function = match (name.as_str(), args.as_slice()) {
            ("ilog2", []) => format!("floor_log(2, {receiver})"),
            ("ilog", [base]) => format!("floor_log({base}, {receiver})"),
            ("div_ceil", [divisor]) => format!("ceil_div({receiver}, {divisor})"),
            ("div_euclid", [divisor]) => format!("{receiver} / {divisor}"),
            ("rem_euclid", [modulus]) => format!("{receiver} % {modulus}"),
            ("count_ones", []) => format!("digit_sum({receiver}, 2)"),
            ("next_power_of_two", []) => format!("pow(2, ceil_log(2, {receiver}))"),
            ("is_power_of_two", []) => format!("pow(2, floor_log(2, {receiver})) == {receiver}"),
            _ if is_known => format!("{name}({})", [vec![receiver], args].concat().join(", ")),
            _ => return self.scope.unknown_function(&name),
        };
        format!("write `{function}`")
    }

    fn name(&self, path: &syn::ExprPath) -> Result<(Expr, Ty)> {
        let name = path.to_token_stream().to_string();
        match self.scope.get(&name) {
            Some(Entity::Var { var, .. }) => Ok((Expr::Var(var.clone()), Ty::Int)),
            Some(Entity::Function { index, arity: 0, ty, .. }) => Ok((Expr::Call(name, *index, vec![]), *ty)),
            Some(Entity::Function { arity, .. }) => {
                Err(Error::new_spanned(path, format!("`{name}` takes {}: write `{name}(…)`", arguments(*arity))))
            }
            Some(Entity::List(_)) => Err(Error::new_spanned(
                path,
                format!("`{name}` is a list; write `{name}[i]`, `len({name})` or `product({name}, n)`"),
            )),
            None if is_function(&name) => {
                Err(Error::new_spanned(path, format!("`{name}` is a function: write `{name}(…)`")))
            }
            None if self.scope.is_nameless() => Ok((Expr::Int(1), Ty::Int)),
            None => Err(Error::new_spanned(path, self.scope.unknown(&name, self.kind))),
        }
    }

    fn unary(&self, e: &syn::ExprUnary) -> Result<(Expr, Ty)> {
        let (op, ty) = match e.op {
            UnOp::Neg(_) => (Unary::Neg, Ty::Int),
            UnOp::Not(_) => (Unary::Not, Ty::Bool),
            _ => return Err(Error::new_spanned(e, "there are no references; remove the `*`")),
        };
        match (op, self.typed(&e.expr, ty)?) {
            (Unary::Neg, Expr::Int(n)) => Ok((Expr::Int(-n), ty)),
            (op, inner) => Ok((Expr::Unary(op, Box::new(inner)), ty)),
        }
    }

    fn binary(&self, e: &syn::ExprBinary) -> Result<(Expr, Ty)> {
        let op = operator(e)?;
        let operand = if matches!(op, Binary::And | Binary::Or) { Ty::Bool } else { Ty::Int };
        let (a, b) = both(self.typed(&e.left, operand), self.typed(&e.right, operand))?;
        if matches!(op, Binary::Div | Binary::Rem) && b == Expr::Int(0) {
            return Err(Error::new_spanned(&e.right, "division by zero; divide by a number that is at least 1"));
        }
        let ty = if op.is_logical() { Ty::Bool } else { Ty::Int };
        Ok((Expr::binary(op, a, b), ty))
    }

    fn call(&self, e: &syn::ExprCall) -> Result<(Expr, Ty)> {
        let name = e.func.to_token_stream().to_string();
        if let Some(list) = self.list_function(e, &name)? {
            return Ok((list, Ty::Int));
        }
        if name == "at" {
            // The rank with a local index on a node.
            let [node, local] = self.arguments(e, &name, 2)?.try_into().expect("two arguments");
            return Ok((Expr::binary(Binary::Add, Expr::Builtin(Builtin::FirstRank, vec![node]), local), Ty::Int));
        }
        if let Some(function) = builtin(&name) {
            let args = self.arguments(e, &name, function.arity())?;
            if function == Builtin::CeilDiv && args[1] == Expr::Int(0) {
                return Err(Error::new_spanned(
                    &e.args[1],
                    "division by zero; divide by a number that is at least 1",
                ));
            }
            return Ok((Expr::Builtin(function, args), Ty::Int));
        }
        match self.scope.get(&name) {
            Some(Entity::Function { index, arity, ty, .. }) => {
                Ok((Expr::Call(name.clone(), *index, self.arguments(e, &name, *arity)?), *ty))
            }
            Some(_) => Err(Error::new_spanned(&e.func, format!("`{name}` is not a function; remove the `(…)`"))),
            None => Err(Error::new_spanned(&e.func, self.scope.unknown_function(&name))),
        }
    }

    fn arguments(&self, e: &syn::ExprCall, name: &str, arity: usize) -> Result<Vec<Expr>> {
        if e.args.len() != arity {
            let message = format!("`{name}` takes {}, found {}", arguments(arity), e.args.len());
            return Err(Error::new_spanned(e, message));
        }
        e.args.iter().map(|arg| self.int(arg)).collect()
    }

    /// `len(list)`, `product(list, n)` and `product(list + 1, n)`.
    fn list_function(&self, e: &syn::ExprCall, name: &str) -> Result<Option<Expr>> {
        let arity = match name {
            "len" => 1,
            "product" => 2,
            _ => return Ok(None),
        };
        let (list, plus) = match e.args.first() {
            Some(arg) if e.args.len() == arity => shifted(arg),
            _ => {
                return Err(Error::new_spanned(e, "write `len(list)`, `product(list, n)` or `product(list + 1, n)`"));
            }
        };
        if name == "len" && plus != 0 {
            return Err(Error::new_spanned(&e.args[0], "`len` takes a list alone; remove what is added to it"));
        }
        let Some(Entity::List(list)) = self.scope.get(&list) else {
            return Err(not_a_list(&e.args[0]));
        };
        Ok(Some(match name {
            "len" => Expr::Length(list.clone()),
            _ => Expr::Product(list.clone(), plus, Box::new(self.int(&e.args[1])?)),
        }))
    }

    fn element(&self, e: &syn::ExprIndex) -> Result<(Expr, Ty)> {
        let name = e.expr.to_token_stream().to_string();
        match self.scope.get(&name) {
            Some(Entity::List(list)) => Ok((Expr::Element(list.clone(), Box::new(self.int(&e.index)?)), Ty::Int)),
            _ => Err(not_a_list(&e.expr)),
        }
    }

    fn branch(&self, e: &syn::ExprIf) -> Result<(Expr, Ty)> {
        let Some((_, otherwise)) = &e.else_branch else {
            return Err(Error::new_spanned(e, "`if` needs an `else`: every expression has a value"));
        };
        let condition = self.typed(&e.cond, Ty::Bool);
        let (condition, (then, ty)) = both(condition, self.block(&e.then_branch))?;
        let otherwise = self.typed(otherwise, ty)?;
        Ok((Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise)), ty))
    }

    fn block(&self, block: &syn::Block) -> Result<(Expr, Ty)> {
        match block.stmts.as_slice() {
            [syn::Stmt::Expr(e, None)] => self.any(e),
            _ => Err(Error::new(block.span(), "a branch is one expression; name parts of it with `define`")),
        }
    }
}

/// An expression in its usual spelling, without the spaces that tokens are printed with around dots and parentheses.
fn plain(e: &syn::Expr) -> String {
    let e = match e {
        syn::Expr::Paren(inner) => &*inner.expr,
        e => e,
    };
    let text = e.to_token_stream().to_string();
    [(" . ", "."), (" (", "("), ("( ", "("), (" )", ")"), (" ,", ",")]
        .iter()
        .fold(text, |text, (a, b)| text.replace(a, b))
}

/// `ports` or `ports + 1`, as a name and the number added.
fn shifted(e: &syn::Expr) -> (String, i64) {
    if let syn::Expr::Binary(sum) = e
        && let (syn::BinOp::Add(_), syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(plus), .. })) =
            (&sum.op, &*sum.right)
        && let Ok(plus) = plus.base10_parse()
    {
        return (sum.left.to_token_stream().to_string(), plus);
    }
    (e.to_token_stream().to_string(), 0)
}

fn not_a_list(e: &syn::Expr) -> Error {
    let message = format!("`{}` is not a list; declare a list parameter as `ports: list(1..)`", e.to_token_stream());
    Error::new_spanned(e, message)
}

fn arguments(arity: usize) -> String {
    format!("{arity} argument{}", if arity == 1 { "" } else { "s" })
}

/// Both values, or the errors of both.
pub(crate) fn both<A, B>(a: Result<A>, b: Result<B>) -> Result<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut a), Err(b)) => {
            a.combine(b);
            Err(a)
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// Whether a name is a function of the language.
pub(crate) fn is_function(name: &str) -> bool {
    builtin(name).is_some() || matches!(name, "len" | "product" | "at" | "region")
}

fn builtin(name: &str) -> Option<Builtin> {
    Builtin::ALL.into_iter().find(|function| function.name() == name)
}

fn literal(lit: &Lit) -> Result<(Expr, Ty)> {
    match lit {
        Lit::Int(n) => match n.base10_parse() {
            Ok(value) => Ok((Expr::Int(value), Ty::Int)),
            Err(_) => Err(Error::new_spanned(n, "this number does not fit 64 bits")),
        },
        Lit::Bool(b) => Ok((Expr::Bool(b.value), Ty::Bool)),
        other => Err(Error::new_spanned(other, "only whole numbers, `true` and `false` are values")),
    }
}

fn operator(e: &syn::ExprBinary) -> Result<Binary> {
    Ok(match e.op {
        BinOp::Add(_) => Binary::Add,
        BinOp::Sub(_) => Binary::Sub,
        BinOp::Mul(_) => Binary::Mul,
        BinOp::Div(_) => Binary::Div,
        BinOp::Rem(_) => Binary::Rem,
        BinOp::BitAnd(_) => Binary::BitAnd,
        BinOp::BitOr(_) => Binary::BitOr,
        BinOp::BitXor(_) => Binary::BitXor,
        BinOp::Shl(_) => Binary::Shl,
        BinOp::Shr(_) => Binary::Shr,
        BinOp::Eq(_) => Binary::Eq,
        BinOp::Ne(_) => Binary::Ne,
        BinOp::Lt(_) => Binary::Lt,
        BinOp::Le(_) => Binary::Le,
        BinOp::Gt(_) => Binary::Gt,
        BinOp::Ge(_) => Binary::Ge,
        BinOp::And(_) => Binary::And,
        BinOp::Or(_) => Binary::Or,
        _ => {
            let message = "an expression does not assign; use `state` for what changes from round to round";
            return Err(Error::new_spanned(e, message));
        }
    })
}
