//! Inner collectives: the functions that compute which ranks run one, and on which blocks.

use super::blocks::blocks;
use super::expr::{Needs, ident, rust};
use super::functions::site;
use super::rounds::around;
use crate::schedule::expr::{Expr, Var};
use crate::schedule::{Group, Inner, Loop, Schedule, Within};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// The functions of one `within` clause, and how to call them.
pub(super) struct WithinCode<'a> {
    schedule: &'a Schedule,
    within: &'a Within,
    /// The variables of the round.
    vars: Vec<&'a Var>,
    number: usize,
}

impl<'a> WithinCode<'a> {
    /// All clauses of a loop.
    pub(super) fn of_loop(schedule: &'a Schedule, l: &'a Loop) -> Vec<Self> {
        let vars: Vec<&Var> =
            l.indices.iter().map(|index| &index.var).chain(l.states.iter().map(|state| &state.var)).collect();
        let number = |within: &Within| schedule.within().position(|other| other.site == within.site).unwrap_or(0);
        l.within
            .iter()
            .map(|within| WithinCode { schedule, within, vars: vars.clone(), number: number(within) })
            .collect()
    }

    /// The clause.
    pub(super) fn within(&self) -> &Within {
        self.within
    }

    /// The name of one of its functions.
    pub(super) fn name(&self, part: &str) -> Ident {
        match self.schedule.within().nth(1) {
            Some(_) => format_ident!("within_{part}_{}", self.number),
            None => format_ident!("within_{part}"),
        }
    }

    fn args(&self) -> TokenStream {
        let names = self.vars.iter().map(|var| ident(&var.name));
        quote!(#(#names: i64),*)
    }

    fn names(&self) -> TokenStream {
        let names = self.vars.iter().map(|var| ident(&var.name));
        quote!(#(#names),*)
    }

    /// The functions.
    pub(super) fn functions(&self) -> TokenStream {
        let (group, member, brings) = (self.group_function(), self.member_function(), self.brings_function());
        quote!(#group #member #brings)
    }

    /// What a function needs, and the text of some of its expressions.
    fn scoped(&self, exprs: &[&Expr]) -> (TokenStream, Vec<TokenStream>) {
        let mut needs = Needs::new(self.schedule);
        exprs.iter().for_each(|e| {
            needs.add(e);
        });
        let (bindings, definitions) = (needs.bindings(), needs.definitions());
        (quote!(#bindings #definitions), exprs.iter().map(|e| rust(e)).collect())
    }

    /// The function for what this rank knows in its group, if it takes part.
    fn group_function(&self) -> TokenStream {
        let within = self.within;
        let mut exprs: Vec<&Expr> = within.when.iter().chain(&within.members).collect();
        exprs.extend(numbers(&within.group));
        let (needed, texts) = self.scoped(&exprs);
        let mut texts = texts.into_iter();
        let when = within.when.as_ref().and_then(|_| texts.next()).map(|when| {
            quote! {
                if !(#when) {
                    return None;
                }
            }
        });
        let members = match within.members.as_ref().and_then(|_| texts.next()) {
            Some(members) => quote!(Some(#members)),
            None => quote!(None),
        };
        let rest: Vec<TokenStream> = texts.collect();
        let group = match (&within.group, rest.as_slice()) {
            (Group::Node, _) => quote!(at.in_node(#members)),
            (Group::Lane, _) => quote!(at.in_lane(#members)),
            (Group::All, _) => quote!(Place::among(at.rank, at.p, #members)),
            (Group::Stride { .. }, rest) => {
                let (distance, count) = (&rest[0], &rest[1]);
                quote!(Place::among(arith::rem(arith::div(at.rank, #distance), #count), #count, #members))
            }
            (Group::Ranks { .. }, rest) => {
                let (first, count) = (&rest[0], &rest[1]);
                quote!(Place::among(at.rank - (#first), #count, #members))
            }
        };
        let (name, args) = (self.name("group"), self.args());
        quote! {
            /// What this rank knows in its group, if it takes part.
            #[inline]
            fn #name<'a>(&self, at: &Place<'a>, #args) -> Option<Place<'a>> {
                #needed
                #when
                #group
            }
        }
    }

    /// The function for the rank of a member.
    fn member_function(&self) -> TokenStream {
        let (needed, rank) = match &self.within.group {
            Group::Node => (quote!(), quote!(at.first_rank(at.node) + member)),
            Group::Lane => (quote!(), quote!(at.first_rank(member) + at.local)),
            Group::All => (quote!(), quote!(member)),
            Group::Stride { distance, count } => {
                let (needed, texts) = self.scoped(&[distance, count]);
                let (distance, count) = (&texts[0], &texts[1]);
                let index = quote!(arith::rem(arith::div(at.rank, #distance), #count));
                (needed, quote!(arith::wrap(at.rank + (member - #index) * (#distance), at.p)))
            }
            Group::Ranks { first, .. } => {
                let (needed, texts) = self.scoped(&[first]);
                let first = &texts[0];
                (needed, quote!(arith::wrap(#first + member, at.p)))
            }
        };
        let (name, args) = (self.name("member"), self.args());
        quote! {
            /// The rank of a member of the group.
            #[inline]
            fn #name(&self, at: &Place<'_>, member: i64, #args) -> usize {
                #needed
                (#rank) as usize
            }
        }
    }

    /// The function for the blocks that a member contributes.
    fn brings_function(&self) -> TokenStream {
        let (name, mut args) = (self.name("brings"), self.args());
        if self.takes_whole() && self.within.brings.parts.is_empty() {
            return quote! {
                /// The inner collective takes the vector as a whole.
                #[inline]
                fn #name<'a>(&'a self, at: Place<'a>, #args) -> Stripe {
                    let blocks = self.blocks(&at);
                    Stripe::new(0, 1, blocks, blocks)
                }
            };
        }
        let mut needs = Needs::new(self.schedule);
        let code = blocks(&self.within.brings, &mut needs);
        let (bindings, definitions, value) = (needs.bindings(), needs.definitions(), code.value);
        let doc = match &self.within.to {
            None if self.takes_whole() => {
                format!(" The inner collective runs on these blocks: `{}`.", self.within.brings)
            }
            None => format!(" The blocks that a rank brings: `{}`.", self.within.brings),
            Some(to) => {
                let index = ident(&to.name);
                args = quote!(#index: i64, #args);
                format!(" The blocks that a rank brings for member `{}`: `{}`.", to.name, self.within.brings)
            }
        };
        let result = if code.single { quote!(Stripe) } else { quote!(impl Blocks + 'a) };
        quote! {
            #[doc = #doc]
            #[inline]
            fn #name<'a>(&'a self, at: Place<'a>, #args) -> #result {
                let at = &at;
                #bindings
                #definitions
                #value
            }
        }
    }

    fn inner(&self) -> &'a Inner {
        &self.schedule.inners[self.within.inner]
    }

    /// Whether the inner collective knows its blocks as one.
    fn takes_whole(&self) -> bool {
        self.inner().kind.takes_whole()
    }

    fn field(&self) -> Ident {
        ident(&self.inner().name)
    }

    /// The root that the clause gives to the inner collective.
    fn root(&self) -> Option<TokenStream> {
        let (needed, texts) = self.scoped(&[self.within.root.as_ref()?]);
        let root = &texts[0];
        Some(if needed.is_empty() { root.clone() } else { quote!({ #needed #root }) })
    }

    /// The statement that runs the inner collective.
    pub(super) fn statement(&self) -> TokenStream {
        let (group, member, brings) = (self.name("group"), self.name("member"), self.name("brings"));
        let (names, field, site) = (self.names(), self.field(), site(&self.within.site));
        let lines = Literal::usize_unsuffixed(self.schedule.lines.len());
        let brings = match &self.within.to {
            None if self.takes_whole() => quote!(|_: usize| self.#brings(at.of(at.rank), #names)),
            None => quote!(|block: usize| self.#brings(at.of(member(block) as i64), #names)),
            Some(_) => quote!(|block: usize| {
                let (from, to) = (arith::div(block as i64, group.p), arith::rem(block as i64, group.p));
                self.#brings(at.of(member(from as usize) as i64), to, #names)
            }),
        };
        let run = match self.root() {
            None => quote!(run(&self.#field, &group)),
            Some(root) => quote!(run_rooted(&self.#field, #root, &group)),
        };
        quote! {
            sink.enter_groups()?;
            if let Some(group) = self.#group(at, #names) {
                let member = |index: usize| self.#member(at, index as i64, #names);
                let brings = #brings;
                Inside { sink: &mut *sink, member, brings, site: #site, lines: #lines }.#run?;
            }
            sink.leave_groups()?;
        }
    }

    /// The statement that passes the group's place to `ask`, with the root if any inner collective has one.
    fn question(&self) -> TokenStream {
        let (group, names, field) = (self.name("group"), self.names(), Literal::usize_unsuffixed(self.within.inner));
        let root = has_rooted(self.schedule).then(|| {
            let root = self.root().unwrap_or_else(|| quote!(0));
            quote!(, #root)
        });
        quote! {
            if let Some(group) = self.#group(at, #names) {
                ask(#field, &group #root)?;
            }
        }
    }
}

/// Whether an inner collective has a root.
fn has_rooted(schedule: &Schedule) -> bool {
    schedule.inners.iter().any(|inner| inner.kind.has_root())
}

/// The functions that the code of groups calls.
pub(super) fn helpers(schedule: &Schedule) -> TokenStream {
    let whole = schedule.inners.iter().any(|inner| inner.kind.takes_whole()).then(|| quote!(undivided));
    let rooted = has_rooted(schedule).then(|| quote!(rooted_at));
    match [rooted, whole].into_iter().flatten().collect::<Vec<_>>() {
        none if none.is_empty() => quote!(),
        some => quote!(use ::roundel::__private::{#(#some),*};),
    }
}

/// What is asked of an inner collective, in a group.
fn answer(inner: &Inner, question: &Ident) -> TokenStream {
    let field = ident(&inner.name);
    let (inner_one, in_whole) = match inner.kind.has_root() {
        true => (quote!(rooted_at(&self.#field, root)?), quote!(undivided(&rooted_at(&self.#field, root)?, group))),
        false => (quote!(self.#field), quote!(undivided(&self.#field, group))),
    };
    match inner.kind.takes_whole() && question == "admits" {
        true => quote!(#inner_one.#question(group).and_then(|()| #in_whole)),
        false => quote!(#inner_one.#question(group)),
    }
}

/// The expressions that a group is computed from.
fn numbers(group: &Group) -> impl Iterator<Item = &Expr> {
    let both = match group {
        Group::Stride { distance: a, count: b } | Group::Ranks { first: a, count: b } => Some([a, b]),
        Group::Node | Group::Lane | Group::All => None,
    };
    both.into_iter().flatten()
}

/// The functions that ask a question of every inner collective, in every group that a rank belongs to.
pub(super) fn groups(schedule: &Schedule) -> TokenStream {
    if schedule.inners.is_empty() {
        return quote!();
    }
    let mut needs = Needs::new(schedule);
    schedule.loops.iter().for_each(|l| super::rounds::add_loop(&mut needs, l));
    let bindings = needs.bindings_at_once();
    let loops = schedule.loops.iter().filter(|l| !l.within.is_empty()).map(|l| {
        let questions = WithinCode::of_loop(schedule, l).into_iter().map(|code| code.question());
        around(schedule, l, quote!(#(#questions)*))
    });
    // All ranks are considered, because the answer must be the same everywhere. For groups of whole nodes and lanes,
    // one rank of each node suffices, unless lanes differ in what they do.
    let differs =
        |within: &Within| within.group == Group::Lane && (within.when.is_some() || within.members.is_some());
    let every = schedule.within().any(|within| numbers(&within.group).next().is_some() || differs(within));
    let ranks = match every {
        true => quote!((0..at.p)),
        false => quote!((0..at.nodes).map(|node| at.first_rank(node))),
    };
    let numbers = (0..schedule.inners.len()).map(Literal::usize_unsuffixed).collect::<Vec<_>>();
    let ordered = schedule.kind.reduces().then_some(("inners_proved_in_order", "proved_in_order"));
    let asked = [("inners_admit", "admits"), ("inners_proved", "proved")].into_iter().chain(ordered);
    let asked = asked.map(|(method, question)| {
        let answers = schedule.inners.iter().map(|inner| answer(inner, &ident(question)));
        (ident(method), quote!(#(#numbers => #answers,)*))
    });
    let (methods, answers): (Vec<_>, Vec<_>) = asked.unzip();
    let (root_type, root) = match has_rooted(schedule) {
        true => (quote!(, i64), quote!(, root)),
        false => (quote!(), quote!()),
    };
    quote! {
        /// Asks something of every inner collective, in every group that a rank is part of.
        fn ask_groups(
            &self,
            at: &Place<'_>,
            ask: &mut dyn FnMut(usize, &Place<'_> #root_type) -> Result<(), Refusal>,
        ) -> Result<(), Refusal> {
            #bindings
            #(#loops)*
            Ok(())
        }

        #(
            /// Asks this of all inner collectives, for all their groups.
            fn #methods(&self, at: &Place<'_>) -> Result<(), Refusal> {
                for rank in #ranks {
                    self.ask_groups(&at.of(rank), &mut |inner, group #root| match inner {
                        #answers
                        _ => Ok(()),
                    })?;
                }
                Ok(())
            }
        )*
    }
}
