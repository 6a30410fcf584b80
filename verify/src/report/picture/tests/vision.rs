//! How far apart two colours are for readers with each kind of colour blindness.
//!
//! The matrices are those of Machado, Oliveira and Fernandes (2009) for complete protanopia, deuteranopia and
//! tritanopia; distances are those of CIELAB (1976), in which about 2 is just noticeable.

type Matrix3 = [[f64; 3]; 3];

const KINDS: [Matrix3; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

const TO_XYZ: Matrix3 =
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]];

/// The smallest distance of two colours over all kinds of sight.
pub(super) fn distance(a: &str, b: &str) -> f64 {
    let apart = |kind: &Matrix3| {
        let (a, b) = (lab(seen(kind, linear(a))), lab(seen(kind, linear(b))));
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    KINDS.iter().map(apart).fold(f64::INFINITY, f64::min)
}

fn times(matrix: &Matrix3, v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
}

fn seen(kind: &Matrix3, colour: [f64; 3]) -> [f64; 3] {
    times(kind, colour).map(|part| part.clamp(0.0, 1.0))
}

/// The parts of a colour such as `#2563eb`, linear in light.
fn linear(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("two digits")) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    })
}

fn lab(colour: [f64; 3]) -> [f64; 3] {
    let f = |t: f64| if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 };
    let [x, y, z] = times(&TO_XYZ, colour);
    let [x, y, z] = [f(x / 0.95047), f(y), f(z / 1.08883)];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[test]
fn distances_are_those_of_known_colours() {
    assert!((distance("#000000", "#ffffff") - 100.0).abs() < 0.1);
    assert!(distance("#2563eb", "#2563eb") == 0.0);
    // Red and green of equal brightness: for some readers the same.
    assert!(distance("#d04040", "#808000") < 20.0);
}
