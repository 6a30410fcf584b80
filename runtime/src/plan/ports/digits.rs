//! Numbers of nodes and of fractions, digit by digit.
//!
//! The first factor is the least significant digit of a node, and the most significant one of a fraction. A node
//! numbers fractions relative to itself, cyclically in each digit: fraction (0, 0, ...) is the node's own.

/// The factors of nodes and of fractions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    /// The factors of nodes.
    factors: Vec<usize>,
    /// The number of fractions for each factor: the factor itself or one.
    divided: Vec<usize>,
    /// The weight of each digit of a fraction.
    strides: Vec<usize>,
    /// Whether fractions are numbered by the nodes at which they end.
    by_node: bool,
}

impl Digits {
    pub(super) fn new(factors: Vec<usize>, divided: Vec<usize>, by_node: bool) -> Self {
        let mut strides = vec![1; divided.len()];
        for digit in (1..divided.len()).rev() {
            strides[digit - 1] = strides[digit] * divided[digit];
        }
        Digits { factors, divided, strides, by_node }
    }

    pub(super) fn nodes(&self) -> usize {
        self.factors.iter().product()
    }

    pub(super) fn fractions(&self) -> usize {
        self.divided.iter().product()
    }

    pub(super) fn factor(&self, digit: usize) -> usize {
        self.factors[digit]
    }

    /// One digit of a fraction.
    pub(super) fn of(&self, fraction: u32, digit: usize) -> usize {
        fraction as usize / self.strides[digit] % self.divided[digit]
    }

    /// The fraction whose given digit is larger by `by`.
    pub(super) fn shifted(&self, fraction: u32, digit: usize, by: usize) -> u32 {
        let (old, stride) = (self.of(fraction, digit), self.strides[digit]);
        let new = (old + by) % self.divided[digit];
        (fraction as usize - old * stride + new * stride) as u32
    }

    /// The node whose given digit is larger by `by`.
    pub(super) fn peer(&self, node: usize, digit: usize, by: usize) -> usize {
        let below: usize = self.factors[..digit].iter().product();
        let (factor, old) = (self.factors[digit], node / below % self.factors[digit]);
        node - old * below + (old + by) % factor * below
    }

    /// The numbers of all fractions, relative to a node.
    pub(super) fn numbers(&self, node: usize) -> Vec<u32> {
        let mut own = Vec::with_capacity(self.factors.len());
        let mut rest = node;
        for &factor in &self.factors {
            own.push(rest % factor);
            rest /= factor;
        }
        (0..self.fractions() as u32).map(|fraction| self.number(fraction, &own)).collect()
    }

    fn number(&self, fraction: u32, own: &[usize]) -> u32 {
        let (mut number, mut weight) = (0, 1);
        for (digit, own) in own.iter().enumerate() {
            let value = (self.of(fraction, digit) + own) % self.divided[digit];
            number += value * if self.by_node { weight } else { self.strides[digit] };
            weight *= self.divided[digit];
        }
        number as u32
    }
}
