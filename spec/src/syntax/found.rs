//! Adds clauses to a schedule that its source does not have: a `holds` or `hint` that a prover found.
//!
//! They are read like those of a declaration, in the names of their round, so that what a record keeps is what a person
//! could have written. Only claims can be added: nothing here changes what runs.

use super::builder::DeclarationBuilder;
use super::scope::{Entity, NameScope, Ty};
use crate::proof::FoundClause;
use crate::schedule::expr::{Expr, Var};
use crate::schedule::{Loop, Schedule};
use proc_macro2::Span;
use std::collections::BTreeSet;
use syn::parse::Parser;
use syn::{Attribute, Error, Result};

impl Schedule {
    /// The same schedule with further claims.
    ///
    /// # Errors
    /// Returns an error if a clause is neither `holds` nor `hint`, if there is no such round, or if it cannot be read.
    pub fn claiming(&self, found: &[FoundClause]) -> Result<Schedule> {
        let mut claiming = self.clone();
        for FoundClause { round, clause } in found {
            let Some(l) = self.loops.get(*round) else {
                return Err(Error::new(Span::call_site(), format!("there is no round {round}")));
            };
            let claims = claiming.read_claims(*round, l, clause)?;
            claiming.slots = claims.slots;
            claiming.loops[*round].holds.extend(claims.only.holds);
            claiming.loops[*round].hints.extend(claims.only.hints);
        }
        Ok(claiming)
    }

    fn read_claims(&self, n: usize, l: &Loop, clause: &str) -> Result<Claims> {
        let attributes = Attribute::parse_outer.parse_str(&format!("#[{clause}]"))?;
        let mut builder = DeclarationBuilder::new();
        builder.kind = self.reverse_of.map_or(self.kind, |reverse| reverse.kind);
        builder.lines = if builder.kind.reduces() { self.lines.clone() } else { Vec::new() };
        builder.blocks = Some(self.blocks.clone());
        builder.scope = self.names_in(n, l);
        builder.loops = vec![Loop::default()];
        for attribute in &attributes {
            match attribute.path().get_ident().map(ToString::to_string).as_deref() {
                Some(name @ ("holds" | "hint")) => builder.clause(name, attribute),
                _ => return Err(Error::new_spanned(attribute, "only `holds` and `hint` can be found")),
            }
        }
        let slots = builder.scope.slots();
        let only = builder.loops.pop().unwrap_or_default();
        builder.errors.finish(Claims { only, slots })
    }

    /// The names that clauses of round `n` can use. Of several definitions with one name it is the one that the round
    /// itself uses.
    fn names_in(&self, n: usize, l: &Loop) -> NameScope {
        let mut scope = NameScope::new();
        let var = |var: &Var| Entity::Var { var: var.clone(), varying: false };
        self.numbers.iter().for_each(|number| scope.add(&number.var.name, var(&number.var)));
        self.lists.iter().for_each(|list| scope.add(&list.var.name, Entity::List(list.var.clone())));
        let own = self.definitions_in(n);
        let others = (0..self.functions.len()).filter(|i| !own.contains(i) && !self.is_of_another_round(*i, n));
        for index in others.chain(own.iter().copied()) {
            let function = &self.functions[index];
            let (arity, ty) = (function.args.len(), self.type_of(&function.body));
            scope.add(&function.name, Entity::Function { index, arity, ty, varying: true });
        }
        l.indices.iter().for_each(|index| scope.add(&index.var.name, var(&index.var)));
        l.states.iter().for_each(|state| scope.add(&state.var.name, var(&state.var)));
        scope.reserve(self.slots);
        scope
    }

    /// The definitions that the rounds of loop `n` use, directly or through others.
    pub fn definitions_in(&self, n: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut one = self.clone();
        one.loops = vec![self.loops[n].clone()];
        one.bounds.clear();
        one.functions.iter_mut().for_each(|function| function.body = Expr::Int(0));
        one.for_each_expr(&mut |_, e| self.calls(e, &mut found));
        found
    }

    fn calls(&self, e: &Expr, found: &mut BTreeSet<usize>) {
        e.walk(&mut |e| {
            if let Expr::Call(_, index, _) = e
                && found.insert(*index)
            {
                self.calls(&self.functions[*index].body, found);
            }
        });
    }

    /// Whether a definition mentions a variable of another round than `n`.
    fn is_of_another_round(&self, function: usize, n: usize) -> bool {
        let mut inside = BTreeSet::from([function]);
        self.calls(&self.functions[function].body, &mut inside);
        let others = self.loops.iter().enumerate().filter(|(i, _)| *i != n).map(|(_, l)| l);
        let slots: Vec<usize> = others.flat_map(Loop::own_slots).collect();
        inside.iter().any(|&i| slots.iter().any(|&slot| self.functions[i].body.mentions(slot)))
    }

    fn type_of(&self, e: &Expr) -> Ty {
        if self.is_number(e) { Ty::Int } else { Ty::Bool }
    }
}

impl Loop {
    /// The slots of its indices and states.
    pub fn own_slots(&self) -> Vec<usize> {
        let indices = self.indices.iter().map(|index| index.var.slot);
        indices.chain(self.states.iter().map(|state| state.var.slot)).collect()
    }
}

/// What was read, and the number of slots that are then in use.
struct Claims {
    only: Loop,
    slots: usize,
}
