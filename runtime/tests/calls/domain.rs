//! Calls outside the domain, with the largest possible parameters: a typed error in every case.

#![allow(unreachable_pub)]

use roundel::algorithms::KBruck;
use roundel::{Allgather, AllowUnproved, Collective, Error, Place, Refusal, threads};

/// A domain whose arithmetic overflows for large parameters.
#[derive(Clone, Debug, Collective)]
#[collective(allgather, radix: 1.., ports: list(1..))]
#[requires(radix * radix * radix * radix <= p + 100, product(ports, len(ports)) + pow(radix, radix) > 0)]
#[define(spread(n) = n * radix << radix)]
#[requires(if radix > 3 { spread(p) / (radix - 4) > 0 } else { true })]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
#[holds(blocks = [rank - k; k in 0..s])]
#[check(radix <= 3)]
pub struct Fourth {
    radix: i64,
    ports: Vec<i64>,
}

/// A domain that is found by iterating over the rounds, of which there may be very many.
#[derive(Clone, Debug, Collective)]
#[collective(allgather, many: 1.., factor: 1..)]
#[round(s in 0..1)]
#[send(when = p > 1, to = rank + 1, blocks = [rank])]
#[recv(when = p > 1, from = rank - 1, blocks = [rank - 1])]
#[round(i in 0..many)]
#[state(W = 1, next = W * factor)]
#[send(when = false, to = rank, blocks = [rank])]
#[recv(when = false, from = rank, blocks = [rank])]
#[requires(final W < 1000, final p <= 2)]
pub struct Endless {
    many: i64,
    factor: i64,
}

fn refusal(collective: &impl Collective) -> Option<Refusal> {
    (0..2).map(|rank| collective.admits(&Place::flat(rank, 2)).err()).reduce(|a, b| if a == b { a } else { None })?
}

#[test]
fn large_parameters_are_refused() {
    let fourth = |radix, ports: &[i64]| refusal(&Fourth { radix, ports: ports.to_vec() });
    assert_eq!(fourth(3, &[1, 2]), None);
    assert!(matches!(fourth(4, &[]), Some(Refusal::Requires { .. })));
    assert!(matches!(fourth(1 << 20, &[]), Some(Refusal::NoValue { .. })));
    assert!(matches!(fourth((1 << 31) - 1, &[]), Some(Refusal::NoValue { .. })));
    assert!(matches!(fourth(2, &[1 << 30, 1 << 30, 1 << 30]), Some(Refusal::NoValue { .. })));
    for radix in [1 << 31, 1 << 32, 3_037_000_500, i64::MAX] {
        assert!(matches!(fourth(radix, &[]), Some(Refusal::TooLarge { name: "radix", .. })), "{radix}");
        assert!(matches!(fourth(2, &[1, radix]), Some(Refusal::TooLarge { name: "ports", .. })), "{radix}");
    }
    for radix in [0, -1, i64::MIN] {
        assert!(matches!(fourth(radix, &[]), Some(Refusal::Parameter { name: "radix", .. })), "{radix}");
    }
}

#[test]
fn final_conditions_end() {
    let endless = |many, factor| refusal(&Endless { many, factor });
    assert_eq!(endless(4, 2), None);
    assert!(matches!(endless(20, 2), Some(Refusal::Requires { clause: "final W < 1000", .. })));
    assert!(matches!(endless(64, 2), Some(Refusal::NoValue { .. })));
    assert!(matches!(endless((1 << 31) - 1, 1), Some(Refusal::NoValue { .. })));
}

#[test]
fn a_radix_beyond_the_machine_says_what_the_limit_is() {
    for radix in [1 << 31, i64::MAX] {
        let call = |unproved: bool| {
            threads::run(3, |comm| {
                let (collective, mut all) = (KBruck { radix }, [0; 3]);
                match unproved {
                    true => collective.unproved().allgather(comm, &[comm.rank()], &mut all),
                    false => collective.allgather(comm, &[comm.rank()], &mut all),
                }
            })
        };
        for result in call(false).into_iter().chain(call(true)) {
            let Err(error @ Error::OutsideDomain { .. }) = result else { panic!("{result:?}") };
            let text = error.to_string();
            assert!(text.contains("up to 2147483647") && !text.contains("roundel prove"), "{text}");
        }
    }
}
