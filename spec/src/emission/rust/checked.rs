//! Expressions for the domain, which detect that they have no value.
//!
//! The domain is evaluated before anything is known about a call: parameters may have any value, and index arithmetic
//! is proved only for admitted calls. So every operation here that can fail is checked, and returns `None` from the
//! closure around it. Elsewhere calls have been admitted and speed matters, so arithmetic is plain.

use super::expr::{ident, infix, number, rust};
use crate::schedule::expr::{Binary, Builtin, Expr, Unary};
use crate::schedule::{Loop, Schedule};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeSet;

/// A condition as an `Option`: `None` if it has no value.
pub(super) fn condition(schedule: &Schedule, clause: &Expr) -> TokenStream {
    let (definitions, value) = (definitions(schedule, &[clause]), checked(clause));
    if definitions.is_empty() && !can_fail(clause) {
        return quote!(Some(#value));
    }
    quote!((|| { #definitions Some(#value) })())
}

/// The same for a condition on the states after the last round of a loop. Steps are counted, as in the evaluator.
pub(super) fn condition_at_the_end(schedule: &Schedule, l: &Loop, clause: &Expr) -> TokenStream {
    // A definition sees the variables of a round, which change, so its closures are defined at the point of use.
    let value = scoped(schedule, &[clause], checked(clause));
    let inits = l.states.iter().map(|state| {
        let (name, init) = (ident(&state.var.name), scoped(schedule, &[&state.init], checked(&state.init)));
        quote!(let mut #name = #init;)
    });
    let mut body = quote!();
    for (level, index) in l.indices.iter().enumerate().rev() {
        let (name, lo, hi) = (ident(&index.var.name), checked(&index.lo), checked(&index.hi));
        let range = scoped(schedule, &[&index.lo, &index.hi], quote!(#lo..#hi));
        let advance = advance(schedule, l, level);
        body = quote!(for #name in #range { steps_left = arith::step(steps_left)?; #body #advance });
    }
    quote! {
        (|| {
            let mut steps_left = arith::budget(p);
            #(#inits)*
            #body
            Some(#value)
        })()
    }
}

/// Advances the states of one index, all at once.
fn advance(schedule: &Schedule, l: &Loop, level: usize) -> TokenStream {
    let moving: Vec<_> = l.states.iter().filter(|state| state.each == level).collect();
    let names: Vec<_> = moving.iter().map(|state| ident(&state.var.name)).collect();
    let next: Vec<TokenStream> =
        moving.iter().map(|state| scoped(schedule, &[&state.next], checked(&state.next))).collect();
    match (names.as_slice(), next.as_slice()) {
        ([], _) => quote!(),
        ([name], [next]) => quote!(#name = #next;),
        (names, next) => quote!((#(#names),*) = (#(#next),*);),
    }
}

fn scoped(schedule: &Schedule, exprs: &[&Expr], built: TokenStream) -> TokenStream {
    let definitions = definitions(schedule, exprs);
    if definitions.is_empty() { built } else { quote!({ #definitions #built }) }
}

/// The definitions that some expressions use, as closures.
fn definitions(schedule: &Schedule, exprs: &[&Expr]) -> TokenStream {
    let mut used = BTreeSet::new();
    exprs.iter().for_each(|e| reach(schedule, e, &mut used));
    let closures = used.into_iter().map(|index| {
        let function = &schedule.functions[index];
        let (name, body) = (ident(&function.name), checked(&function.body));
        let args = function.args.iter().map(|arg| ident(&arg.name));
        quote!(let #name = move |#(#args: i64),*| Some(#body);)
    });
    quote!(#(#closures)*)
}

fn reach(schedule: &Schedule, e: &Expr, used: &mut BTreeSet<usize>) {
    e.walk(&mut |e| {
        if let Expr::Call(_, index, _) = e
            && used.insert(*index)
        {
            reach(schedule, &schedule.functions[*index].body, used);
        }
    });
}

/// Whether an expression may have no value.
fn can_fail(e: &Expr) -> bool {
    let mut fails = false;
    e.walk(&mut |e| {
        fails |= match e {
            Expr::Element(..) | Expr::Product(..) | Expr::Call(..) | Expr::Unary(Unary::Neg, _) => true,
            Expr::Binary(op, ..) => checked_operator(*op).is_some(),
            Expr::Builtin(function, _) => !always_has_a_value(*function),
            _ => false,
        };
    });
    fails
}

const fn always_has_a_value(function: Builtin) -> bool {
    matches!(function, Builtin::Min | Builtin::Max | Builtin::FirstRank | Builtin::NodeSize)
}

/// The checked form of an arithmetic operator.
fn checked_operator(op: Binary) -> Option<TokenStream> {
    Some(match op {
        Binary::Add => quote!(i64::checked_add),
        Binary::Sub => quote!(i64::checked_sub),
        Binary::Mul => quote!(i64::checked_mul),
        Binary::Div => quote!(arith::checked_div),
        Binary::Rem => quote!(arith::checked_rem),
        Binary::Shl => quote!(arith::checked_shl),
        Binary::Shr => quote!(arith::checked_shr),
        _ => return None,
    })
}

/// The Rust text of an expression inside a function that returns an `Option`.
fn checked(e: &Expr) -> TokenStream {
    inside(e, 0)
}

fn inside(e: &Expr, outer: u8) -> TokenStream {
    match e {
        Expr::Int(n) => number(*n),
        Expr::Bool(_) | Expr::Var(_) | Expr::Length(_) => rust(e),
        Expr::Element(list, index) => {
            let (list, index) = (ident(&list.name), checked(index));
            quote!(*#list.get(usize::try_from(#index).ok()?)?)
        }
        Expr::Product(list, plus, n) => {
            let (list, plus, n) = (ident(&list.name), number(*plus), checked(n));
            quote!(arith::checked_product(#list, #plus, #n)?)
        }
        Expr::Unary(Unary::Neg, a) => {
            let a = checked(a);
            quote!(i64::checked_neg(#a)?)
        }
        Expr::Unary(Unary::Not, a) => {
            let a = inside(a, 11);
            quote!(!#a)
        }
        Expr::Binary(op, a, b) => binary(*op, a, b, outer),
        Expr::Builtin(function, args) => {
            let args = args.iter().map(checked);
            match function {
                Builtin::Min | Builtin::Max => {
                    let name = ident(function.name());
                    quote!(arith::#name(#(#args),*))
                }
                Builtin::FirstRank | Builtin::NodeSize => {
                    let name = ident(function.name());
                    quote!(at.#name(#(#args),*))
                }
                _ => {
                    let name = ident(&format!("checked_{}", function.name()));
                    quote!(arith::#name(#(#args),*)?)
                }
            }
        }
        Expr::Call(name, _, args) => {
            let (name, args) = (ident(name), args.iter().map(checked));
            quote!(#name(#(#args),*)?)
        }
        Expr::If(c, a, b) => {
            let (c, a, b) = (checked(c), checked(a), checked(b));
            let text = quote!(if #c { #a } else { #b });
            if outer > 0 { quote!((#text)) } else { text }
        }
    }
}

fn binary(op: Binary, a: &Expr, b: &Expr, outer: u8) -> TokenStream {
    if let Some(function) = checked_operator(op) {
        let (a, b) = (checked(a), checked(b));
        return quote!(#function(#a, #b)?);
    }
    infix(op, a, b, outer, inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenTree;

    fn has_question_mark(token: TokenTree) -> bool {
        match token {
            TokenTree::Punct(punct) => punct.as_char() == '?',
            TokenTree::Group(group) => group.stream().into_iter().any(has_question_mark),
            _ => false,
        }
    }

    /// What may have no value is what returns early.
    #[test]
    fn expressions_that_can_fail_return_early() {
        let clauses = [
            "p > 1",
            "-p < 0",
            "p + 1 > 1",
            "p / 2 > 0",
            "p % 2 == 0",
            "1 << p > 2",
            "!(p < 2)",
            "min(p, 3) < max(p, 4)",
            "pow(2, ceil_log(2, p)) == p",
            "if p > 2 { p > 3 } else { true }",
            "if p > 2 { p / 2 > 1 } else { true }",
            "p > 2 && p < 9",
            "p > 2 || p * 2 > 1",
            "node_size(0) > 1",
        ];
        for text in clauses {
            let declaration = format!(
                "#[collective(allgather)] #[requires({text})] #[round(s in 1..p)] \
                 #[send(to = rank + s, blocks = [rank])] #[recv(from = rank - s, blocks = [rank - s])] struct A;"
            );
            let input = syn::parse_str(&declaration).expect("Rust");
            let parsed = crate::syntax::parse(&input).unwrap_or_else(|error| panic!("{text}: {error}"));
            let clause = &parsed.schedule.requires[0];
            assert_eq!(can_fail(clause), checked(clause).into_iter().any(has_question_mark), "{clause}");
        }
    }
}
