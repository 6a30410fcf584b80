//! Expressions as Rust.

use crate::schedule::Schedule;
use crate::schedule::affine::Progression;
use crate::schedule::blocks::Comprehension;
use crate::schedule::expr::{Binary, Builtin, Expr, Unary};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

/// An identifier of the generated code.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// A number without a type suffix.
pub(super) fn number(n: i64) -> TokenStream {
    let magnitude = Literal::u64_unsuffixed(n.unsigned_abs());
    if n < 0 { quote!(-#magnitude) } else { quote!(#magnitude) }
}

/// The Rust text of an expression. Ranks and blocks are not wrapped here.
pub(super) fn rust(e: &Expr) -> TokenStream {
    inside(e, 0)
}

/// The text of `e` inside an operator of binding strength `outer`, with the parentheses it needs there.
fn inside(e: &Expr, outer: u8) -> TokenStream {
    match e {
        Expr::Int(n) => number(*n),
        Expr::Bool(b) => quote!(#b),
        Expr::Var(v) => {
            let name = ident(&v.name);
            quote!(#name)
        }
        Expr::Element(list, index) => {
            let (list, index) = (ident(&list.name), rust(index));
            quote!(#list[(#index) as usize])
        }
        Expr::Length(list) => {
            let list = ident(&list.name);
            quote!((#list.len() as i64))
        }
        Expr::Product(list, 0, n) => {
            let (list, n) = (ident(&list.name), rust(n));
            quote!(#list.iter().take(arith::max(0, #n) as usize).product::<i64>())
        }
        Expr::Product(list, plus, n) => {
            let (list, plus, n) = (ident(&list.name), number(*plus), rust(n));
            quote!(#list.iter().take(arith::max(0, #n) as usize).map(|element| element + #plus).product::<i64>())
        }
        Expr::Unary(op, a) => {
            let a = inside(a, 11);
            match op {
                Unary::Neg => quote!(-#a),
                Unary::Not => quote!(!#a),
            }
        }
        Expr::Binary(op, a, b) => binary(*op, a, b, outer),
        Expr::Builtin(function, args) => {
            let (name, args) = (ident(function.name()), args.iter().map(rust));
            match function {
                Builtin::FirstRank | Builtin::NodeSize => quote!(at.#name(#(#args),*)),
                Builtin::Pair => quote!(arith::pair(#(#args),*, p)),
                _ => quote!(arith::#name(#(#args),*)),
            }
        }
        Expr::Call(name, _, args) => {
            let (name, args) = (ident(name), args.iter().map(rust));
            quote!(#name(#(#args),*))
        }
        Expr::If(c, a, b) => {
            let (c, a, b) = (rust(c), rust(a), rust(b));
            let text = quote!(if #c { #a } else { #b });
            if outer > 0 { quote!((#text)) } else { text }
        }
    }
}

fn binary(op: Binary, a: &Expr, b: &Expr, outer: u8) -> TokenStream {
    if let Binary::Div | Binary::Rem = op {
        let (name, a, b) = (ident(if op == Binary::Div { "div" } else { "rem" }), rust(a), rust(b));
        return quote!(arith::#name(#a, #b));
    }
    infix(op, a, b, outer, inside)
}

/// An operator between its operands, each of which `inside` writes for a binding strength.
pub(super) fn infix(
    op: Binary,
    a: &Expr,
    b: &Expr,
    outer: u8,
    inside: impl Fn(&Expr, u8) -> TokenStream,
) -> TokenStream {
    let (text, strength) = op.text();
    let operator: TokenStream = text.parse().expect("operators are Rust's own");
    let left = inside(a, if op.is_comparison() { strength + 1 } else { strength });
    let right = inside(b, strength + 1);
    let text = quote!(#left #operator #right);
    if strength < outer { quote!((#text)) } else { text }
}

/// What some expressions need in scope: built-in variables, parameters, definitions.
pub(super) struct Needs<'a> {
    schedule: &'a Schedule,
    names: BTreeSet<String>,
    functions: BTreeSet<usize>,
    /// Whether the code asks nodes for their ranks.
    asks_for_nodes: bool,
}

impl<'a> Needs<'a> {
    pub(super) fn new(schedule: &'a Schedule) -> Self {
        Needs { schedule, names: BTreeSet::new(), functions: BTreeSet::new(), asks_for_nodes: false }
    }

    /// The schedule that the code belongs to.
    pub(super) fn schedule(&self) -> &'a Schedule {
        self.schedule
    }

    /// Adds what `e` needs, directly or through definitions.
    pub(super) fn add(&mut self, e: &Expr) -> &mut Self {
        e.walk(&mut |e| match e {
            Expr::Var(v) => self.name(&v.name),
            Expr::Element(list, _) | Expr::Length(list) | Expr::Product(list, ..) => self.name(&list.name),
            Expr::Call(_, index, _) => self.function(*index),
            Expr::Builtin(Builtin::FirstRank | Builtin::NodeSize, _) => self.asks_for_nodes = true,
            Expr::Builtin(Builtin::Pair, _) => self.name("p"),
            _ => {}
        });
        self
    }

    /// Whether a name is needed.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Adds a name.
    pub(super) fn name(&mut self, name: &str) {
        self.names.insert(name.into());
    }

    fn function(&mut self, index: usize) {
        if self.functions.insert(index) {
            let body = self.schedule.functions[index].body.clone();
            self.add(&body);
        }
    }

    /// The progression of a part's last index, if it is one stripe.
    pub(super) fn progression(&self, part: &Comprehension) -> Option<Progression> {
        Progression::of(part, &self.schedule.functions)
    }

    /// The same for a function that passes its place on, where nothing is computed later.
    pub(super) fn bindings_at_once(&self) -> TokenStream {
        Needs { asks_for_nodes: false, names: self.names.clone(), functions: BTreeSet::new(), ..*self }.bindings()
    }

    /// `let` bindings for built-in variables and parameters.
    pub(super) fn bindings(&self) -> TokenStream {
        let used = |name: &&str| self.names.contains(*name);
        let builtin: Vec<Ident> =
            crate::schedule::expr::BUILTIN_VARS.iter().copied().filter(used).map(ident).collect();
        let place = if builtin.is_empty() { quote!() } else { quote!(let Place { #(#builtin,)* .. } = *at;) };
        let numbers = self.schedule.numbers.iter().map(|n| n.var.name.as_str()).filter(used).map(ident);
        let lists = self.schedule.lists.iter().map(|l| l.var.name.as_str()).filter(used).map(ident);
        // Blocks are computed later, during iteration, so they get their own copy of the place.
        let own = if self.asks_for_nodes { quote!(let at = *at;) } else { quote!() };
        quote!(#place #own #(let #numbers = self.#numbers;)* #(let #lists = self.#lists.as_slice();)*)
    }

    /// Definitions as closures: evaluated only where they are used, and inlined.
    pub(super) fn definitions(&self) -> TokenStream {
        let closures = self.functions.iter().map(|&index| {
            let function = &self.schedule.functions[index];
            let (name, body) = (ident(&function.name), rust(&function.body));
            let args = function.args.iter().map(|arg| ident(&arg.name));
            quote!(let #name = move |#(#args: i64),*| #body;)
        });
        quote!(#(#closures)*)
    }
}
