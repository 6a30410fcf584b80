//! Lemmas about machine arithmetic and bit tricks, as bit-vectors of 32 and 64 bits; and the laws of arithmetic that
//! the encoding instantiates, over the integers.
//!
//! A proof over the integers does not cover machine arithmetic. These lemmas close the gap for the functions that
//! generated code calls: `wrap` is the Euclidean remainder without overflow, `x ^ d` moves by exactly `d` when `d` is a
//! power of two, and the quotient rounded up is computed correctly.

use super::laws::{LAWS, Law};

/// A lemma: its name, its claim, its file. `unsat` proves it.
#[derive(Clone, Debug)]
pub struct Lemma {
    /// Its name.
    pub name: String,
    /// Its claim.
    pub claim: &'static str,
    /// The hypotheses and the negated goal.
    pub text: String,
}

impl Lemma {
    /// The hash of the query.
    pub fn hash(&self) -> String {
        roundel_spec::canonical::hash(&self.text)
    }
}

/// All lemmas.
pub fn lemmas() -> Vec<Lemma> {
    let machine =
        [32, 64].into_iter().flat_map(|bits| [wrap(bits), xor(bits), parting(bits), lowest(bits), width(bits)]);
    machine.chain(LAWS.iter().map(law)).chain([digits()]).collect()
}

fn lemma(name: String, claim: &'static str, body: String) -> Lemma {
    Lemma { text: format!("; {claim}\n; expected: unsat\n(set-logic ALL)\n{body}\n(check-sat)\n"), name, claim }
}

/// The literal of a bit-vector.
fn bv(n: u64, bits: u32) -> String {
    format!("(_ bv{n} {bits})")
}

fn wrap(bits: u32) -> Lemma {
    let zero = bv(0, bits);
    // p is at most a quarter of the type's range, so that 2 p and x + p fit.
    let quarter = bv(1 << (bits - 2), bits);
    let body = format!(
        "(declare-const x (_ BitVec {bits}))\n(declare-const p (_ BitVec {bits}))\n\
         (assert (bvsgt p {zero}))\n(assert (bvslt p {quarter}))\n\
         (assert (bvsge x (bvneg p)))\n(assert (bvslt x (bvadd p p)))\n\
         (define-fun wrapped () (_ BitVec {bits})\n  \
         (ite (bvslt x {zero}) (bvadd x p) (ite (bvslt x p) x (bvsub x p))))\n\
         ; in range, and apart from x by none or one p\n\
         (assert (not (and (bvsge wrapped {zero}) (bvslt wrapped p)\n  \
         (or (= wrapped x) (= wrapped (bvadd x p)) (= (bvadd wrapped p) x)))))"
    );
    lemma(format!("wrap-{bits}"), "wrap is the Euclidean remainder for arguments in [-p, 2p), without overflow", body)
}

fn xor(bits: u32) -> Lemma {
    let (zero, one) = (bv(0, bits), bv(1, bits));
    let top = bv(u64::from(bits) - 2, bits);
    let body = format!(
        "(declare-const x (_ BitVec {bits}))\n(declare-const s (_ BitVec {bits}))\n\
         (assert (bvult s {top}))\n(assert (bvsge x {zero}))\n\
         (define-fun d () (_ BitVec {bits}) (bvshl {one} s))\n\
         (assert (bvslt x (bvshl {one} {top})))\n\
         (define-fun even () Bool (= (bvand (bvlshr x s) {one}) {zero}))\n\
         (assert (not (= (bvxor x d) (ite even (bvadd x d) (bvsub x d)))))"
    );
    lemma(format!("xor-{bits}"), "x ^ d is x + d or x - d by the parity of x / d, when d is a power of two", body)
}

fn parting(bits: u32) -> Lemma {
    let zero = bv(0, bits);
    let body = format!(
        "(declare-const x (_ BitVec {bits}))\n(declare-const y (_ BitVec {bits}))\n\
         (declare-const s (_ BitVec {bits}))\n\
         (assert (bvult s {top}))\n(assert (and (bvsge x {zero}) (bvsge y {zero})))\n\
         (define-fun d () (_ BitVec {bits}) (bvshl {one} s))\n\
         (assert (not (= (bvslt (bvxor x y) d) (= (bvlshr x s) (bvlshr y s)))))",
        top = bv(u64::from(bits) - 2, bits),
        one = bv(1, bits),
    );
    let claim = "x ^ y is less than a power of two where the quotients by it are equal, and only there";
    lemma(format!("xor-size-{bits}"), claim, body)
}

fn lowest(bits: u32) -> Lemma {
    let (zero, one) = (bv(0, bits), bv(1, bits));
    let body = format!(
        "(declare-const x (_ BitVec {bits}))\n(declare-const s (_ BitVec {bits}))\n\
         (assert (bvult s {top}))\n(assert (bvsge x {zero}))\n\
         (define-fun d () (_ BitVec {bits}) (bvshl {one} s))\n\
         ; the remainder by 2 d\n\
         (assert (= (bvand x (bvsub (bvadd d d) {one})) d))\n\
         (assert (not (= (bvand x (bvneg x)) d)))",
        top = bv(u64::from(bits) - 2, bits),
    );
    lemma(format!("lowest-bit-{bits}"), "x & -x is the power of two that x leaves by twice that power", body)
}

fn width(bits: u32) -> Lemma {
    // Two numbers below 2^(bits/2 - 1) multiply without overflow; the machine-width obligations rely on this.
    let (zero, half) = (bv(0, bits), bv(1 << (bits / 2 - 1), bits));
    let wide = 2 * bits;
    let body = format!(
        "(declare-const a (_ BitVec {bits}))\n(declare-const b (_ BitVec {bits}))\n\
         (assert (and (bvsge a {zero}) (bvslt a {half}) (bvsge b {zero}) (bvslt b {half})))\n\
         (define-fun exact () (_ BitVec {wide}) (bvmul ((_ zero_extend {bits}) a) ((_ zero_extend {bits}) b)))\n\
         (assert (not (and (= exact ((_ zero_extend {bits}) (bvmul a b))) (bvsge (bvmul a b) {zero}))))"
    );
    lemma(format!("product-{bits}"), "a product of two numbers of half the width does not overflow", body)
}

/// One more bit of a number adds that bit to the sum of its digits: by the definition of the sum and induction over the
/// bits below. The number is `x = 2 y + b`, where `y` has remainder `r` by `d` and `v` by `2 d`, and the bit `e`
/// between them.
fn digits() -> Lemma {
    let body = "(declare-fun digit_sum (Int) Int)\n\
         (declare-const x Int)(declare-const y Int)(declare-const b Int)(declare-const d Int)\n\
         (declare-const h Int)(declare-const e Int)(declare-const r Int)(declare-const v Int)\n\
         (assert (and (= x (+ (* 2 y) b)) (<= 0 b) (< b 2) (>= d 1)))\n\
         (assert (and (= y (+ (* d (+ (* 2 h) e)) r)) (<= 0 r) (< r d) (<= 0 e) (< e 2) (= v (ite (= e 1) (+ d r) r))))\n\
         ; what the sum is: the last digit, and the sum of the others\n\
         (assert (and (= (digit_sum 0) 0) (= (digit_sum 1) 1)))\n\
         (assert (= (digit_sum (+ (* 2 r) b)) (+ b (digit_sum r))))\n\
         (assert (= (digit_sum (+ (* 2 v) b)) (+ b (digit_sum v))))\n\
         ; the claim for y and d\n\
         (assert (= (digit_sum v) (+ (digit_sum r) e)))\n\
         ; the claim for x and 2 d, whose remainders and bit are these\n\
         (define-fun low () Int (+ (* 2 r) b))\n\
         (define-fun high () Int (+ (* 2 v) b))\n\
         (assert (not (and (<= 0 low) (< low (* 2 d)) (= x (+ (* 2 (* d (+ (* 2 h) e))) low))\n  \
         (<= 0 high) (< high (* 4 d)) (= high (ite (= e 1) (+ (* 2 d) low) low))\n  \
         (= (digit_sum high) (+ (digit_sum low) e))\n  \
         ; and for d = 1, where it begins\n  \
         (= (digit_sum b) (+ (digit_sum 0) b)))))";
    let claim = "one bit more of a number adds that bit to the sum of its digits";
    lemma("law-digit-sum".into(), claim, body.into())
}

/// The lemma that states a law.
fn law(law: &Law) -> Lemma {
    let mut body = String::new();
    for constant in law.constants.split(' ') {
        body += &format!("(declare-const {constant} Int)\n");
    }
    for hypothesis in law.hypotheses {
        body += &format!("(assert {hypothesis})\n");
    }
    body += &format!("(assert (not {}))", law.goal);
    lemma(law.name.into(), law.claim, body)
}
