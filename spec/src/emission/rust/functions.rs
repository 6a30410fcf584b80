//! The peer, block and guard functions: pure, free of allocations, and callable on their own.

use super::blocks::blocks;
use super::expr::{Needs, ident, rust};
use crate::schedule::expr::Var;
use crate::schedule::message::Direction;
use crate::schedule::message::{Action, Site};
use crate::schedule::{Loop, Schedule, Transfer};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// The functions of one transfer, and how to call them.
pub(super) struct TransferCode<'a> {
    schedule: &'a Schedule,
    transfer: &'a Transfer,
    /// The variables of the round: indices, states, the clause's own indices.
    vars: Vec<&'a Var>,
    suffix: String,
}

impl<'a> TransferCode<'a> {
    /// All transfers of a loop.
    pub(super) fn of_loop(schedule: &'a Schedule, l: &'a Loop) -> Vec<Self> {
        l.transfers.iter().map(|transfer| Self::new(schedule, l, transfer)).collect()
    }

    fn new(schedule: &'a Schedule, l: &'a Loop, transfer: &'a Transfer) -> Self {
        let vars = l
            .indices
            .iter()
            .map(|index| &index.var)
            .chain(l.states.iter().map(|state| &state.var))
            .chain(transfer.each.iter().map(|index| &index.var))
            .collect();
        let same: Vec<_> = schedule.transfers().filter(|t| t.direction == transfer.direction).collect();
        let number = same.iter().position(|t| t.site == transfer.site);
        let suffix = match number {
            Some(number) if same.len() > 1 => format!("_{number}"),
            _ => String::new(),
        };
        TransferCode { schedule, transfer, vars, suffix }
    }

    fn name(&self, part: &str) -> Ident {
        let verb = match self.transfer.direction {
            Direction::Send => "send",
            Direction::Recv => "recv",
        };
        format_ident!("{verb}_{part}{}", self.suffix)
    }

    fn peer_name(&self) -> Ident {
        self.name(match self.transfer.direction {
            Direction::Send => "to",
            Direction::Recv => "from",
        })
    }

    fn args(&self) -> TokenStream {
        let names = self.vars.iter().map(|var| ident(&var.name));
        quote!(#(#names: i64),*)
    }

    /// The call of one of the functions.
    fn call(&self, name: &Ident) -> TokenStream {
        let names = self.vars.iter().map(|var| ident(&var.name));
        quote!(self.#name(at, #(#names),*))
    }

    /// The functions.
    pub(super) fn functions(&self) -> TokenStream {
        let (peer, blocks, when) = (self.peer_function(), self.blocks_function(), self.when_function());
        quote!(#peer #blocks #when)
    }

    fn peer_function(&self) -> TokenStream {
        let mut needs = Needs::new(self.schedule);
        needs.add(&self.transfer.peer).name("p");
        let (bindings, definitions) = (needs.bindings(), needs.definitions());
        let (name, args, peer) = (self.peer_name(), self.args(), rust(&self.transfer.peer));
        let doc = format!(" The peer `{}`.", self.transfer.peer);
        quote! {
            #[doc = #doc]
            #[inline]
            pub fn #name(&self, at: &Place<'_>, #args) -> usize {
                #bindings
                #definitions
                arith::wrap(#peer, p) as usize
            }
        }
    }

    fn blocks_function(&self) -> TokenStream {
        let mut needs = Needs::new(self.schedule);
        let code = blocks(&self.transfer.blocks, &mut needs);
        let (bindings, definitions) = (needs.bindings(), needs.definitions());
        let (name, args, value) = (self.name("blocks"), self.args(), code.value);
        let doc = format!(" The blocks `{}`.", self.transfer.blocks);
        let (generics, life, result) = result_type(code.single);
        let place = if code.single { quote!('_) } else { quote!('a) };
        quote! {
            #[doc = #doc]
            #[inline]
            pub fn #name #generics(&#life self, at: &Place<#place>, #args) -> #result {
                #bindings
                #definitions
                #value
            }
        }
    }

    fn when_function(&self) -> TokenStream {
        let Some(when) = &self.transfer.when else { return quote!() };
        let mut needs = Needs::new(self.schedule);
        needs.add(when);
        let (bindings, definitions) = (needs.bindings(), needs.definitions());
        let (name, args, condition) = (self.name("when"), self.args(), rust(when));
        let doc = format!(" Whether there is a message: `{when}`.");
        quote! {
            #[doc = #doc]
            #[inline]
            pub fn #name(&self, at: &Place<'_>, #args) -> bool {
                #bindings
                #definitions
                #condition
            }
        }
    }

    /// The direction of the clause.
    pub(super) fn direction(&self) -> Direction {
        self.transfer.direction
    }

    /// The number of the clause.
    pub(super) fn site(&self) -> u16 {
        self.transfer.site.number
    }

    /// The clause as a sink sees it.
    pub(super) fn its_site(&self) -> &Site {
        &self.transfer.site
    }

    /// The line that it reads or writes.
    pub(super) fn line(&self) -> usize {
        self.transfer.site.line.into()
    }

    /// Its blocks, as declared.
    pub(super) fn blocks_set(&self) -> &crate::schedule::blocks::BlockSet {
        &self.transfer.blocks
    }

    /// The schedule it belongs to.
    pub(super) fn schedule(&self) -> &Schedule {
        self.schedule
    }

    /// The indices of the clause itself.
    pub(super) fn each(&self) -> &[crate::schedule::blocks::Index] {
        &self.transfer.each
    }

    /// The variables of the round and of the clause.
    pub(super) fn variables(&self) -> Vec<Ident> {
        self.vars.iter().map(|var| ident(&var.name)).collect()
    }

    /// The call of the guard, if there is one.
    pub(super) fn when_call(&self) -> Option<TokenStream> {
        self.transfer.when.as_ref().map(|_| self.call(&self.name("when")))
    }

    /// The call of the block function.
    pub(super) fn blocks_call(&self) -> TokenStream {
        self.call(&self.name("blocks"))
    }

    /// The call of the peer function.
    pub(super) fn peer_call(&self) -> TokenStream {
        self.call(&self.peer_name())
    }

    /// The type of the block function: generics, lifetime of `self`, result.
    pub(super) fn blocks_type(&self) -> (TokenStream, TokenStream, TokenStream) {
        result_type(blocks(&self.transfer.blocks, &mut Needs::new(self.schedule)).single)
    }

    /// The statement that hands the message to the sink.
    pub(super) fn statement(&self) -> TokenStream {
        let (blocks, peer) = (self.call(&self.name("blocks")), self.call(&self.peer_name()));
        let site = site(&self.transfer.site);
        let verb = ident(match self.transfer.direction {
            Direction::Send => "send",
            Direction::Recv => "recv",
        });
        let mut statement = quote! {
            let blocks = #blocks;
            if !blocks.none() {
                sink.#verb(#site, #peer, blocks)?;
            }
        };
        statement = match &self.transfer.when {
            Some(_) => {
                let when = self.call(&self.name("when"));
                quote!(if #when { #statement })
            }
            None => statement,
        };
        for index in self.transfer.each.iter().rev() {
            let name = ident(&index.var.name);
            let range = scoped(self.schedule, &[&index.lo, &index.hi], |lo_hi| {
                let (lo, hi) = (&lo_hi[0], &lo_hi[1]);
                quote!(#lo..#hi)
            });
            statement = quote!(for #name in #range { #statement });
        }
        statement
    }
}

/// A site as an expression.
pub(super) fn site(site: &Site) -> TokenStream {
    let number = Literal::u16_unsuffixed(site.number);
    if *site == Site::plain(site.number) {
        return quote!(Site::plain(#number));
    }
    let line = Literal::u8_unsuffixed(site.line);
    let action = match site.action {
        Action::Copy => quote!(Action::Copy),
        Action::Replace => quote!(Action::Replace),
        Action::Overwrite => quote!(Action::Overwrite),
        Action::CombineLeft { with } => {
            let with = Literal::u8_unsuffixed(with);
            quote!(Action::CombineLeft { with: #with })
        }
        Action::CombineRight { with } => {
            let with = Literal::u8_unsuffixed(with);
            quote!(Action::CombineRight { with: #with })
        }
    };
    quote!(Site { number: #number, line: #line, action: #action })
}

/// The signature of a block function: generics, lifetime of `self`, result.
fn result_type(single: bool) -> (TokenStream, TokenStream, TokenStream) {
    if single { (quote!(), quote!(), quote!(Stripe)) } else { (quote!(<'a>), quote!('a), quote!(impl Blocks + 'a)) }
}

/// Some expressions inside a function that already has bindings: the definitions they need go right before them.
pub(super) fn scoped(
    schedule: &Schedule,
    exprs: &[&crate::schedule::expr::Expr],
    build: impl FnOnce(&[TokenStream]) -> TokenStream,
) -> TokenStream {
    let mut needs = Needs::new(schedule);
    exprs.iter().for_each(|e| {
        needs.add(e);
    });
    let definitions = needs.definitions();
    let built = build(&exprs.iter().map(|e| rust(e)).collect::<Vec<_>>());
    if definitions.is_empty() { built } else { quote!({ #definitions #built }) }
}
