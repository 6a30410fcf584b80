//! Expressions as C, and the declarations that they need.
//!
//! C binds `&`, `|` and `^` less tightly than comparisons, and compilers warn about mixtures that people misread, so
//! operands of these operators are parenthesised. Arithmetic is plain; only in the domain, where a number may have any
//! value, it is checked.

use super::names;
use crate::schedule::Schedule;
use crate::schedule::expr::{BUILTIN_VARS, Binary, Builtin, Expr, Unary};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Whether arithmetic reports that there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// For admitted calls: plain arithmetic.
    Plain,
    /// For the domain: checked arithmetic.
    Checked,
}

/// Writes a declaration as C, and notes what its expressions have used so far.
pub(super) struct CWriter<'a> {
    pub(super) schedule: &'a Schedule,
    /// The prefix of its functions.
    pub(super) name: String,
    /// The names of definitions, in C.
    definitions: Vec<String>,
    helpers: RefCell<BTreeSet<&'static str>>,
    called: RefCell<BTreeSet<(Mode, usize)>>,
}

impl<'a> CWriter<'a> {
    pub(super) fn new(schedule: &'a Schedule) -> Self {
        CWriter::named(schedule, names::algorithm(schedule))
    }

    /// Like `new`, with its own prefix, for a collective inside another one.
    pub(super) fn named(schedule: &'a Schedule, name: String) -> Self {
        let mut given = names::Given::default();
        let own = ["rounds", "admits", "blocks_of", "prepare", "call"];
        own.iter().for_each(|own| drop(given.fresh(&format!("{name}_{own}"))));
        let definition = |function: &crate::schedule::Function| {
            let clause =
                ["send_", "recv_", "within_", "checked_"].iter().any(|clause| function.name.starts_with(clause));
            let plain = names::variable(&function.name);
            given.fresh(&if clause { format!("{name}_the_{plain}") } else { format!("{name}_{plain}") })
        };
        let definitions = schedule.functions.iter().map(definition).collect();
        CWriter { schedule, name, definitions, helpers: RefCell::default(), called: RefCell::default() }
    }

    /// Notes the use of a helper and gives its name.
    pub(super) fn helper(&self, name: &'static str) -> String {
        self.helpers.borrow_mut().insert(name);
        format!("rdl_{name}")
    }

    /// The helpers that were used.
    pub(super) fn helpers(&self) -> BTreeSet<&'static str> {
        self.helpers.borrow().clone()
    }

    /// The text of an expression of an admitted call.
    pub(super) fn plain(&self, e: &Expr) -> String {
        self.inside(e, 0, Mode::Plain)
    }

    /// The text of an expression.
    pub(super) fn text(&self, e: &Expr, mode: Mode) -> String {
        self.inside(e, 0, mode)
    }

    fn inside(&self, e: &Expr, outer: u8, mode: Mode) -> String {
        match e {
            Expr::Int(n) => number(*n, outer),
            Expr::Bool(b) => i64::from(*b).to_string(),
            Expr::Var(v) => names::variable(&v.name),
            Expr::Length(list) => names::variable(&list.name) + ".len",
            Expr::Element(list, index) => {
                let (list, index) = (names::variable(&list.name), self.text(index, mode));
                match mode {
                    Mode::Plain => format!("(int64_t){list}.items[{index}]"),
                    Mode::Checked => format!("{}(ok, {list}, {index})", self.helper("checked_element")),
                }
            }
            Expr::Product(list, plus, n) => {
                let (list, n) = (names::variable(&list.name), self.text(n, mode));
                self.call_helper("product", "checked_product", &[format!("{list}, {plus}, {n}")], mode)
            }
            Expr::Unary(Unary::Neg, a) if mode == Mode::Checked => {
                self.call_helper("sub", "checked_sub", &["0".into(), self.text(a, mode)], mode)
            }
            Expr::Unary(op, a) => {
                format!("{}{}", if *op == Unary::Neg { "-" } else { "!" }, self.inside(a, 11, mode))
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b, outer, mode),
            Expr::Builtin(function, args) => self.builtin(*function, args, mode),
            Expr::Call(_, index, args) => self.call(*index, args, mode),
            Expr::If(c, a, b) => {
                let (c, a, b) = (self.inside(c, 2, mode), self.inside(a, 2, mode), self.inside(b, 1, mode));
                parenthesised(format!("{c} ? {a} : {b}"), outer > 1)
            }
        }
    }

    fn call_helper(&self, plain: &'static str, checked: &'static str, args: &[String], mode: Mode) -> String {
        match mode {
            Mode::Plain => format!("{}({})", self.helper(plain), args.join(", ")),
            Mode::Checked => format!("{}(ok, {})", self.helper(checked), args.join(", ")),
        }
    }

    fn builtin(&self, function: Builtin, args: &[Expr], mode: Mode) -> String {
        let mut texts: Vec<String> = args.iter().map(|arg| self.text(arg, mode)).collect();
        let (plain, checked) = match function {
            Builtin::Min => ("min", None),
            Builtin::Max => ("max", None),
            Builtin::Pow => ("pow", Some("checked_pow")),
            Builtin::CeilLog => ("ceil_log", Some("checked_ceil_log")),
            Builtin::FloorLog => ("floor_log", Some("checked_floor_log")),
            Builtin::CeilDiv => ("ceil_div", Some("checked_ceil_div")),
            Builtin::Gcd => ("gcd", Some("checked_gcd")),
            Builtin::Digit => ("digit", Some("checked_digit")),
            Builtin::DigitSum => ("digit_sum", Some("checked_digit_sum")),
            Builtin::PartSize => ("part_size", Some("checked_part_size")),
            Builtin::PartBegin => ("part_begin", Some("checked_part_begin")),
            Builtin::PartOf => ("part_of", Some("checked_part_of")),
            Builtin::FirstRank | Builtin::NodeSize => {
                texts.insert(0, "at".into());
                (if function == Builtin::FirstRank { "first_rank" } else { "node_size" }, None)
            }
            Builtin::Pair => {
                texts.push("p".into());
                ("pair", None)
            }
        };
        match checked {
            Some(checked) => self.call_helper(plain, checked, &texts, mode),
            None => self.call_helper(plain, plain, &texts, Mode::Plain),
        }
    }

    fn binary(&self, op: Binary, a: &Expr, b: &Expr, outer: u8, mode: Mode) -> String {
        let helper = match op {
            Binary::Div => Some(("div", "checked_div")),
            Binary::Rem => Some(("rem", "checked_rem")),
            Binary::Shl => Some(("shl", "checked_shl")),
            Binary::Shr => Some(("shr", "checked_shr")),
            Binary::Add if mode == Mode::Checked => Some(("add", "checked_add")),
            Binary::Sub if mode == Mode::Checked => Some(("sub", "checked_sub")),
            Binary::Mul if mode == Mode::Checked => Some(("mul", "checked_mul")),
            _ => None,
        };
        if let Some((plain, checked)) = helper {
            return self.call_helper(plain, checked, &[self.text(a, mode), self.text(b, mode)], mode);
        }
        // How tightly the operator binds, and which binding its operands need.
        let (strength, left, right) = match op {
            Binary::Mul => (10, 10, 11),
            Binary::Add | Binary::Sub => (9, 9, 10),
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne => (6, 7, 7),
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => (5, 11, 11),
            Binary::And => (3, 3, 6),
            Binary::Or => (2, 2, 6),
            _ => (1, 11, 11),
        };
        let left = if op == Binary::Or && matches!(a, Expr::Binary(Binary::And, ..)) { 6 } else { left };
        let (a, b) = match (a, b) {
            // An expression of literals alone would be computed as `int`.
            (Expr::Int(n), Expr::Int(_)) if *n >= 0 => (format!("INT64_C({n})"), self.inside(b, right, mode)),
            _ => (self.inside(a, left, mode), self.inside(b, right, mode)),
        };
        parenthesised(format!("{a} {} {b}", op.text().0), strength < outer)
    }

    fn call(&self, index: usize, args: &[Expr], mode: Mode) -> String {
        // A definition that always has a value has no checked version.
        let args: Vec<String> = args.iter().map(|arg| self.text(arg, mode)).collect();
        let mode = if self.can_fail(&self.schedule.functions[index].body) { mode } else { Mode::Plain };
        self.called.borrow_mut().insert((mode, index));
        let free = self.free_of_definition(index).arguments();
        let ok = (mode == Mode::Checked).then(|| "ok".to_string());
        let all: Vec<String> = ok.into_iter().chain(free).chain(args).collect();
        format!("{}({})", self.definition_name(index, mode), all.join(", "))
    }

    /// Whether the checked text of an expression mentions `ok`.
    pub(super) fn can_fail(&self, e: &Expr) -> bool {
        let mut fails = false;
        e.walk(&mut |e| {
            fails |= match e {
                Expr::Element(..) | Expr::Product(..) | Expr::Unary(Unary::Neg, _) => true,
                Expr::Binary(op, ..) => {
                    use Binary::{Add, Div, Mul, Rem, Shl, Shr, Sub};
                    matches!(op, Add | Sub | Mul | Div | Rem | Shl | Shr)
                }
                Expr::Builtin(function, _) => {
                    use Builtin::{FirstRank, Max, Min, NodeSize, Pair};
                    !matches!(function, Min | Max | FirstRank | NodeSize | Pair)
                }
                Expr::Call(_, index, _) => self.can_fail(&self.schedule.functions[*index].body),
                _ => false,
            }
        });
        fails
    }

    fn definition_name(&self, index: usize, mode: Mode) -> String {
        let name = &self.definitions[index];
        match mode {
            Mode::Plain => name.clone(),
            Mode::Checked => name.replacen(&self.name, &format!("{}_checked", self.name), 1),
        }
    }

    /// The definitions that were called, each above its callers.
    pub(super) fn definitions(&self) -> String {
        let mut texts = BTreeMap::new();
        // Writing one definition may call others.
        loop {
            let waiting: Vec<_> =
                self.called.borrow().iter().filter(|called| !texts.contains_key(*called)).copied().collect();
            let Some(&(mode, index)) = waiting.first() else { break };
            texts.insert((mode, index), self.definition(index, mode));
        }
        let mut ordered: Vec<_> = texts.into_iter().collect();
        ordered.sort_by_key(|((mode, index), _)| (*index, *mode));
        ordered.into_iter().map(|(_, text)| text).collect()
    }

    fn definition(&self, index: usize, mode: Mode) -> String {
        let function = &self.schedule.functions[index];
        let (args, body) =
            (function.args.iter().map(|arg| names::variable(&arg.name)), self.text(&function.body, mode));
        let title = match function.args.as_slice() {
            [] => function.name.clone(),
            _ => format!("{}({})", function.name, args.clone().collect::<Vec<_>>().join(", ")),
        };
        let ok = (mode == Mode::Checked).then(|| "int *ok".to_string());
        let own = args.map(|arg| format!("int64_t {arg}"));
        let parameters: Vec<String> =
            ok.into_iter().chain(self.free_of_definition(index).parameters()).chain(own).collect();
        let (name, note) = (self.definition_name(index, mode), if mode == Mode::Checked { ", checked" } else { "" });
        let body = format!("    return {body};\n");
        let comment = comment(&format!("{title} = {}{note}", function.body));
        format!("{comment}static int64_t {name}({})\n{{\n{body}}}\n\n", list_or_void(&parameters))
    }

    fn free_of_definition(&self, index: usize) -> Free {
        let function = &self.schedule.functions[index];
        let mut free = Free::default();
        free.add(self.schedule, &function.body);
        function.args.iter().for_each(|arg| free.bind(arg.slot));
        free
    }

    /// The variables that some expressions mention, directly or through definitions.
    pub(super) fn free<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Free {
        let mut free = Free::default();
        exprs.into_iter().for_each(|e| free.add(self.schedule, e));
        free
    }
}

/// Variables that a function needs as arguments, in the order of the declaration.
#[derive(Clone, Debug, Default)]
pub(super) struct Free {
    vars: BTreeMap<usize, String>,
    lists: BTreeMap<usize, String>,
    nodes: bool,
}

impl Free {
    /// Adds what an expression mentions.
    pub(super) fn add(&mut self, schedule: &Schedule, e: &Expr) {
        e.walk(&mut |e| match e {
            Expr::Var(v) => drop(self.vars.insert(v.slot, names::variable(&v.name))),
            Expr::Element(list, _) | Expr::Length(list) | Expr::Product(list, ..) => {
                self.lists.insert(list.slot, names::variable(&list.name));
            }
            Expr::Builtin(Builtin::Pair, _) => self.add_p(),
            Expr::Builtin(Builtin::FirstRank | Builtin::NodeSize, _) => self.nodes = true,
            Expr::Call(_, index, _) => {
                let function = &schedule.functions[*index];
                let mut inner = Free::default();
                inner.add(schedule, &function.body);
                function.args.iter().for_each(|arg| inner.bind(arg.slot));
                self.join(inner);
            }
            _ => {}
        });
    }

    /// Adds the number of ranks.
    pub(super) fn add_p(&mut self) {
        self.vars.insert(1, BUILTIN_VARS[1].into());
    }

    /// Adds all variables of another set.
    pub(super) fn join(&mut self, other: Free) {
        self.vars.extend(other.vars);
        self.lists.extend(other.lists);
        self.nodes |= other.nodes;
    }

    /// Removes a variable that is bound inside.
    pub(super) fn bind(&mut self, slot: usize) {
        self.vars.remove(&slot);
    }

    /// Adds the nodes.
    pub(super) fn add_nodes(&mut self) {
        self.nodes = true;
    }

    /// Whether a variable is needed.
    pub(super) fn has(&self, slot: usize) -> bool {
        self.vars.contains_key(&slot)
    }

    /// The variables as parameters of a function.
    pub(super) fn parameters(&self) -> Vec<String> {
        let nodes = self.nodes.then(|| "const rdl_nodes *at".to_string());
        let lists = self.lists.values().map(|name| format!("rdl_list {name}"));
        nodes.into_iter().chain(self.vars.values().map(|name| format!("int64_t {name}"))).chain(lists).collect()
    }

    /// The variables as arguments of a call.
    pub(super) fn arguments(&self) -> Vec<String> {
        let nodes = self.nodes.then(|| "at".to_string());
        nodes.into_iter().chain(self.vars.values().cloned()).chain(self.lists.values().cloned()).collect()
    }
}

fn parenthesised(text: String, needed: bool) -> String {
    if needed { format!("({text})") } else { text }
}

fn number(n: i64, outer: u8) -> String {
    match (n, i32::try_from(n)) {
        (i64::MIN, _) => "INT64_MIN".into(),
        (_, Ok(n)) => parenthesised(n.to_string(), n < 0 && outer > 0),
        _ if n < 0 => format!("(-INT64_C({}))", n.unsigned_abs()),
        _ => format!("INT64_C({n})"),
    }
}

/// A list of parameters.
pub(super) fn list_or_void(parameters: &[String]) -> String {
    if parameters.is_empty() { "void".into() } else { parameters.join(", ") }
}

/// A comment on a line of its own.
pub(super) fn comment(text: &str) -> String {
    format!("/* {} */\n", text.replace("*/", "* /").replace("/*", "/ *"))
}
