//! One solver query, as an SMT-LIB 2.6 file.

use super::context::Context;
use super::term::{Term, not};
use std::fmt::Write;

/// The property that an obligation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Property {
    Defined,
    Initialisation,
    WrapRange,
    SendsHeld,
    PeerInverse,
    SameBlocks,
    NoSelfMessage,
    SingleWrite,
    CountedOnce,
    Contributors,
    Invariant,
    Coverage,
    RankOrder,
    SameTree,
    Rounds,
    Counters,
    Bounds,
    MachineWidth,
    Hints,
    Root,
}

impl Property {
    /// The property in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Property::Defined => "defined",
            Property::Initialisation => "initialisation",
            Property::WrapRange => "wrap-range",
            Property::SendsHeld => "sends-held",
            Property::PeerInverse => "peer-inverse",
            Property::SameBlocks => "same-blocks",
            Property::NoSelfMessage => "no-self-message",
            Property::SingleWrite => "single-write",
            Property::CountedOnce => "counted-once",
            Property::Contributors => "contributors",
            Property::Invariant => "invariant",
            Property::Coverage => "coverage",
            Property::RankOrder => "rank-order",
            Property::SameTree => "same-tree",
            Property::Rounds => "rounds",
            Property::Counters => "counters",
            Property::Bounds => "bounds",
            Property::MachineWidth => "machine-width",
            Property::Hints => "hints",
            Property::Root => "root",
        }
    }
}

/// A statement to prove: the hypotheses imply the goal.
#[derive(Clone)]
pub struct Obligation {
    /// A name that is unique within the collective and valid in a file name.
    pub name: String,
    /// Its property.
    pub property: Property,
    /// The claim, for people.
    pub claim: String,
    attempts: Vec<Attempt>,
}

/// One encoding of an obligation; each is sufficient on its own.
#[derive(Clone)]
pub(crate) struct Attempt {
    declarations: Vec<String>,
    hypotheses: Vec<Term>,
    laws: Vec<Term>,
    more_laws: Vec<Term>,
    goal: Term,
}

impl Attempt {
    pub(crate) fn new(cx: &Context<'_>, hypotheses: &[Term], goal: Term) -> Self {
        let laws = cx.laws(false);
        let more_laws = cx.laws(true).into_iter().filter(|law| !laws.contains(law)).collect();
        let hypotheses = hypotheses.iter().filter(|h| *h != "true").cloned().collect();
        Attempt { declarations: cx.declarations().cloned().collect(), hypotheses, laws, more_laws, goal }
    }
}

/// The files of an obligation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryForm {
    /// The hypotheses and the negated goal: `unsat` proves it.
    Proof,
    /// The same with all instances of the laws.
    ProofWithInstances,
    /// The hypotheses alone: `unsat` means that the claim is vacuous.
    Vacuity,
    /// The same with all instances of the laws.
    VacuityWithInstances,
}

impl Obligation {
    pub(crate) fn new(property: Property, name: String, claim: String, attempts: Vec<Attempt>) -> Self {
        Obligation { name, property, claim, attempts }
    }

    /// The files that can prove it, the cheapest first: `unsat` of any one suffices.
    pub fn proofs(&self, collective: &str) -> Vec<String> {
        let forms = [QueryForm::Proof, QueryForm::ProofWithInstances];
        let pairs = self.attempts.iter().flat_map(|attempt| forms.map(|form| (attempt, form)));
        pairs.map(|(attempt, form)| self.text(collective, attempt, form)).collect()
    }

    /// The hypotheses alone: `unsat` means that the claim is vacuous.
    pub fn vacuity(&self, collective: &str) -> String {
        self.text(collective, &self.attempts[0], QueryForm::Vacuity)
    }

    /// The premises of file number `i` of [`proofs`](Obligation::proofs): `unsat` means that it could prove anything,
    /// and so proves nothing.
    pub fn premises(&self, collective: &str, i: usize) -> Option<String> {
        let form = if i.is_multiple_of(2) { QueryForm::Vacuity } else { QueryForm::VacuityWithInstances };
        self.attempts.get(i / 2).map(|attempt| self.text(collective, attempt, form))
    }

    /// How much text its files have, without what all files have.
    pub(super) fn length(&self) -> usize {
        let formulas =
            self.attempts.iter().flat_map(|one| one.hypotheses.iter().chain(&one.laws).chain(&one.more_laws));
        formulas.map(String::len).sum()
    }

    /// The hash of the whole query: a record stores it, and any change invalidates the record.
    pub fn hash(&self) -> String {
        let proofs = self.proofs("");
        let premises = (0..proofs.len()).filter_map(|i| self.premises("", i));
        roundel_spec::canonical::hash(&proofs.iter().cloned().chain(premises).collect::<String>())
    }

    fn text(&self, collective: &str, attempt: &Attempt, form: QueryForm) -> String {
        let mut out = String::new();
        let about_premises = matches!(form, QueryForm::Vacuity | QueryForm::VacuityWithInstances);
        let expected = if about_premises { "sat" } else { "unsat" };
        let _ = writeln!(out, "; {collective}: {} ({})", self.claim, self.property.name());
        let _ = writeln!(out, "; expected: {expected}");
        let _ = writeln!(out, "(set-logic ALL)");
        for declaration in &attempt.declarations {
            let _ = writeln!(out, "{declaration}");
        }
        section(&mut out, "hypotheses", &attempt.hypotheses);
        section(&mut out, "definitions and laws of arithmetic, at the terms that occur", &attempt.laws);
        if matches!(form, QueryForm::ProofWithInstances | QueryForm::VacuityWithInstances) {
            section(&mut out, "further instances of the laws", &attempt.more_laws);
        }
        if !about_premises {
            section(&mut out, "the negated goal", &[not(&attempt.goal)]);
        }
        let _ = writeln!(out, "(check-sat)");
        out
    }
}

fn section(out: &mut String, title: &str, formulas: &[Term]) {
    if formulas.is_empty() {
        return;
    }
    let _ = writeln!(out, "; {title}");
    for formula in formulas {
        let _ = writeln!(out, "(assert {formula})");
    }
}
