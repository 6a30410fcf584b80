//! Collects what has been read of a declaration.

use super::errors::Errors;
use super::scope::NameScope;
use crate::check::budget::{self, Explicit, TooMuch};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Binary, Expr};
use crate::schedule::{
    Bound, CombineSide, Function, Hold, Inner, Layout, Limits, ListParameter, Loop, Number, Order, ROOT, Schedule,
    SchedulePart,
};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{DeriveInput, Ident};

/// The default of the largest p of the check at compile time.
const DEFAULT_LIMIT: i64 = 40;

/// Collects the clauses of a declaration.
pub(super) struct DeclarationBuilder {
    pub(super) errors: Errors,
    pub(super) scope: NameScope,
    /// The kind of what the clauses declare.
    pub(super) kind: Kind,
    /// The kind of the collective itself, if it is the reverse of what the clauses declare.
    pub(super) reverse: Option<(Kind, CombineSide)>,
    /// Whether the kind is unknown: then nothing else can be checked.
    pub(super) unknown_kind: bool,
    /// The `collective` clause, once seen.
    pub(super) header: Option<TokenStream>,
    /// The number of names visible outside rounds, once the first round is seen.
    pub(super) globals: Option<usize>,
    pub(super) params: Vec<Ident>,
    pub(super) numbers: Vec<Number>,
    pub(super) lists: Vec<ListParameter>,
    pub(super) inners: Vec<Inner>,
    pub(super) functions: Vec<Function>,
    pub(super) requires: Vec<Expr>,
    pub(super) lines: Vec<String>,
    /// The number of blocks, if declared.
    pub(super) blocks: Option<Expr>,
    pub(super) order: Order,
    pub(super) loops: Vec<Loop>,
    pub(super) bounds: Vec<Bound>,
    pub(super) layouts: Vec<Layout>,
    pub(super) limits: Limits,
    /// Which limits the declaration sets, and the clauses that set them.
    pub(super) explicit: Explicit,
    pub(super) explicit_at: TokenStream,
    pub(super) sites: u16,
    /// Whether any clause sends or receives, correct or not.
    pub(super) has_messages: bool,
    pub(super) sources: HashMap<SchedulePart, TokenStream>,
}

impl DeclarationBuilder {
    pub(super) fn new() -> Self {
        DeclarationBuilder {
            errors: Errors::default(),
            scope: NameScope::new(),
            kind: Kind::Allgather,
            reverse: None,
            unknown_kind: false,
            header: None,
            globals: None,
            params: Vec::new(),
            numbers: Vec::new(),
            lists: Vec::new(),
            inners: Vec::new(),
            functions: Vec::new(),
            requires: Vec::new(),
            lines: Vec::new(),
            blocks: None,
            order: Order::default(),
            loops: Vec::new(),
            bounds: Vec::new(),
            layouts: Vec::new(),
            limits: Limits { p: DEFAULT_LIMIT, numbers: Vec::new(), lists: Vec::new() },
            explicit: Explicit::default(),
            explicit_at: TokenStream::new(),
            sites: 0,
            has_messages: false,
            sources: HashMap::new(),
        }
    }

    /// Requires that the root is a rank, even if the declaration says nothing about it.
    fn root_in_range(&mut self) {
        let root = self.numbers.iter().find(|number| self.kind.has_root() && number.var.name == ROOT);
        let Some(Number { var, .. }) = root else { return };
        // If the declaration restricts the root itself, nothing is added; the check finds out whether that suffices.
        if !self.requires.iter().any(|clause| clause.mentions(var.slot)) {
            let p = Expr::Var(self.scope.builtin("p"));
            self.requires.push(Expr::binary(Binary::Lt, Expr::Var(var.clone()), p));
        }
    }

    /// What a stage of a sequence costs is for its own declaration to say.
    fn no_costs_of_stages(&mut self) {
        let mut clauses = self.loops.iter().flat_map(|l| &l.within);
        let Some(stage) = clauses.find(|within| self.is_stage(self.inners[within.inner].kind)) else { return };
        let inner = self.inners[stage.inner].name.clone();
        let counters = self.loops.iter().enumerate().flat_map(|(n, l)| {
            let counts = |(_, hold): &(usize, &Hold)| matches!(hold, Hold::Counter(..));
            l.holds.iter().enumerate().filter(counts).map(move |(i, _)| SchedulePart::Hold(n, i))
        });
        let costs: Vec<_> = (0..self.bounds.len()).map(SchedulePart::Bound).chain(counters).collect();
        for part in costs {
            let Some(tokens) = self.sources.get(&part).cloned() else { continue };
            self.errors.at(
                tokens,
                format!("what this costs depends on `{inner}`, which has bounds of its own; remove this"),
            );
        }
    }

    /// Reports required parts that are missing.
    pub(super) fn missing_parts(&mut self, input: &DeriveInput) {
        let name = &input.ident;
        if !input.attrs.iter().any(|attr| attr.path().is_ident("collective")) {
            self.errors.at(name, "say what this is: add `#[collective(allgather)]` above it");
        }
        if self.loops.is_empty() && !self.has_messages {
            self.errors.at(name, "there is no round; add `#[round(s in 0..n)]` with its `send` and `recv`");
        } else if !self.has_messages {
            self.errors
                .at(name, "no round sends anything; add `#[send(to = …, blocks = […])]` and the matching `recv`");
        }
    }

    pub(super) fn schedule(
        mut self,
        input: &DeriveInput,
    ) -> (syn::Result<()>, Schedule, HashMap<SchedulePart, TokenStream>) {
        let name = input.ident.unraw().to_string();
        let (lines, blocks) = (self.all_lines(), self.number_of_blocks());
        self.root_in_range();
        self.no_costs_of_stages();
        let layouts = if self.layouts.is_empty() { vec![Layout::InPlace] } else { self.layouts };
        let mut schedule = Schedule {
            name,
            kind: self.kind,
            reverse_of: None,
            numbers: self.numbers,
            lists: self.lists,
            inners: self.inners,
            functions: self.functions,
            requires: self.requires,
            lines,
            blocks,
            order: self.order,
            loops: self.loops,
            bounds: self.bounds,
            layouts,
            limits: self.limits,
            slots: self.scope.slots(),
        };
        if let Some((kind, side)) = self.reverse {
            if let Some(reason) = schedule.has_no_reverse() {
                self.errors.at(&input.ident, reason);
            }
            schedule = schedule.reversed(kind, side);
        }
        if let Err(too_much) = budget::fit(&mut schedule, &self.explicit) {
            let at = if self.explicit_at.is_empty() { input.ident.to_token_stream() } else { self.explicit_at };
            self.errors.at(at, beyond_the_budget(&schedule, too_much));
        }
        (self.errors.finish(()), schedule, self.sources)
    }
}

fn beyond_the_budget(schedule: &Schedule, TooMuch { combinations, times }: TooMuch) -> String {
    let (p, many) = (schedule.limits.p, times.ceil().min(1e6));
    let of = match combinations {
        ..1.5 => String::new(),
        ..1e7 => format!(" with {combinations:.0} combinations of parameters"),
        _ => format!(" with {combinations:.0e} combinations of parameters"),
    };
    let more = if times > 1e6 { "more than " } else { "" };
    format!(
        "the check of every p up to {p}{of} is {more}{many} times more than a compiler has time for; lower the limits \
         in `check` (`roundel check` and `roundel prove` go further)"
    )
}
