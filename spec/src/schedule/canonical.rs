//! The canonical form of a schedule, and its fingerprint.
//!
//! A proof record counts only for the schedule that was proved, so the form must differ between any two schedules that
//! differ in meaning. The text of a declaration does not suffice: two rounds may each have a definition `c`, and a call
//! of `c` looks the same in both. Here every node has its tag, its parts in parentheses, and what a name refers to: a
//! definition by its number, a variable by its order of occurrence. The limits of the check at compile time are left
//! out: they do not change what is proved.
//!
//! Every structure is destructured with all its fields, so that a field added later cannot be forgotten here.

use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::expr::{BUILTIN_VARS, Expr, ListVar, Unary, Var};
use crate::schedule::message::Direction;
use crate::schedule::message::{Action, Site};
use crate::schedule::{
    Bound, BoundScope, Domain, Function, Group, Hold, Inner, Layout, ListParameter, Loop, Number, Order, ReverseOf,
    Schedule, State, Transfer, Within,
};

impl Schedule {
    /// A text that determines the schedule, except for its limits.
    pub fn canonical(&self) -> String {
        let mut out = CanonicalWriter { text: String::new(), seen: Vec::new() };
        out.schedule(self);
        out.text
    }

    /// A fingerprint of the declaration: 128 bits (FNV-1a) of its canonical form, as hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        hash(&self.canonical())
    }
}

/// 128 bits (FNV-1a) of a text, as hexadecimal digits: detects accidental changes, not forgery.
pub fn hash(text: &str) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        hash = (hash ^ byte as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}

/// Writes nodes as `(tag part …)`. A word, a number or a name contains no space and no parenthesis.
struct CanonicalWriter {
    text: String,
    /// Slots of variables, in order of occurrence. The slots themselves also depend on source text that is not part of
    /// the schedule.
    seen: Vec<usize>,
}

impl CanonicalWriter {
    fn node(&mut self, tag: &str, parts: impl FnOnce(&mut Self)) {
        self.text.push('(');
        self.text.push_str(tag);
        parts(self);
        self.text.push(')');
    }

    fn word(&mut self, word: impl ToString) {
        self.text.push(' ');
        self.text.push_str(&word.to_string());
    }

    fn all<T>(&mut self, tag: &str, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.node(tag, |w| items.iter().for_each(|item| write(w, item)));
    }

    fn schedule(&mut self, schedule: &Schedule) {
        let Schedule {
            name,
            kind,
            reverse_of,
            lines,
            blocks,
            order: Order { same_tree, rank_order },
            numbers,
            lists,
            inners,
            functions,
            requires,
            loops,
            bounds,
            layouts,
            limits: _,
            slots: _,
        } = schedule;
        self.node("schedule", |w| {
            w.word(name);
            w.word(kind);
            if let Some(ReverseOf { kind, side }) = reverse_of {
                w.node("reverse_of", |w| {
                    w.word(kind);
                    w.word(side.name());
                });
            }
            w.all("lines", lines, |w, line| w.word(line));
            w.node("split", |w| w.expr(blocks));
            w.node("order", |w| {
                w.word(same_tree);
                w.word(rank_order);
            });
            w.all("numbers", numbers, Self::number);
            w.all("lists", lists, Self::list);
            w.all("inners", inners, Self::inner);
            w.all("functions", functions, Self::function);
            w.all("requires", requires, Self::expr);
            w.all("loops", loops, Self::a_loop);
            w.all("bounds", bounds, Self::bound);
            w.all("layouts", layouts, Self::layout);
        });
    }

    fn number(&mut self, Number { var, domain }: &Number) {
        self.node("number", |w| {
            w.var(var);
            w.domain(domain);
        });
    }

    fn list(&mut self, ListParameter { var, domain }: &ListParameter) {
        self.node("list", |w| {
            w.list_var(var);
            w.domain(domain);
        });
    }

    fn domain(&mut self, Domain { lo, hi }: &Domain) {
        self.word(lo);
        self.word(hi.map_or_else(|| "any".into(), |hi| hi.to_string()));
    }

    /// Only the contract of an inner collective is written, because proofs hold for every collective that keeps it.
    fn inner(&mut self, Inner { name, kind, schedule: _ }: &Inner) {
        self.node("inner", |w| {
            w.word(name);
            w.word(kind);
        });
    }

    fn within(&mut self, Within { site, inner, group, members, when, root, to, brings }: &Within) {
        self.node("within", |w| {
            w.site(site);
            w.word(inner);
            match group {
                Group::Node => w.node("node", |_| {}),
                Group::Lane => w.node("lane", |_| {}),
                Group::All => w.node("all", |_| {}),
                Group::Stride { distance, count } => w.node("stride", |w| {
                    w.expr(distance);
                    w.expr(count);
                }),
                Group::Ranks { first, count } => w.node("ranks", |w| {
                    w.expr(first);
                    w.expr(count);
                }),
            }
            w.all("members", members.as_slice(), Self::expr);
            w.all("when", when.as_slice(), Self::expr);
            if let Some(root) = root {
                w.node("root", |w| w.expr(root));
            }
            if let Some(to) = to {
                w.node("to", |w| w.var(to));
            }
            w.blocks(brings);
        });
    }

    fn function(&mut self, Function { name, args, body }: &Function) {
        self.node("function", |w| {
            w.word(name);
            w.all("args", args, Self::var);
            w.expr(body);
        });
    }

    fn a_loop(&mut self, Loop { indices, states, transfers, within, holds, hints, ends_with }: &Loop) {
        self.node("loop", |w| {
            w.all("indices", indices, Self::index);
            w.all("states", states, Self::state);
            w.all("transfers", transfers, Self::transfer);
            w.all("within", within, Self::within);
            w.all("holds", holds, Self::hold);
            w.all("hints", hints, Self::expr);
            w.all("final", ends_with, Self::expr);
        });
    }

    fn index(&mut self, Index { var, lo, hi }: &Index) {
        self.node("index", |w| {
            w.var(var);
            w.expr(lo);
            w.expr(hi);
        });
    }

    fn state(&mut self, State { var, init, next, each, backward }: &State) {
        self.node("state", |w| {
            w.var(var);
            w.expr(init);
            w.expr(next);
            w.word(each);
            w.word(if *backward { "backward" } else { "forward" });
        });
    }

    fn transfer(&mut self, Transfer { direction, site, each, when, peer, blocks }: &Transfer) {
        let tag = match direction {
            Direction::Send => "send",
            Direction::Recv => "recv",
        };
        self.node(tag, |w| {
            w.site(site);
            w.all("each", each, Self::index);
            w.all("when", when.as_slice(), Self::expr);
            w.expr(peer);
            w.blocks(blocks);
        });
    }

    fn site(&mut self, Site { number, line, action }: &Site) {
        self.word(number);
        self.word(line);
        let (tag, with) = match action {
            Action::Copy => ("copy", None),
            Action::Replace => ("replace", None),
            Action::Overwrite => ("overwrite", None),
            Action::CombineLeft { with } => ("combine-left", Some(with)),
            Action::CombineRight { with } => ("combine-right", Some(with)),
        };
        self.all(tag, with.as_slice(), |w, with| w.word(with));
    }

    fn blocks(&mut self, BlockSet { parts }: &BlockSet) {
        self.all("blocks", parts, Self::part);
    }

    fn part(&mut self, Comprehension { item, over, filter }: &Comprehension) {
        self.node("part", |w| {
            w.all("over", over, Self::index);
            w.all("filter", filter.as_slice(), Self::expr);
            w.expr(item);
        });
    }

    fn hold(&mut self, hold: &Hold) {
        self.node("hold", |w| match hold {
            Hold::Blocks(set) => w.blocks(set),
            Hold::Contributors { line, block, ranks } => w.node("contributors", |w| {
                w.word(line);
                w.all("of", block.as_slice(), Self::var);
                w.blocks(ranks);
            }),
            Hold::Counter(metric, value) => {
                w.word(metric);
                w.expr(value);
            }
            Hold::Fact(fact) => w.expr(fact),
        });
    }

    fn bound(&mut self, Bound { metric, scope, exact, checked, value }: &Bound) {
        self.node("bound", |w| {
            w.word(metric);
            match scope {
                BoundScope::Max => w.word("max"),
                BoundScope::Each => w.word("each"),
                BoundScope::Node => w.word("node"),
                BoundScope::PerRound(n) => w.node("per-round", |w| w.word(n)),
            }
            w.word(if *exact { "exactly" } else { "at-most" });
            w.expr(value);
            if *checked {
                w.word("checked");
            }
        });
    }

    fn layout(&mut self, layout: &Layout) {
        match layout {
            Layout::InPlace => self.node("in-place", |_| {}),
            Layout::Rotated(by) => self.node("rotated", |w| w.expr(by)),
        }
    }

    fn var(&mut self, Var { name, slot }: &Var) {
        if BUILTIN_VARS.get(*slot).is_some_and(|builtin| builtin == name) {
            return self.node("builtin", |w| w.word(name));
        }
        let order = self.seen.iter().position(|known| known == slot).unwrap_or_else(|| {
            self.seen.push(*slot);
            self.seen.len() - 1
        });
        self.node("var", |w| {
            w.word(name);
            w.word(order);
        });
    }

    fn list_var(&mut self, ListVar { name, slot }: &ListVar) {
        self.node("var", |w| {
            w.word(name);
            w.word(slot);
        });
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Int(n) => self.node("int", |w| w.word(n)),
            Expr::Bool(truth) => self.node("bool", |w| w.word(truth)),
            Expr::Var(var) => self.var(var),
            Expr::Element(list, index) => self.of_list("element", list, index),
            Expr::Product(list, 0, n) => self.of_list("product", list, n),
            Expr::Product(list, plus, n) => self.of_list(&format!("product+{plus}"), list, n),
            Expr::Length(list) => self.node("length", |w| w.list_var(list)),
            Expr::Unary(Unary::Neg, a) => self.node("neg", |w| w.expr(a)),
            Expr::Unary(Unary::Not, a) => self.node("not", |w| w.expr(a)),
            Expr::Binary(op, a, b) => self.node(op.text().0, |w| {
                w.expr(a);
                w.expr(b);
            }),
            Expr::Builtin(function, args) => self.all(function.name(), args, Self::expr),
            Expr::Call(name, index, args) => self.node("call", |w| {
                w.word(name);
                w.word(index);
                args.iter().for_each(|arg| w.expr(arg));
            }),
            Expr::If(c, a, b) => self.node("if", |w| [c, a, b].into_iter().for_each(|part| w.expr(part))),
        }
    }

    fn of_list(&mut self, tag: &str, list: &ListVar, e: &Expr) {
        self.node(tag, |w| {
            w.list_var(list);
            w.expr(e);
        });
    }
}
