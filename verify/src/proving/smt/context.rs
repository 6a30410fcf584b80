//! Translates expressions to SMT terms.
//!
//! Solvers are weak at powers, at `mod` with a symbolic modulus and at quantifiers, so none of these is emitted. A
//! quotient becomes a fresh constant with its definition `a = b q + r, 0 <= r < b`; `pow` is an uninterpreted function
//! whose laws are instantiated at the arguments that occur; `ceil_log` and `floor_log` are fresh constants between two
//! powers. Every law is guarded by the condition under which it is true, so that adding it is always sound.

mod bits;
mod digits;
mod nested;
mod parts;
mod sizes;

use super::numbering::{CyclicTerm, NODE, NODES, Numbering, P, PPN};
use super::symbol;
use super::term::{Term, add, and, eq, ge, implies, int, ite, le, lt, mul, not, or, sub, within};
use roundel_spec::expr::{Binary, Builtin, Expr, ListVar, Unary};
use roundel_spec::{Kind, Schedule};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A construct that has no encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoEncoding {
    /// The construct, in words.
    pub(crate) what: String,
    /// The expression, if it is one.
    pub(crate) expression: Option<Expr>,
    /// Whether it is a round whose `holds` is missing.
    pub(crate) lacks_holds: bool,
}

impl NoEncoding {
    pub(crate) fn new(what: String) -> Self {
        NoEncoding { what, expression: None, lacks_holds: false }
    }

    /// A round over which there is no induction.
    pub(crate) fn without_holds(what: String) -> Self {
        NoEncoding { lacks_holds: true, ..NoEncoding::new(what) }
    }

    fn of(expression: &Expr, what: String) -> Self {
        NoEncoding { expression: Some(expression.clone()), ..NoEncoding::new(what) }
    }
}

/// Values of variables as terms, by slot.
#[derive(Clone, Debug)]
pub(crate) struct TermValues {
    slots: Vec<Option<Term>>,
    /// States that differ between nodes: their slots, and the functions that give their values.
    varying: Vec<(usize, Term)>,
}

impl TermValues {
    pub(crate) fn new(slots: usize) -> Self {
        TermValues { slots: vec![None; slots], varying: Vec::new() }
    }

    pub(crate) fn set(&mut self, slot: usize, term: impl Into<Term>) {
        self.slots[slot] = Some(term.into());
    }

    /// Makes a state a function of the node; it has the value at `node`.
    pub(crate) fn vary(&mut self, slot: usize, function: Term, node: &str) {
        self.varying.retain(|(known, _)| *known != slot);
        self.set(slot, format!("({function} {node})"));
        self.varying.push((slot, function));
    }

    /// The same values on another node.
    pub(crate) fn on_node(&self, slot: usize, node: &str) -> Self {
        let mut values = self.with(slot, node);
        for (state, function) in &self.varying {
            values.slots[*state] = Some(format!("({function} {node})"));
        }
        values
    }

    pub(crate) fn with(&self, slot: usize, term: impl Into<Term>) -> Self {
        let mut values = self.clone();
        values.set(slot, term);
        values
    }

    /// The same values, but with one variable unset.
    pub(crate) fn without(&self, slot: usize) -> Self {
        let mut values = self.clone();
        values.slots[slot] = None;
        values
    }

    /// Whether all variables of an expression have values. A variable has none if it is an index of a set whose size is
    /// computed; the expression must not depend on it, and any use of it is refused.
    fn know(&self, e: &Expr) -> bool {
        let mut known = true;
        e.walk(&mut |e| known &= !matches!(e, Expr::Var(v) if self.slots.get(v.slot).is_none_or(Option::is_none)));
        known
    }

    pub(crate) fn get(&self, slot: usize, name: &str) -> Result<Term, NoEncoding> {
        self.slots
            .get(slot)
            .cloned()
            .flatten()
            .ok_or_else(|| NoEncoding::of(&Expr::var(name, slot), format!("the variable `{name}`")))
    }
}

/// The declarations and laws for the terms of one query.
#[derive(Clone)]
pub(crate) struct Context<'a> {
    schedule: &'a Schedule,
    wheel: Numbering,
    declarations: BTreeMap<String, String>,
    laws: Vec<Term>,
    known: HashMap<String, Term>,
    counter: usize,
    powers: BTreeSet<(Term, Term)>,
    products: BTreeSet<(Term, Term)>,
    quotients: Vec<Quotient>,
    /// Quotients rounded up: dividend, divisor, quotient.
    ceilings: Vec<(Term, Term, Term)>,
    /// Terms that are known to be powers of two.
    two_powers: BTreeSet<Term>,
    /// The conditions under which everything lowered so far has a value.
    defined: Vec<Term>,
    /// Every intermediate result lowered so far, with the condition under which it is computed.
    computed: Vec<(Term, Term)>,
    path: Vec<Term>,
    /// Elements of list parameters that occur.
    elements: BTreeSet<Term>,
    /// Numbers and their lowest bits.
    lowest: Vec<(Term, Term)>,
    /// Two numbers, and the bits in which they differ.
    xors: Vec<(Term, Term, Term)>,
    /// Numbers whose digits are summed.
    digit_sums: BTreeSet<Term>,
    /// Nodes whose size occurs.
    sized: BTreeSet<Term>,
    /// Steps between ranks, and how many of them.
    strides: BTreeSet<(Term, Term)>,
    /// Parts whose beginning occurs.
    begun: BTreeSet<parts::Part>,
    /// Numbers whose part occurs.
    parted: BTreeSet<parts::Part>,
}

/// The symbol of powers; no constant has it.
pub(super) const POW: &str = "pow";

/// The maximum length, as text, of a definition that is encoded.
const LARGEST_TERM: usize = 1 << 16;

/// Whether a term is a non-negative literal.
fn is_literal(term: &str) -> bool {
    term.chars().all(|c| c.is_ascii_digit())
}

/// `(* 2 x)` as `2` and `x`.
fn coefficient(term: &str) -> (&str, &str) {
    let inside = term.strip_prefix("(* ").and_then(|rest| rest.strip_suffix(')'));
    match inside.and_then(|inside| inside.split_once(' ')) {
        Some((number, rest)) if is_literal(number) => (number, rest),
        _ => ("1", term),
    }
}

#[derive(Clone)]
struct Quotient {
    dividend: Term,
    divisor: Term,
    quotient: Term,
    remainder: Term,
}

impl<'a> Context<'a> {
    pub(crate) fn new(schedule: &'a Schedule) -> Self {
        Context {
            schedule,
            wheel: Numbering::of(schedule),
            declarations: BTreeMap::new(),
            laws: Vec::new(),
            known: HashMap::new(),
            counter: 0,
            powers: BTreeSet::new(),
            products: BTreeSet::new(),
            quotients: Vec::new(),
            ceilings: Vec::new(),
            two_powers: BTreeSet::new(),
            defined: Vec::new(),
            computed: Vec::new(),
            path: Vec::new(),
            elements: BTreeSet::new(),
            lowest: Vec::new(),
            xors: Vec::new(),
            digit_sums: BTreeSet::new(),
            sized: BTreeSet::new(),
            strides: BTreeSet::new(),
            begun: BTreeSet::new(),
            parted: BTreeSet::new(),
        }
    }

    /// A new constant, named like what it represents if that name is free. No two constants of a context are the same;
    /// callers keep the term to use it again. So an index that shares its name with one of another clause, round or
    /// definition never inherits assumptions about that one.
    pub(crate) fn constant(&mut self, name: &str) -> Term {
        let symbol = self.free(name);
        self.declare(symbol.clone(), format!("(declare-const {symbol} Int)"));
        symbol
    }

    /// A constant that only the encoding uses; it is always numbered.
    fn fresh(&mut self, stem: &str) -> Term {
        loop {
            self.counter += 1;
            let symbol = format!("{stem}.{}", self.counter);
            if !self.declarations.contains_key(&symbol) {
                self.declare(symbol.clone(), format!("(declare-const {symbol} Int)"));
                return symbol;
            }
        }
    }

    /// A symbol that is not in use in this context: the name itself, or the name with the first free number.
    fn free(&self, name: &str) -> String {
        let (mut candidate, mut number) = (symbol(name), 2);
        while [POW, digits::DIGIT_SUM, sizes::NODE_SIZE, parts::PART_BEGIN, parts::PART_OF]
            .contains(&candidate.as_str())
            || self.declarations.contains_key(&candidate)
        {
            candidate = symbol(&format!("{name}.{number}"));
            number += 1;
        }
        candidate
    }

    /// Adds a declaration. Panics on a second meaning of a symbol, because it would make proofs unsound.
    fn declare(&mut self, symbol: String, declaration: String) {
        let known = self.declarations.insert(symbol, declaration);
        assert!(known.is_none(), "a symbol stands for one thing: {known:?}");
    }

    /// The numbering of ranks and blocks.
    pub(crate) fn wheel(&self) -> Numbering {
        self.wheel
    }

    /// Whether blocks are plain numbers though ranks are not: those of a reduction that looks at nodes.
    pub(crate) fn blocks_are_plain(&self) -> bool {
        self.wheel == Numbering::Nodes && self.schedule.kind.reduces()
    }

    /// Whether blocks wrap around p, because each rank has one. Other numbers of blocks do not wrap: that they lie in
    /// range is an obligation.
    pub(crate) fn blocks_wrap(&self) -> bool {
        let schedule = self.schedule;
        let divided = schedule.kind.reduces() || schedule.kind == Kind::Broadcast;
        !divided || matches!(&schedule.blocks, Expr::Var(v) if v.slot == P)
    }

    /// That two blocks are equal.
    pub(crate) fn same_block(&self, a: &CyclicTerm, b: &CyclicTerm) -> Term {
        if self.blocks_wrap() { self.wheel.same(a, b) } else { and([eq(&a.number, &b.number), eq(&a.seat, &b.seat)]) }
    }

    /// Whether the collective reduces.
    pub(crate) fn reduces(&self) -> bool {
        self.schedule.kind.reduces()
    }

    /// Whether the laws about bits, and about what wraps, are at hand: for reductions and collectives with a root.
    fn has_bits(&self) -> bool {
        self.schedule.kind.reduces() || self.schedule.kind.has_root()
    }

    /// The two coordinates of a rank or a block.
    pub(crate) fn coordinates(&self, e: &Expr) -> Result<(Expr, Expr), NoEncoding> {
        self.wheel.split(e).ok_or_else(|| NoEncoding::of(e, format!("`{e}`, which is not written `at(node, seat)`,")))
    }

    /// A rank or a block.
    pub(crate) fn cell(&mut self, e: &Expr, values: &TermValues) -> Result<CyclicTerm, NoEncoding> {
        let (number, seat) = self.coordinates(e)?;
        Ok(CyclicTerm { number: self.lower(&number, values)?, seat: self.lower(&seat, values)? })
    }

    /// The length of a list parameter.
    fn length(&mut self, list: &ListVar) -> Term {
        self.memo(format!("length {}", list.slot), |cx| {
            let length = cx.constant(&format!("len.{}", list.name));
            // The elements take 8 bytes each, and no address space has room for 2^60 of them.
            cx.law(and([ge(&length, "0"), lt(&length, "1152921504606846976")]));
            length
        })
    }

    /// A new function of a node.
    pub(crate) fn function(&mut self, name: &str) -> Term {
        let function = self.free(name);
        self.declare(function.clone(), format!("(declare-fun {function} (Int) Int)"));
        function
    }

    /// The function that gives the elements of a list parameter.
    fn list(&mut self, list: &ListVar) -> Term {
        self.memo(format!("list {}", list.slot), |cx| {
            let function = cx.free(&list.name);
            cx.declare(function.clone(), format!("(declare-fun {function} (Int) Int)"));
            function
        })
    }

    /// The elements of list parameters that occur.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Term> {
        self.elements.iter()
    }

    /// Conditions under which everything lowered since the last call has a value.
    pub(crate) fn take_defined(&mut self) -> Vec<Term> {
        std::mem::take(&mut self.defined)
    }

    /// Intermediate results lowered since the last call, each with its condition.
    pub(crate) fn take_computed(&mut self) -> Vec<(Term, Term)> {
        std::mem::take(&mut self.computed)
    }

    /// Discards the conditions and intermediate results so far: both are obligations elsewhere.
    pub(crate) fn settle(&mut self) {
        self.defined.clear();
        self.computed.clear();
    }

    /// Lowers a fact that is assumed: `x == pow(2, e)` makes `x` a power of two.
    pub(crate) fn assume(&mut self, fact: &Expr, values: &TermValues) -> Result<Term, NoEncoding> {
        if let Expr::Binary(Binary::Eq, x, power) = fact
            && let Expr::Builtin(Builtin::Pow, args) = &**power
            && args[0] == Expr::Int(2)
        {
            let x = self.lower(x, values)?;
            self.two_powers.insert(x);
        }
        self.lower(fact, values)
    }

    /// Notes that `value`, which replaces `x` because of a fact `x == pow(2, e)`, is a power of two.
    pub(crate) fn also_power_of_two(&mut self, fact: &Expr, value: &str) {
        if let Expr::Binary(Binary::Eq, _, power) = fact
            && matches!(&**power, Expr::Builtin(Builtin::Pow, args) if args[0] == Expr::Int(2))
        {
            self.two_powers.insert(value.into());
        }
    }

    /// The term of an expression.
    pub(crate) fn lower(&mut self, e: &Expr, values: &TermValues) -> Result<Term, NoEncoding> {
        match e {
            Expr::Int(n) => Ok(int(*n)),
            Expr::Bool(b) => Ok(b.to_string()),
            Expr::Var(v) if v.slot == PPN && self.wheel == Numbering::Nodes => {
                let node = values.get(NODE, "node")?;
                Ok(self.node_size(&node))
            }
            Expr::Var(v) => values.get(v.slot, &v.name),
            Expr::Length(list) => Ok(self.length(list)),
            Expr::Element(list, index) => self.element(list, index, values),
            Expr::Product(..) => Err(NoEncoding::of(e, format!("`{e}`"))),
            Expr::Unary(Unary::Neg, a) => {
                let a = self.lower(a, values)?;
                Ok(self.computed(sub("0", &a)))
            }
            Expr::Unary(Unary::Not, a) => Ok(not(&self.lower(a, values)?)),
            Expr::Binary(op, a, b) => self.binary(e, *op, a, b, values),
            Expr::Builtin(Builtin::NodeSize, args) if self.wheel == Numbering::Nodes => {
                values.get(NODES, "nodes")?;
                let node = self.lower(&args[0], values)?;
                Ok(self.node_size(&node))
            }
            Expr::Builtin(function, args) => self.builtin(e, *function, args, values),
            Expr::Call(_, index, args) => self.call(*index, args, values),
            Expr::If(c, a, b) => {
                let c = self.lower(c, values)?;
                let a = self.under(c.clone(), |cx| cx.lower(a, values))?;
                let b = self.under(not(&c), |cx| cx.lower(b, values))?;
                Ok(ite(&c, &a, &b))
            }
        }
    }

    /// Lowers under a condition, so that values need to exist only there.
    fn under<T>(&mut self, condition: Term, lower: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(condition);
        let result = lower(self);
        self.path.pop();
        result
    }

    /// Lowers everything under one more condition, until [`leave`](Context::leave).
    pub(crate) fn enter(&mut self, condition: Term) {
        self.path.push(condition);
    }

    /// Removes the last `conditions` conditions.
    pub(crate) fn leave(&mut self, conditions: usize) {
        self.path.truncate(self.path.len() - conditions);
    }

    fn must(&mut self, condition: Term) {
        let guarded = implies(&and(self.path.iter().cloned()), &condition);
        if guarded != "true" && !self.defined.contains(&guarded) {
            self.defined.push(guarded);
        }
    }

    fn computed(&mut self, term: Term) -> Term {
        let condition = and(self.path.iter().cloned());
        self.computed.push((condition, term.clone()));
        term
    }

    fn law(&mut self, law: Term) {
        if law != "true" && !self.laws.contains(&law) {
            self.laws.push(law);
        }
    }

    fn call(&mut self, index: usize, args: &[Expr], values: &TermValues) -> Result<Term, NoEncoding> {
        let function = &self.schedule.functions[index];
        let mut inner = values.clone();
        for (arg, value) in function.args.iter().zip(args) {
            inner.slots[arg.slot] = if values.know(value) { Some(self.lower(value, values)?) } else { None };
        }
        let term = self.lower(&function.body, &inner)?;
        // Definitions are inlined where they are used, so a few nested ones can grow without bound.
        if term.len() > LARGEST_TERM {
            return Err(NoEncoding::new(format!("the definition `{}`, which grows too large,", function.name)));
        }
        Ok(term)
    }

    fn element(&mut self, list: &ListVar, index: &Expr, values: &TermValues) -> Result<Term, NoEncoding> {
        let index = self.lower(index, values)?;
        let (function, len) = (self.list(list), self.length(list));
        self.must(within(&index, "0", &len));
        let element = format!("({function} {index})");
        self.elements.insert(element.clone());
        let domain = self.schedule.lists[list.slot].domain;
        self.law(ge(&element, &int(domain.lo)));
        domain.hi.iter().for_each(|hi| self.law(le(&element, &int(*hi))));
        Ok(element)
    }

    fn binary(
        &mut self,
        whole: &Expr,
        op: Binary,
        left: &Expr,
        right: &Expr,
        values: &TermValues,
    ) -> Result<Term, NoEncoding> {
        if let Some((peer, rank)) = self.ranks_compared(op, left, right) {
            return self.compared(op, &peer, &rank, values);
        }
        let a = self.lower(left, values)?;
        let b = match op {
            Binary::And => self.under(a.clone(), |cx| cx.lower(right, values))?,
            Binary::Or => self.under(not(&a), |cx| cx.lower(right, values))?,
            _ => self.lower(right, values)?,
        };
        Ok(match op {
            Binary::Add => self.computed(add(&a, &b)),
            Binary::Sub => self.computed(sub(&a, &b)),
            Binary::Mul => {
                let product = self.product(&a, &b);
                self.computed(product)
            }
            Binary::Div => self.quotient(&a, &b).0,
            Binary::Rem => self.quotient(&a, &b).1,
            Binary::Eq => eq(&a, &b),
            Binary::Ne => not(&eq(&a, &b)),
            Binary::Lt => lt(&a, &b),
            Binary::Le => le(&a, &b),
            Binary::Gt => lt(&b, &a),
            Binary::Ge => le(&b, &a),
            Binary::And => and([a, b]),
            Binary::Or => or([a, b]),
            Binary::Shl => {
                self.must(within(&b, "0", "63"));
                let power = self.pow("2", &b);
                let product = self.product(&a, &power);
                self.computed(product)
            }
            Binary::Shr => {
                self.must(within(&b, "0", "64"));
                let power = self.pow("2", &b);
                self.quotient(&a, &power).0
            }
            Binary::BitXor => return self.xor(whole, &a, &b),
            Binary::BitAnd => return self.bit_and(whole, left, right, &a),
            Binary::BitOr => return Err(NoEncoding::of(whole, format!("the bit operation `{whole}`"))),
        })
    }

    /// A product; its factors are noted for monotonicity laws.
    pub(crate) fn product(&mut self, a: &str, b: &str) -> Term {
        self.note_product(a, b);
        mul(a, b)
    }

    /// Notes a product of two factors; a literal in front of one factor is moved to the other.
    fn note_product(&mut self, a: &str, b: &str) {
        if is_literal(a) || is_literal(b) {
            return;
        }
        let ((m, x), (n, y)) = (coefficient(a), coefficient(b));
        self.products.insert((x.into(), mul(m, b)));
        self.products.insert((y.into(), mul(n, a)));
    }

    /// Euclidean quotient and remainder for a positive divisor.
    pub(crate) fn quotient(&mut self, a: &str, b: &str) -> (Term, Term) {
        self.must(ge(b, "1"));
        if let (number, rest) = coefficient(a)
            && number == b
            && b != "1"
        {
            return (rest.into(), "0".into());
        }
        if let Some(nested) = self.nested_quotient(a, b) {
            return nested;
        }
        if let Some(known) = self.quotients.iter().find(|q| q.dividend == a && q.divisor == b) {
            return (known.quotient.clone(), known.remainder.clone());
        }
        let (q, r) = (self.fresh("quot"), self.fresh("rem"));
        let value = add(&mul(b, &q), &r);
        self.note_product(b, &q);
        let meaning = [eq(a, &value), le("0", &r), lt(&r, b)];
        if is_literal(b) && b != "0" {
            meaning.into_iter().for_each(|part| self.law(part));
        } else {
            self.law(implies(&ge(b, "1"), &and(meaning)));
        }
        self.near(a, b, &q, &r);
        let (dividend, divisor) = (a.to_string(), b.to_string());
        self.quotients.push(Quotient { dividend, divisor, quotient: q.clone(), remainder: r.clone() });
        self.quotient_by_product(a, b, &q, &r);
        (q, r)
    }

    /// `a ^ b` where `b` is known to be a power of two: the bit of `a` is the parity of `a / b`.
    fn xor(&mut self, whole: &Expr, a: &str, b: &str) -> Result<Term, NoEncoding> {
        if !self.two_powers.contains(b) {
            if self.schedule.kind.reduces() {
                return Ok(self.any_xor(a, b));
            }
            return Err(NoEncoding::of(whole, format!("`{whole}`, unless `holds` says `{b} == pow(2, …)`")));
        }
        let (q, _) = self.quotient(a, b);
        let (_, bit) = self.quotient(&q, "2");
        self.must(ge(a, "0"));
        Ok(ite(&eq(&bit, "0"), &add(a, b), &sub(a, b)))
    }

    fn builtin(&mut self, whole: &Expr, f: Builtin, args: &[Expr], values: &TermValues) -> Result<Term, NoEncoding> {
        let args: Vec<Term> = args.iter().map(|arg| self.lower(arg, values)).collect::<Result<_, _>>()?;
        let (a, b) = (args[0].as_str(), args.get(1).map_or("", String::as_str));
        Ok(match f {
            Builtin::Min => ite(&le(a, b), a, b),
            Builtin::Max => ite(&le(a, b), b, a),
            Builtin::Pow => {
                self.must(ge(b, "0"));
                let power = self.pow(a, b);
                self.computed(power)
            }
            Builtin::CeilLog => self.ceil_log(a, b),
            Builtin::FloorLog => self.floor_log(a, b),
            Builtin::CeilDiv => self.ceil_div(a, b),
            Builtin::DigitSum => return self.digit_sum(a, b),
            Builtin::Digit if self.schedule.kind.moves() => {
                let position = args[2].clone();
                self.digit(a, b, &position)
            }
            Builtin::PartSize => self.part_size(a, b, &args[2]),
            Builtin::PartBegin => self.part_begin(a, b, &args[2]),
            Builtin::PartOf => self.part_of(a, b, &args[2]),
            Builtin::Gcd | Builtin::Digit | Builtin::FirstRank | Builtin::NodeSize | Builtin::Pair => {
                return Err(NoEncoding::of(whole, format!("`{whole}`")));
            }
        })
    }

    /// `pow(base, exponent)`, an uninterpreted function whose laws are added when the query is written.
    pub(crate) fn pow(&mut self, base: &str, exponent: &str) -> Term {
        self.declarations.insert(POW.into(), format!("(declare-fun {POW} (Int Int) Int)"));
        self.powers.insert((base.into(), exponent.into()));
        format!("({POW} {base} {exponent})")
    }

    fn memo(&mut self, key: String, define: impl FnOnce(&mut Self) -> Term) -> Term {
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let term = define(self);
        self.known.insert(key, term.clone());
        term
    }

    fn ceil_log(&mut self, base: &str, n: &str) -> Term {
        self.must(ge(base, "2"));
        self.memo(format!("ceil_log {base} {n}"), |cx| {
            let w = cx.fresh("ceil_log");
            let (top, below) = (cx.pow(base, &w), cx.pow(base, &sub(&w, "1")));
            let meaning = and([ge(&w, "0"), ge(&top, n), or([eq(&w, "0"), lt(&below, n)])]);
            cx.law(implies(&ge(base, "2"), &meaning));
            w
        })
    }

    /// The number of digits needed to count up to `n`, and the weight of the first digit.
    pub(crate) fn top_digit(&mut self, base: &str, n: &str) -> (Term, Term) {
        let digits = self.ceil_log(base, n);
        let top = self.pow(base, &sub(&digits, "1"));
        (digits, top)
    }

    fn floor_log(&mut self, base: &str, n: &str) -> Term {
        self.must(and([ge(base, "2"), ge(n, "1")]));
        self.memo(format!("floor_log {base} {n}"), |cx| {
            let w = cx.fresh("floor_log");
            let (top, next) = (cx.pow(base, &w), cx.pow(base, &add(&w, "1")));
            let meaning = and([ge(&w, "0"), le(&top, n), lt(n, &next)]);
            cx.law(implies(&and([ge(base, "2"), ge(n, "1")]), &meaning));
            w
        })
    }

    fn ceil_div(&mut self, a: &str, b: &str) -> Term {
        self.must(ge(b, "1"));
        self.memo(format!("ceil_div {a} {b}"), |cx| {
            let q = cx.fresh("ceil_div");
            let top = cx.product(b, &q);
            cx.law(implies(&ge(b, "1"), &and([lt(&sub(&top, b), a), le(a, &top)])));
            cx.ceilings.push((a.into(), b.into(), q.clone()));
            q
        })
    }

    /// Declarations, in order of their names.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = &String> {
        self.declarations.values()
    }

    /// All laws that hold for the terms lowered so far. With `more`, also those that are expensive for the solver and
    /// rarely needed: products of powers, monotonicity of products.
    pub(crate) fn laws(&self, more: bool) -> Vec<Term> {
        let mut laws = self.laws.clone();
        laws.extend(self.power_laws(more));
        laws.extend(self.quotient_laws());
        laws.extend(self.stride_laws());
        laws.extend(self.halving_laws());
        laws.extend(self.bit_laws());
        laws.extend(self.digit_laws());
        laws.extend(self.equal_divisors());
        laws.extend(self.one_more_laws());
        laws.extend(self.size_laws());
        laws.extend(self.part_laws());
        if more {
            laws.extend(self.product_laws());
        }
        laws.retain(|law| law != "true");
        laws
    }

    fn power_laws(&self, more: bool) -> Vec<Term> {
        let mut laws = Vec::new();
        let pow = |b: &str, e: &str| format!("(pow {b} {e})");
        for (b, e) in &self.powers {
            let valid = and([ge(b, "2"), ge(e, "0")]);
            let here = pow(b, e);
            let small = and([implies(&eq(e, "0"), &eq(&here, "1")), implies(&eq(e, "1"), &eq(&here, b))]);
            laws.push(implies(&valid, &and([lt(e, &here), small])));
            if self.wheel == Numbering::Nodes {
                // `lanes` may be 1.
                let one = if is_literal(b) { "false".into() } else { and([eq(b, "1"), ge(e, "0")]) };
                laws.push(implies(&or([eq(e, "0"), one]), &eq(&here, "1")));
            }
            let previous = implies(&ge(e, "1"), &eq(&here, &mul(b, &pow(b, &sub(e, "1")))));
            laws.push(implies(&ge(b, "2"), &previous));
            for (c, f) in self.powers.iter().filter(|(c, f)| c == b && f != e) {
                let there = pow(c, f);
                let step = implies(&eq(f, &add(e, "1")), &eq(&there, &mul(b, &here)));
                let order = implies(&lt(e, f), &le(&mul(b, &here), &there));
                laws.push(implies(&valid, &and([step, order])));
                if more {
                    let factor = pow(b, &sub(f, e));
                    let split = and([eq(&there, &mul(&here, &factor)), ge(&factor, "1")]);
                    let even = and([lt(e, f), ge(b, "2")]);
                    let half = eq(&factor, &mul(b, &pow(b, &sub(&sub(f, e), "1"))));
                    laws.push(implies(&and([valid.clone(), le(e, f)]), &split));
                    laws.push(implies(&and([valid.clone(), even]), &half));
                }
            }
        }
        laws
    }

    /// Two quotients by the same divisor whose dividends differ by a multiple of it.
    fn quotient_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for (i, a) in self.quotients.iter().enumerate() {
            let alike = |b: &&Quotient| b.divisor == a.divisor && !is_literal(&b.divisor);
            for b in self.quotients[i + 1..].iter().filter(alike) {
                let positive = ge(&a.divisor, "1");
                for (shift, steps) in [("0".to_string(), 0), (a.divisor.clone(), 1), (sub("0", &a.divisor), -1)] {
                    let apart = eq(&b.dividend, &add(&a.dividend, &shift));
                    let same = and([eq(&b.quotient, &add(&a.quotient, &int(steps))), eq(&b.remainder, &a.remainder)]);
                    laws.push(implies(&and([positive.clone(), apart]), &same));
                }
                let order = implies(&le(&a.dividend, &b.dividend), &le(&a.quotient, &b.quotient));
                let reverse = implies(&le(&b.dividend, &a.dividend), &le(&b.quotient, &a.quotient));
                laws.push(implies(&positive, &and([order, reverse])));
            }
        }
        laws
    }

    /// Notes that a rank is `count` steps from another one: its quotient by the step is that much larger or smaller.
    pub(crate) fn note_stride(&mut self, step: &str, count: &str) {
        self.strides.insert((step.into(), count.into()));
    }

    /// Two quotients by a step, of numbers that are several steps apart: `law-quotient-near`, where `t` is the quotient
    /// of the one and that many more.
    fn stride_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for (step, count) in &self.strides {
            let by_step = || self.quotients.iter().filter(|q| q.divisor == *step);
            let pairs = by_step().flat_map(|a| by_step().map(move |b| (a, b)));
            for (a, b) in pairs.filter(|(a, b)| a.dividend != b.dividend) {
                let apart = and([ge(step, "1"), eq(&b.dividend, &add(&a.dividend, &mul(step, count)))]);
                let same = and([eq(&b.quotient, &add(&a.quotient, count)), eq(&b.remainder, &a.remainder)]);
                laws.push(implies(&apart, &same));
            }
        }
        laws
    }

    /// Quotients of one number by a divisor and by twice that divisor, rounded down and rounded up.
    fn halving_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for a in &self.quotients {
            for b in self
                .quotients
                .iter()
                .filter(|b| b.dividend == a.dividend && b.divisor != a.divisor && !is_literal(&a.divisor))
            {
                let doubled = and([ge(&a.divisor, "1"), eq(&b.divisor, &mul("2", &a.divisor))]);
                let (half, odd) = (format!("(div {} 2)", a.quotient), format!("(mod {} 2)", a.quotient));
                let remainder = ite(&eq(&odd, "0"), &a.remainder, &add(&a.remainder, &a.divisor));
                laws.push(implies(&doubled, &and([eq(&b.quotient, &half), eq(&b.remainder, &remainder)])));
            }
        }
        for (n, b, x) in &self.ceilings {
            for (_, _, y) in self.ceilings.iter().filter(|(m, c, _)| m == n && *c == mul("2", b)) {
                let twice = mul("2", y);
                laws.push(implies(&ge(b, "1"), &and([le(&sub(&twice, "1"), x), le(x, &twice)])));
            }
        }
        laws
    }

    /// The products, also with halves of their factors: of `q` where `q = 2 h + e`, of `x` where a factor is `2 x`, and
    /// of the factors into which powers split.
    fn products_with_parts(&self) -> BTreeSet<(Term, Term)> {
        let mut all = self.products.clone();
        for (b, e) in &self.powers {
            for (_, f) in self.powers.iter().filter(|(c, f)| c == b && f != e) {
                let rest = format!("(pow {b} {})", sub(&sub(f, e), "1"));
                all.insert((format!("(pow {b} {e})"), mul(b, &rest)));
            }
        }
        for (common, factor) in all.clone() {
            for half in self.quotients.iter().filter(|q| q.dividend == factor && is_literal(&q.divisor)) {
                all.insert((common.clone(), half.quotient.clone()));
            }
            let (number, rest) = coefficient(&factor);
            if number != "1" {
                all.insert((common, rest.into()));
            }
        }
        all.retain(|(common, _)| self.products.iter().any(|(known, _)| known == common));
        all
    }

    /// Monotonicity: of two products with a common factor, the one with the larger other factor is larger.
    fn product_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        let products = self.products_with_parts();
        for (common, x) in &products {
            for (_, y) in products.iter().filter(|(other, y)| other == common && y != x) {
                let (cx, cy) = (mul(common, x), mul(common, y));
                let next = implies(&lt(x, y), &le(&add(&cx, common), &cy));
                let same = implies(&le(x, y), &le(&cx, &cy));
                laws.push(implies(&ge(common, "0"), &and([next, same])));
            }
        }
        laws
    }
}
