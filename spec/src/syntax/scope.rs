//! The names that are visible at a point of a declaration.

use super::errors::similar;
use crate::schedule::contract::Kind;
use crate::schedule::expr::{BUILTIN_VARS, Builtin, Expr, ListVar, Var};
use std::fmt::Write;

/// The two types of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// A number.
    Int,
    /// A condition.
    Bool,
}

impl Ty {
    pub(crate) const fn article(self) -> &'static str {
        match self {
            Ty::Int => "a number",
            Ty::Bool => "a condition",
        }
    }
}

/// What a name refers to.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A variable; `varying` if it may differ between ranks.
    Var { var: Var, varying: bool },
    /// A list parameter.
    List(ListVar),
    /// A definition.
    Function { index: usize, arity: usize, ty: Ty, varying: bool },
}

/// Built-in variables that may differ between ranks: rank, node, local, and ppn on uneven nodes.
const VARYING: [&str; 4] = ["rank", "node", "local", "ppn"];

/// Names; the innermost comes last.
#[derive(Clone, Debug)]
pub(crate) struct NameScope {
    names: Vec<(String, Entity)>,
    slots: usize,
    /// Whether there is an index without a name: any unknown name may refer to it.
    nameless: bool,
}

impl NameScope {
    /// The built-in variables.
    pub(crate) fn new() -> Self {
        let mut scope = NameScope { names: Vec::new(), slots: 0, nameless: false };
        for name in BUILTIN_VARS {
            scope.var(name, VARYING.contains(&name));
        }
        scope
    }

    /// Adds a variable.
    pub(crate) fn var(&mut self, name: &str, varying: bool) -> Var {
        let var = Var { name: name.into(), slot: self.slots };
        self.slots += 1;
        self.names.push((name.into(), Entity::Var { var: var.clone(), varying }));
        var
    }

    /// Adds a variable that has another name in the result.
    pub(crate) fn alias(&mut self, name: &str, called: &str) -> Var {
        let var = self.anonymous(called);
        self.names.push((name.into(), Entity::Var { var: var.clone(), varying: false }));
        var
    }

    /// A variable that cannot be referred to by name.
    pub(crate) fn anonymous(&mut self, name: &str) -> Var {
        let var = Var { name: name.into(), slot: self.slots };
        self.slots += 1;
        var
    }

    /// A built-in variable.
    pub(crate) fn builtin(&self, name: &str) -> Var {
        let slot = BUILTIN_VARS.iter().position(|known| *known == name).expect("a built-in variable");
        Var { name: name.into(), slot }
    }

    /// Adds a name.
    pub(crate) fn add(&mut self, name: &str, entity: Entity) {
        self.names.push((name.into(), entity));
    }

    /// Notes whether this round has an index without a name. That error has been reported, so uses of the index are not
    /// reported again.
    pub(crate) fn set_nameless(&mut self, nameless: bool) {
        self.nameless = nameless;
    }

    /// Whether an unknown name may be an index without a name.
    pub(crate) fn is_nameless(&self) -> bool {
        self.nameless
    }

    /// Looks a name up.
    pub(crate) fn get(&self, name: &str) -> Option<&Entity> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, entity)| entity)
    }

    /// The position of a name, in the order in which names were added.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().rposition(|(known, _)| known == name)
    }

    /// Marks a variable as differing between ranks.
    pub(crate) fn set_varying(&mut self, name: &str) {
        if let Some((_, Entity::Var { varying, .. })) = self.names.iter_mut().rev().find(|(known, _)| known == name) {
            *varying = true;
        }
    }

    /// The number of names, to [forget](NameScope::forget) later ones.
    pub(crate) fn mark(&self) -> usize {
        self.names.len()
    }

    /// Forgets all names added since `mark`. Their slots stay reserved, because each slot belongs to one variable.
    pub(crate) fn forget(&mut self, mark: usize) {
        self.names.truncate(mark);
    }

    /// Keeps all slots below `slots` for variables that are already there.
    pub(crate) fn reserve(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
    }

    /// The number of slots in use.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Whether the value of `e` may differ between ranks, according to the names in scope.
    pub(crate) fn varies(&self, e: &Expr) -> bool {
        let mut varies = false;
        e.walk(&mut |e| {
            let name = match e {
                Expr::Var(v) => &v.name,
                Expr::Call(name, ..) => name,
                _ => return,
            };
            varies |= matches!(
                self.get(name),
                Some(Entity::Var { varying: true, .. } | Entity::Function { varying: true, .. })
            );
        });
        varies
    }

    /// The error message for an unknown name.
    pub(crate) fn unknown(&self, name: &str, kind: Kind) -> String {
        let variables = || self.names.iter().map(|(name, _)| name.as_str());
        let mut text = format!("`{name}` is not a variable of {}", kind.with_article());
        if let Some(close) = similar(name, variables()) {
            let _ = write!(text, "; did you mean `{close}`?");
        } else {
            let all: Vec<&str> = variables().collect();
            let _ = write!(text, "; expected one of {}", all.join(", "));
        }
        text
    }

    /// The error message for an unknown function.
    pub(crate) fn unknown_function(&self, name: &str) -> String {
        let own = self.names.iter().filter(|(_, e)| matches!(e, Entity::Function { .. })).map(|(n, _)| n.as_str());
        let all: Vec<&str> =
            Builtin::ALL.iter().map(|b| b.name()).chain(["at", "len", "product"]).chain(own).collect();
        match similar(name, all.iter().copied()) {
            Some(close) => format!("there is no function `{name}`; did you mean `{close}`?"),
            None => format!("there is no function `{name}`; expected one of {}", all.join(", ")),
        }
    }
}
