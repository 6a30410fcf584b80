//! Writes a schedule as the Rust expression that builds it.
//!
//! The derive embeds this expression, so that the schedule is available at run time and a user's program needs no
//! parser.

use super::expr::number;
use super::functions::site;
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::expr::{Expr, ListVar, Var};
use crate::schedule::message::Direction;
use crate::schedule::{
    Bound, BoundScope, Domain, Function, Group, Hold, Inner, Layout, Limits, ListParameter, Loop, Number, Order,
    ReverseOf, Schedule, State, Transfer, Within,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use std::fmt::Debug;

/// The expression that builds a value.
trait Build {
    fn build(&self) -> TokenStream;
}

impl<T: Build> Build for Vec<T> {
    fn build(&self) -> TokenStream {
        let items = self.iter().map(Build::build);
        quote!(vec![#(#items),*])
    }
}

impl<T: Build> Build for Option<T> {
    fn build(&self) -> TokenStream {
        match self {
            Some(value) => {
                let value = value.build();
                quote!(Some(#value))
            }
            None => quote!(None),
        }
    }
}

impl<T: Build> Build for Box<T> {
    fn build(&self) -> TokenStream {
        let inner = (**self).build();
        quote!(Box::new(#inner))
    }
}

impl Build for i64 {
    fn build(&self) -> TokenStream {
        number(*self)
    }
}

impl Build for bool {
    fn build(&self) -> TokenStream {
        quote!(#self)
    }
}

impl Build for usize {
    fn build(&self) -> TokenStream {
        let n = Literal::usize_unsuffixed(*self);
        quote!(#n)
    }
}

impl Build for (i64, i64) {
    fn build(&self) -> TokenStream {
        let (a, b) = (number(self.0), number(self.1));
        quote!((#a, #b))
    }
}

impl Build for String {
    fn build(&self) -> TokenStream {
        quote!(#self.into())
    }
}

/// The variant of an enum without data: `Debug` prints its name.
fn variant(value: impl Debug) -> Ident {
    Ident::new(&format!("{value:?}"), Span::call_site())
}

/// Builds a struct from its fields.
macro_rules! build_struct {
    ($type:ident { $($field:ident),* }) => {
        impl Build for $type {
            fn build(&self) -> TokenStream {
                $(let $field = self.$field.build();)*
                quote!($type { $($field: #$field),* })
            }
        }
    };
}

build_struct!(Var { name, slot });
build_struct!(ListVar { name, slot });
build_struct!(Index { var, lo, hi });
build_struct!(Comprehension { item, over, filter });
build_struct!(BlockSet { parts });
build_struct!(Domain { lo, hi });
build_struct!(Number { var, domain });
build_struct!(ListParameter { var, domain });
build_struct!(Function { name, args, body });
build_struct!(State { var, init, next, each, backward });
build_struct!(Loop { indices, states, transfers, within, holds, hints, ends_with });
build_struct!(Limits { p, numbers, lists });

impl Build for Expr {
    fn build(&self) -> TokenStream {
        match self {
            Expr::Int(n) => {
                let n = number(*n);
                quote!(Expr::Int(#n))
            }
            Expr::Bool(b) => quote!(Expr::Bool(#b)),
            Expr::Var(v) => {
                let (name, slot) = (&v.name, v.slot.build());
                quote!(Expr::var(#name, #slot))
            }
            Expr::Element(list, index) => {
                let (list, index) = (list.build(), index.build());
                quote!(Expr::Element(#list, #index))
            }
            Expr::Length(list) => {
                let list = list.build();
                quote!(Expr::Length(#list))
            }
            Expr::Product(list, plus, n) => {
                let (list, plus, n) = (list.build(), plus.build(), n.build());
                quote!(Expr::Product(#list, #plus, #n))
            }
            Expr::Unary(op, a) => {
                let (op, a) = (variant(op), a.build());
                quote!(Expr::Unary(Unary::#op, #a))
            }
            Expr::Binary(op, a, b) => {
                let (op, a, b) = (variant(op), (**a).build(), (**b).build());
                quote!(Expr::binary(Binary::#op, #a, #b))
            }
            Expr::Builtin(function, args) => {
                let (function, args) = (variant(function), args.build());
                quote!(Expr::Builtin(Builtin::#function, #args))
            }
            Expr::Call(name, index, args) => {
                let (name, index, args) = (name.build(), index.build(), args.build());
                quote!(Expr::Call(#name, #index, #args))
            }
            Expr::If(c, a, b) => {
                let (c, a, b) = (c.build(), a.build(), b.build());
                quote!(Expr::If(#c, #a, #b))
            }
        }
    }
}

impl Build for Direction {
    fn build(&self) -> TokenStream {
        let name = variant(self);
        quote!(Direction::#name)
    }
}

impl Build for Transfer {
    fn build(&self) -> TokenStream {
        let site = site(&self.site);
        let (direction, each, when) = (self.direction.build(), self.each.build(), self.when.build());
        let (peer, blocks) = (self.peer.build(), self.blocks.build());
        quote! {
            Transfer { direction: #direction, site: #site, each: #each, when: #when, peer: #peer, blocks: #blocks }
        }
    }
}

impl Build for Hold {
    fn build(&self) -> TokenStream {
        match self {
            Hold::Blocks(set) => {
                let set = set.build();
                quote!(Hold::Blocks(#set))
            }
            Hold::Contributors { line, block, ranks } => {
                let (line, block, ranks) = (Literal::u8_unsuffixed(*line), block.build(), ranks.build());
                quote!(Hold::Contributors { line: #line, block: #block, ranks: #ranks })
            }
            Hold::Counter(metric, value) => {
                let (metric, value) = (variant(metric), value.build());
                quote!(Hold::Counter(Metric::#metric, #value))
            }
            Hold::Fact(fact) => {
                let fact = fact.build();
                quote!(Hold::Fact(#fact))
            }
        }
    }
}

impl Build for Bound {
    fn build(&self) -> TokenStream {
        let scope = match self.scope {
            BoundScope::Max => quote!(BoundScope::Max),
            BoundScope::Each => quote!(BoundScope::Each),
            BoundScope::Node => quote!(BoundScope::Node),
            BoundScope::PerRound(n) => {
                let n = n.build();
                quote!(BoundScope::PerRound(#n))
            }
        };
        let Bound { exact, checked, .. } = self;
        let (metric, value) = (variant(self.metric), self.value.build());
        quote!(Bound { metric: Metric::#metric, scope: #scope, exact: #exact, checked: #checked, value: #value })
    }
}

impl Build for Layout {
    fn build(&self) -> TokenStream {
        match self {
            Layout::InPlace => quote!(Layout::InPlace),
            Layout::Rotated(by) => {
                let by = by.build();
                quote!(Layout::Rotated(#by))
            }
        }
    }
}

impl Build for Group {
    fn build(&self) -> TokenStream {
        match self {
            Group::Node => quote!(Group::Node),
            Group::Lane => quote!(Group::Lane),
            Group::All => quote!(Group::All),
            Group::Stride { distance, count } => {
                let (distance, count) = (distance.build(), count.build());
                quote!(Group::Stride { distance: #distance, count: #count })
            }
            Group::Ranks { first, count } => {
                let (first, count) = (first.build(), count.build());
                quote!(Group::Ranks { first: #first, count: #count })
            }
        }
    }
}

impl Build for Within {
    fn build(&self) -> TokenStream {
        let (site, inner, group) = (site(&self.site), self.inner.build(), self.group.build());
        let (members, when, brings) = (self.members.build(), self.when.build(), self.brings.build());
        let (root, to) = (self.root.build(), self.to.build());
        quote! {
            Within {
                site: #site, inner: #inner, group: #group, members: #members, when: #when, root: #root, to: #to,
                brings: #brings
            }
        }
    }
}

/// An inner collective with its schedule, which is known where the code is used.
fn inner_of(inner: &Inner, ty: &Ident) -> TokenStream {
    let (name, kind) = (inner.name.build(), variant(inner.kind));
    quote!(Inner { name: #name, kind: Kind::#kind, schedule: Some(Box::new(#ty::schedule())) })
}

/// The expression that builds the schedule. `types` are the types of the inner collectives.
pub(super) fn build(schedule: &Schedule, types: &[Ident]) -> TokenStream {
    let (name, kind) = (schedule.name.build(), variant(schedule.kind));
    let (numbers, lists) = (schedule.numbers.build(), schedule.lists.build());
    let inners = schedule.inners.iter().zip(types).map(|(inner, ty)| inner_of(inner, ty));
    let (functions, requires) = (schedule.functions.build(), schedule.requires.build());
    let (lines, blocks) = (schedule.lines.build(), schedule.blocks.build());
    let Order { same_tree, rank_order } = schedule.order;
    let (loops, bounds, layouts) = (schedule.loops.build(), schedule.bounds.build(), schedule.layouts.build());
    let (limits, slots) = (schedule.limits.build(), schedule.slots.build());
    let reverse_of = match schedule.reverse_of {
        Some(ReverseOf { kind, side }) => {
            let (kind, side) = (variant(kind), variant(side));
            quote!(Some(ReverseOf { kind: Kind::#kind, side: CombineSide::#side }))
        }
        None => quote!(None),
    };
    quote! {
        Schedule {
            name: #name,
            kind: Kind::#kind,
            reverse_of: #reverse_of,
            numbers: #numbers,
            lists: #lists,
            inners: vec![#(#inners),*],
            functions: #functions,
            requires: #requires,
            lines: #lines,
            blocks: #blocks,
            order: Order { same_tree: #same_tree, rank_order: #rank_order },
            loops: #loops,
            bounds: #bounds,
            layouts: #layouts,
            limits: #limits,
            slots: #slots,
        }
    }
}
