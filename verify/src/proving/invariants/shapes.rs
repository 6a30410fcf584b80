//! Shapes of what is held: progressions from a base, and everything that arrived so far.

use super::sights::{Held, Sight, Sights};
use super::terms::{self, Term, Terms, known_slots, mentions, of_rank, own_expressions, size};
use roundel_spec::blocks::{BlockSet, Comprehension, Index};
use roundel_spec::expr::{Binary, Expr, Var, slot};
use roundel_spec::schedule::{Loop, Transfer};
use roundel_spec::{Direction, Schedule};
use std::collections::BTreeSet;

/// As many sets are kept.
const MOST: usize = 6;

/// One loop, and what is looked for: a set of numbers below p at every sight.
pub(super) struct Shapes<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) n: usize,
    pub(super) sights: &'a Sights,
    pub(super) seen: Vec<&'a Sight>,
    pub(super) wanted: Vec<&'a BTreeSet<usize>>,
    /// Whether there is only one block: that of a broadcast.
    single: bool,
}

/// A set that fits; the smaller, the simpler.
struct Fitting {
    set: BlockSet,
    size: usize,
}

impl<'a> Shapes<'a> {
    /// What the gather holds in a loop.
    pub(super) fn of_blocks(schedule: &'a Schedule, n: usize, sights: &'a Sights) -> Self {
        let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
        let wanted = seen.iter().filter_map(|sight| match &sight.held {
            Held::Blocks(blocks) => Some(blocks),
            Held::Lines(_) => None,
        });
        let single = matches!(schedule.blocks, Expr::Int(_));
        Shapes { schedule, n, sights, wanted: wanted.collect(), seen, single }
    }

    /// The contributors to a line that has the same ones in all its blocks.
    pub(super) fn of_line(schedule: &'a Schedule, n: usize, sights: &'a Sights, line: usize) -> Option<Self> {
        let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
        let mut wanted = Vec::new();
        for sight in &seen {
            let Held::Lines(lines) = &sight.held else { return None };
            let first = lines[line].first()?;
            if lines[line].iter().any(|block| block != first) {
                return None;
            }
            wanted.push(first);
        }
        Some(Shapes { schedule, n, sights, seen, wanted, single: false })
    }

    fn l(&self) -> &'a Loop {
        &self.schedule.loops[self.n]
    }

    /// All sets that fit, the simplest first.
    pub(super) fn fitting(&self) -> Vec<BlockSet> {
        if self.single {
            return self.one_block();
        }
        // In the order of ranks, contributors are those between two ranks.
        let mut found = if self.schedule.order.rank_order { self.spans() } else { Vec::new() };
        if found.is_empty() {
            found = self.progressions();
        }
        if found.is_empty() {
            found = self.windows();
        }
        if found.is_empty() {
            found = self.arrived();
        }
        found.sort_by_key(|fitting| fitting.size);
        found.truncate(MOST);
        found.into_iter().map(|fitting| fitting.set).collect()
    }

    /// `[base ± stride * k; k in 0..count]`
    fn progressions(&self) -> Vec<Fitting> {
        let counts = self.counts();
        if counts.is_empty() {
            return Vec::new();
        }
        let terms = Terms::of(self.schedule, self.n, self.sights, &self.seen, |e| !of_rank(self.schedule, e));
        let mut found = Vec::new();
        for base in self.bases(&terms) {
            if !self.begins(&base) {
                continue;
            }
            // Other strides with which it is one are the same around p.
            if let Some((stride, op)) = self.stride(&base, &terms) {
                found.extend(counts.iter().map(|count| self.progression(&base.expr, op, stride, count)));
            }
        }
        found
    }

    /// The simplest stride with which what is held is a progression from a base.
    fn stride<'t>(&self, base: &Term, terms: &'t Terms) -> Option<(&'t Expr, Binary)> {
        let strides = terms.atoms.iter().chain(&terms.pairs);
        let mut both = strides.flat_map(|stride| [Binary::Add, Binary::Sub].map(|op| (stride, op)));
        both.find(|(stride, op)| self.is_progression(base, stride, *op)).map(|(stride, op)| (&stride.expr, op))
    }

    /// The expressions for the number of elements, the same on all ranks.
    fn counts(&self) -> Vec<Expr> {
        let allowed = |e: &Expr| !of_rank(self.schedule, e);
        Terms::of(self.schedule, self.n, self.sights, &self.seen, allowed).fitting(&self.sizes())
    }

    fn sizes(&self) -> Vec<Option<i64>> {
        self.wanted.iter().map(|set| Some(set.len() as i64)).collect()
    }

    /// `[base + k; k in 0..count]` or `[base - k; k in 0..count]`, where both may differ from rank to rank.
    fn windows(&self) -> Vec<Fitting> {
        let Some(ends) =
            self.seen.iter().zip(&self.wanted).map(|(sight, set)| self.ends(sight, set)).collect::<Option<Vec<_>>>()
        else {
            return Vec::new();
        };
        let terms = Terms::of(self.schedule, self.n, self.sights, &self.seen, |_| true);
        let conditions = terms::conditions(self.schedule, self.n, self.sights, &self.seen);
        let firsts: Vec<Option<i64>> = ends.iter().map(|ends| ends.map(|(first, _)| first)).collect();
        let lasts: Vec<Option<i64>> = ends.iter().map(|ends| ends.map(|(_, last)| last)).collect();
        let counts = terms.fitting_by_more_cases(&self.sizes(), &conditions);
        let mut found = Vec::new();
        for (op, wanted) in [(Binary::Add, firsts), (Binary::Sub, lasts)] {
            for base in terms.fitting_by_more_cases(&wanted, &conditions).into_iter().take(2) {
                found.extend(counts.iter().map(|count| self.progression(&base, op, &Expr::Int(1), count)));
            }
        }
        found
    }

    /// `[k; k in from..upto]`, where both may differ from rank to rank.
    fn spans(&self) -> Vec<Fitting> {
        let ends = |set: &&BTreeSet<usize>| {
            let (first, last) = (*set.first()? as i64, *set.last()? as i64);
            (last - first + 1 == set.len() as i64).then_some((first, last + 1))
        };
        let Some(ends) = self.wanted.iter().map(ends).collect::<Option<Vec<_>>>() else { return Vec::new() };
        let own = own_expressions(self.schedule, self.n).into_iter();
        let (literals, own): (Vec<Expr>, Vec<Expr>) = own.partition(|e| matches!(e, Expr::Int(_)));
        let groups = terms::groups(self.schedule, self.n);
        let atoms = literals.into_iter().chain(groups).chain(own).map(|expr| self.term(expr)).collect();
        let terms = Terms::over(atoms);
        let conditions = terms::conditions(self.schedule, self.n, self.sights, &self.seen);
        let fitting = |wanted: Vec<Option<i64>>| terms.fitting_by_more_cases(&wanted, &conditions);
        let (from, upto) = (
            fitting(ends.iter().map(|(from, _)| Some(*from)).collect()),
            fitting(ends.iter().map(|(_, upto)| Some(*upto)).collect()),
        );
        from.iter().flat_map(|from| upto.iter().map(|upto| self.span(from, upto))).collect()
    }

    fn span(&self, from: &Expr, upto: &Expr) -> Fitting {
        let var = Var { name: self.free_name(&[]), slot: self.schedule.slots };
        let item = Expr::Var(var.clone());
        let over = vec![Index { var, lo: from.clone(), hi: upto.clone() }];
        let part = Comprehension { item, over, filter: None };
        Fitting { set: BlockSet { parts: vec![part] }, size: size(from) + size(upto) }
    }

    /// `[0; condition]`: the one block of a broadcast.
    fn one_block(&self) -> Vec<BlockSet> {
        let holds = |condition: &&Term| {
            let mut all = condition.values.iter().zip(&self.wanted);
            all.all(|(value, set)| *value == Some(i64::from(!set.is_empty())))
        };
        let conditions = terms::conditions(self.schedule, self.n, self.sights, &self.seen);
        let set = |condition: &Term| {
            let filter = Some(condition.expr.clone());
            BlockSet { parts: vec![Comprehension { item: Expr::Int(0), over: vec![], filter }] }
        };
        conditions.iter().filter(holds).take(MOST).map(set).collect()
    }

    fn term(&self, expr: Expr) -> Term {
        let values = terms::values(self.schedule, self.sights, &self.seen, &expr);
        Term { expr, values }
    }

    /// The first and the last of numbers that follow each other around p; `Some(None)` if they can be any, because
    /// there are none or all, and `None` if they do not follow each other.
    #[allow(clippy::option_option)]
    fn ends(&self, sight: &Sight, set: &BTreeSet<usize>) -> Option<Option<(i64, i64)>> {
        let p = self.sights.p(sight) as usize;
        if set.is_empty() || set.len() == p {
            return Some(None);
        }
        let mut firsts = set.iter().filter(|&&x| !set.contains(&((x + p - 1) % p)));
        let (first, None) = (*firsts.next()?, firsts.next()) else { return None };
        Some(Some((first as i64, ((first + set.len() - 1) % p) as i64)))
    }

    /// The rank, the first of its aligned group, and what definitions say of the rank.
    fn bases(&self, terms: &Terms) -> Vec<Term> {
        let rank = Expr::built_in(slot::RANK);
        let mut bases = vec![rank.clone()];
        let own = own_expressions(self.schedule, self.n);
        bases.extend(own.iter().filter(|e| of_rank(self.schedule, e)).cloned());
        for i in self.schedule.definitions_in(self.n) {
            let function = &self.schedule.functions[i];
            if let [_] = function.args.as_slice() {
                bases.push(Expr::Call(function.name.clone(), i, vec![rank.clone()]));
            }
        }
        for group in terms.atoms.iter().filter(|term| !matches!(term.expr, Expr::Int(1))) {
            let over = Expr::binary(Binary::Rem, rank.clone(), group.expr.clone());
            bases.push(Expr::binary(Binary::Sub, rank.clone(), over));
        }
        let mut known = std::collections::HashSet::new();
        bases.into_iter().map(|expr| self.term(expr)).filter(|base| known.insert(base.values.clone())).collect()
    }

    /// Whether a set always contains its base.
    fn begins(&self, base: &Term) -> bool {
        let all = self.seen.iter().zip(&self.wanted).zip(&base.values);
        all.into_iter().all(|((sight, wanted), value)| {
            value.is_some_and(|value| wanted.contains(&(value.rem_euclid(self.sights.p(sight)) as usize)))
        })
    }

    fn is_progression(&self, base: &Term, stride: &Term, op: Binary) -> bool {
        let mut all = self.seen.iter().zip(&self.wanted).zip(base.values.iter().zip(&stride.values));
        all.all(|((sight, wanted), (base, stride))| {
            let (Some(base), Some(stride)) = (base, stride) else { return false };
            let (p, stride) = (self.sights.p(sight), if op == Binary::Add { *stride } else { -stride });
            let element = |k: i64| (base + stride.rem_euclid(p) * k).rem_euclid(p) as usize;
            let mut met = BTreeSet::new();
            (0..wanted.len() as i64).all(|k| wanted.contains(&element(k)) && met.insert(element(k)))
        })
    }

    fn progression(&self, base: &Expr, op: Binary, stride: &Expr, count: &Expr) -> Fitting {
        let var = Var { name: self.free_name(&[]), slot: self.schedule.slots };
        let k = Expr::Var(var.clone());
        let step = match stride {
            Expr::Int(1) => k,
            stride => Expr::binary(Binary::Mul, stride.clone(), k),
        };
        let size = size(base) + size(stride) + size(count);
        let over = vec![Index { var, lo: 0.into(), hi: count.clone() }];
        let part = Comprehension { item: Expr::binary(op, base.clone(), step), over, filter: None };
        Fitting { set: BlockSet { parts: vec![part] }, size }
    }

    /// A name for an index that nothing in the declaration has.
    fn free_name(&self, taken: &[&Index]) -> String {
        let taken: Vec<&str> = taken.iter().map(|index| index.var.name.as_str()).collect();
        free_name(self.schedule, &["k", "o", "m", "e", "i", "j"], &taken)
    }

    /// What arrived in all rounds so far, with or without the rank's own block: `[item; o in 0..i, …]`.
    fn arrived(&self) -> Vec<Fitting> {
        let l = self.l();
        let [index] = l.indices.as_slice() else { return Vec::new() };
        let recvs: Vec<&Transfer> = l.transfers.iter().filter(|t| t.direction == Direction::Recv).collect();
        let states: Vec<usize> = l.states.iter().map(|state| state.var.slot).collect();
        let mut sets = Vec::new();
        for lo in [Expr::Int(0), index.lo.clone()] {
            let parts: Option<Vec<Comprehension>> = recvs
                .iter()
                .map(|t| self.earlier(t, &index.var, &lo, &states))
                .collect::<Option<Vec<_>>>()
                .map(|all| all.concat());
            let Some(parts) = parts else { continue };
            let own = Comprehension { item: Expr::built_in(slot::RANK), over: vec![], filter: None };
            sets.push(parts.clone());
            sets.push([vec![own], parts].concat());
        }
        let fits = |parts: Vec<Comprehension>| {
            let set = BlockSet { parts };
            let size = set.to_string().len();
            self.is(&set).then_some(Fitting { set, size })
        };
        sets.into_iter().filter_map(fits).collect()
    }

    /// What a clause received in the rounds before this one.
    fn earlier(&self, t: &Transfer, index: &Var, lo: &Expr, states: &[usize]) -> Option<Vec<Comprehension>> {
        let inner: Vec<&Index> = t.each.iter().chain(t.blocks.parts.iter().flat_map(|part| &part.over)).collect();
        let before = Var { name: self.free_name(&inner), slot: self.schedule.slots };
        let earlier = |e: &Expr| {
            let e = inlined(self.schedule, e, &[index.slot]);
            let e = replaced(&e, index.slot, &Expr::Var(before.clone()));
            (!mentions(self.schedule, &e, states)).then_some(e)
        };
        let over = |all: &[Index]| -> Option<Vec<Index>> {
            let one = |i: &Index| Some(Index { var: i.var.clone(), lo: earlier(&i.lo)?, hi: earlier(&i.hi)? });
            all.iter().map(one).collect()
        };
        let part = |part: &Comprehension| {
            let mut indices = vec![Index { var: before.clone(), lo: lo.clone(), hi: Expr::Var(index.clone()) }];
            indices.extend(over(&t.each)?);
            indices.extend(over(&part.over)?);
            let filters = t.when.iter().chain(&part.filter).map(earlier).collect::<Option<Vec<Expr>>>()?;
            let filter = filters.into_iter().reduce(|a, b| Expr::binary(Binary::And, a, b));
            Some(Comprehension { item: earlier(&part.item)?, over: indices, filter })
        };
        t.blocks.parts.iter().map(part).collect()
    }

    /// Whether a set is what is looked for, at every sight, and names nothing twice.
    fn is(&self, set: &BlockSet) -> bool {
        let mut wide = self.schedule.clone();
        wide.slots += 1;
        self.seen.iter().zip(&self.wanted).all(|(sight, wanted)| {
            let (mut env, mut found) = (self.sights.env(&wide, sight), Vec::new());
            let distinct = |found: &[usize]| found.iter().copied().collect::<BTreeSet<usize>>();
            env.blocks(set, &mut found).is_ok() && found.len() == wanted.len() && distinct(&found) == **wanted
        })
    }
}

/// A name that nothing in a declaration has, the first of these if possible.
pub(super) fn free_name(schedule: &Schedule, candidates: &[&str], taken: &[&str]) -> String {
    let names = names(schedule);
    let numbered = (1..).map(|i| format!("k{i}"));
    let free = |name: &String| !names.contains(name) && !taken.contains(&name.as_str());
    candidates.iter().map(ToString::to_string).chain(numbered).find(free).unwrap_or_default()
}

/// All names of a declaration.
fn names(schedule: &Schedule) -> BTreeSet<String> {
    let functions = schedule.functions.iter().flat_map(|f| f.args.iter().map(|arg| &arg.name).chain([&f.name]));
    let numbers = schedule.numbers.iter().map(|number| &number.var.name);
    let lists = schedule.lists.iter().map(|list| &list.var.name);
    let loops = schedule.loops.iter().flat_map(|l| {
        let indices = l.indices.iter().map(|index| &index.var.name);
        indices.chain(l.states.iter().map(|state| &state.var.name))
    });
    functions.chain(numbers).chain(lists).chain(loops).chain(&schedule.lines).cloned().collect()
}

/// An expression with a variable replaced.
fn replaced(e: &Expr, slot: usize, by: &Expr) -> Expr {
    if matches!(e, Expr::Var(v) if v.slot == slot) {
        return by.clone();
    }
    let mut e = e.clone();
    e.children_mut().into_iter().for_each(|child| *child = replaced(child, slot, by));
    e
}

/// An expression in which no definition mentions some variables: such definitions are written out.
fn inlined(schedule: &Schedule, e: &Expr, slots: &[usize]) -> Expr {
    let mut e = e.clone();
    e.children_mut().into_iter().for_each(|child| *child = inlined(schedule, child, slots));
    let Expr::Call(_, index, args) = &e else { return e };
    let function = &schedule.functions[*index];
    if !mentions(schedule, &function.body, slots) {
        return e;
    }
    let body = inlined(schedule, &function.body, slots);
    function.args.iter().zip(args).fold(body, |body, (arg, value)| replaced(&body, arg.slot, value))
}

/// Whether an expression mentions only what is known between rounds.
pub(super) fn is_known(schedule: &Schedule, l: &Loop, e: &Expr) -> bool {
    let known = known_slots(schedule, l);
    let mut all = true;
    e.walk(&mut |e| all &= !matches!(e, Expr::Var(v) if !known.contains(&v.slot)));
    all
}
