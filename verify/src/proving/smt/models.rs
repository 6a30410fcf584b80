//! Models of premises: without one, what follows from them says nothing.
//!
//! Many instances of laws help to refute a goal and hide models: a solver that finds a model of the hypotheses at once
//! may look for one of all premises for minutes. So it first gives a model of the premises with few laws, in a world in
//! which powers are powers, and is then asked about all of them with every constant given. Only `sat` of the whole
//! counts. Where that fails, the premises are asked as they are.

use super::context::POW;
use super::discharge::{Portfolio, efforts};
use super::solver::{Effort, SolverAnswer};
use super::term::int;

/// Values of constants.
type Model = Vec<(String, String)>;

/// Premises, and the same with fewer laws, which may be all of them.
pub(super) struct Premises {
    pub(super) all: String,
    pub(super) with_few_laws: String,
}

impl Premises {
    /// Whether they have a model, if a solver can tell. Small p are tried first, where models are found quickly.
    pub(super) fn have_model(&self, portfolio: &Portfolio) -> Option<bool> {
        let is_sat = |question: &str, effort| asked(question, portfolio, effort) == Some(true);
        let small = SMALL.map(|p| up_to(&self.all, p));
        if is_sat(&small[0], Effort::GLANCE) || FEW.into_iter().any(|p| self.have_the_same_model(p, portfolio)) {
            return Some(true);
        }
        let tried = |effort: Effort| small.iter().any(|question| is_sat(question, effort));
        if efforts(0, portfolio.limit).into_iter().any(tried) {
            return Some(true);
        }
        asked(&self.all, portfolio, 3 * portfolio.limit)
    }

    /// Whether a model of the premises with few laws, with up to `p` ranks, is one of all of them.
    fn have_the_same_model(&self, p: u32, portfolio: &Portfolio) -> bool {
        let few = with(&up_to(&self.with_few_laws, p), &powers(&self.with_few_laws));
        let model = portfolio.solvers.iter().find_map(|solver| solver.model(&few, portfolio.limit));
        model.is_some_and(|model| {
            let given = powers(&self.all) + &pins(&self.all, &model);
            self.all == self.with_few_laws
                || asked(&with(&self.all, &given), portfolio, portfolio.limit) == Some(true)
        })
    }
}

/// The largest p of worlds in which powers are powers. With six ranks almost all premises have a model.
const FEW: [u32; 2] = [6, 40];

/// The largest p with which a model is looked for after that, before any p may have one.
const SMALL: [u32; 2] = [40, 4];

/// Whether there is a model, if an answer tells.
fn asked(question: &str, portfolio: &Portfolio, effort: Effort) -> Option<bool> {
    portfolio.solvers.iter().find_map(|solver| match solver.ask(question, effort) {
        SolverAnswer::Sat => Some(true),
        SolverAnswer::Unsat => Some(false),
        _ => None,
    })
}

fn with(question: &str, assertions: &str) -> String {
    question.replace("(check-sat)", &format!("{assertions}(check-sat)"))
}

fn up_to(question: &str, p: u32) -> String {
    with(question, &format!("(assert (<= p {p}))\n"))
}

/// What small powers are: to the laws, they are any function that the laws allow.
fn powers(question: &str) -> String {
    if !question.contains(&format!("(declare-fun {POW} ")) {
        return String::new();
    }
    let of = |base: i64| (0..=6).map(move |e| format!("(assert (= ({POW} {base} {e}) {}))\n", base.pow(e)));
    (2..=4).flat_map(of).collect()
}

/// That the constants of a question have the values of a model.
fn pins(question: &str, model: &Model) -> String {
    let declared = |name: &str| question.contains(&format!("(declare-const {name} Int)"));
    let known = model.iter().filter(|(name, _)| declared(name));
    known.filter_map(|(name, value)| Some(format!("(assert (= {name} {}))\n", int(value.parse().ok()?)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: &str = "(declare-const p Int)\n(assert (>= p 1))\n";
    const POWERS: &str = "(declare-fun pow (Int Int) Int)\n(declare-const s Int)\n(assert (= p (pow 2 s)))\n";

    fn premises(few: &str, more: &str) -> Premises {
        let text = |laws: &str| format!("{laws}(check-sat)\n");
        Premises { all: text(&format!("{few}{more}")), with_few_laws: text(few) }
    }

    /// With and without the solver, if there is one.
    fn verdict(premises: &Premises) -> Option<Option<bool>> {
        let portfolio = Portfolio { limit: Effort::seconds(1), ..Portfolio::installed() }.keeping(None);
        (!portfolio.solvers.is_empty()).then(|| premises.have_model(&portfolio))
    }

    #[test]
    fn only_a_model_of_the_whole_counts() {
        let few = format!("{P}{POWERS}");
        let cases = [
            (few.clone(), "", true),
            (few.clone(), "(assert (and (<= 0 s) (< s 3)))\n", true),
            // A model of the hypotheses is none of the whole: with up to 40 ranks there is none, or nowhere.
            (few.clone(), "(assert (> p 64))\n", true),
            (few.clone(), "(assert (< p 1))\n", false),
            // Only where powers are none.
            (few.clone(), "(assert (= s 1))\n(assert (= p 3))\n", true),
            (format!("{P}(assert (< p 1))\n"), "", false),
        ];
        for (few, more, expected) in cases {
            let Some(found) = verdict(&premises(&few, more)) else { return };
            assert_eq!(found, Some(expected), "{few}{more}");
        }
    }

    #[test]
    fn constants_get_their_values() {
        let model = vec![("p".to_string(), "5".to_string()), ("s".into(), "-2".into()), ("t".into(), "1".into())];
        let text = format!("{P}{POWERS}");
        assert_eq!(pins(&text, &model), "(assert (= p 5))\n(assert (= s (- 2)))\n");
        assert!(powers(&text).contains("(assert (= (pow 3 2) 9))\n") && powers(P).is_empty());
    }
}
