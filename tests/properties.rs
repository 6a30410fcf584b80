//! Properties at random points: large p, any parameters, any placement, and any expression.

#![allow(clippy::unwrap_used)]

use cyclic_shift::CyclicShift;
use proptest::prelude::*;
use roundel::algorithms::{
    Bruck, CirculantReduceScatter, CyclicShiftAllreduce, CyclicShiftReduceScatter, KBruck, NeighborExchange,
    PairwiseReduceScatter, PrefixAllreduce, RabenseifnerAllreduce, RecursiveDoubling, RecursiveDoublingAllreduce,
    ReduceBroadcastAllreduce, Ring, RingAllreduce, Sparbit,
};
use roundel::{Collective, Place};
use roundel_spec::Direction;
use roundel_spec::Placement;
use roundel_spec::check::{self, Point};

/// All rules, on what the generated code does.
fn verify<C: Collective>(collective: &C, placement: Placement) -> Result<check::Passed, TestCaseError> {
    let point = Point { placement, args: collective.arguments() };
    prop_assert_eq!(collective.admits(&point.placement.place(0)), Ok(()));
    let trace = check::record_code(collective, &point.placement);
    check::trace(&C::schedule(), &point, &trace).map_err(|violation| TestCaseError::fail(violation.to_string()))
}

fn one_node(p: usize) -> Placement {
    Placement::consecutive(p, p)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn logarithmic_algorithms_with_hundreds_of_ranks(p in 1usize..=600, radix in 2i64..40) {
        verify(&Bruck, one_node(p))?;
        verify(&Sparbit, one_node(p))?;
        verify(&KBruck { radix }, one_node(p))?;
    }

    #[test]
    fn recursive_doubling_with_hundreds_of_ranks(log in 0u32..=9) {
        verify(&RecursiveDoubling, one_node(1 << log))?;
    }

    #[test]
    fn reductions_of_one_block_with_hundreds_of_ranks(p in 1usize..=400) {
        verify(&RecursiveDoublingAllreduce, one_node(p))?;
        verify(&ReduceBroadcastAllreduce, one_node(p))?;
        verify(&PrefixAllreduce, one_node(p))?;
    }

    /// Contributions are tracked block by block, so there are fewer ranks.
    #[test]
    fn reductions_of_many_blocks(p in 1usize..=100) {
        verify(&RabenseifnerAllreduce, one_node(p))?;
        verify(&CirculantReduceScatter, one_node(p))?;
    }

    #[test]
    fn lists_of_ports(ports in prop::collection::vec(1i64..6, 0..6), share in 0.0..1.0f64) {
        let capacity: i64 = ports.iter().map(|ports| ports + 1).product();
        let p = 1 + ((capacity.min(600) - 1) as f64 * share) as usize;
        verify(&CyclicShift { ports: ports.clone() }, one_node(p))?;
        verify(&CyclicShiftReduceScatter { ports: ports.clone() }, one_node(p.min(60)))?;
        verify(&CyclicShiftAllreduce { ports: ports.clone() }, one_node(p))?;
        let beyond = CyclicShift { ports }.admits(&Place::flat(0, capacity + 1));
        prop_assert!(beyond.is_err());
    }

    /// Which messages leave a node, counted without the checker.
    #[test]
    fn nonlocal_messages_in_any_placement(nodes in prop::collection::vec(0usize..7, 1..120)) {
        let placement = Placement::from_nodes(nodes.clone());
        let census = verify(&Sparbit, placement.clone())?.census;
        let trace = check::record_code(&Sparbit, &placement);
        for (rank, log) in trace.ranks.iter().enumerate() {
            let sends = (0..log.rounds()).flat_map(|round| log.directed(round, Direction::Send));
            let leaving: Vec<_> = sends.filter(|message| nodes[message.peer] != nodes[rank]).collect();
            let blocks: usize = leaving.iter().map(|message| log.blocks(message).len()).sum();
            let counted = census.ranks[rank];
            prop_assert_eq!(counted.nonlocal_messages_sent, leaving.len() as i64);
            prop_assert_eq!(counted.nonlocal_blocks_sent, blocks as i64);
        }
    }
}

proptest! {
    // A linear algorithm has p rounds of p ranks that hold up to p blocks.
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn linear_algorithms_with_many_ranks(half in 1usize..=80, odd in 0usize..2) {
        verify(&Ring, one_node(2 * half + odd))?;
        verify(&NeighborExchange, one_node(2 * half))?;
        verify(&RingAllreduce, one_node(half.div_ceil(2)))?;
        verify(&PairwiseReduceScatter, one_node(half.div_ceil(2)))?;
    }
}

/// A world far too large to enumerate, a rank of it, and a round.
fn huge() -> impl Strategy<Value = (i64, i64, i64)> {
    (2i64..1 << 40).prop_flat_map(|p| (Just(p), 0..p, 0..roundel::arith::ceil_log(2, p)))
}

/// The generated functions, one by one: what a rank sends is what its receiver expects, even with more ranks than can
/// be enumerated.
mod huge_worlds {
    use super::*;

    proptest! {
        #[test]
        fn bruck((p, rank, s) in huge()) {
            let (at, distance) = (Place::flat(rank, p), 1 << s);
            let to = Bruck.send_to(&at, s, distance);
            let there = Place::flat(to as i64, p);
            prop_assert_eq!(to as i64, (rank - distance).rem_euclid(p));
            prop_assert_eq!(Bruck.recv_from(&there, s, distance), rank as usize);
            prop_assert_eq!(Bruck.send_blocks(&at, s, distance), Bruck.recv_blocks(&there, s, distance));
        }

        #[test]
        fn sparbit((p, rank, s) in huge()) {
            let (at, span) = (Place::flat(rank, p), 1i64 << (roundel::arith::ceil_log(2, p) - s));
            let to = Sparbit.send_to(&at, s, span);
            let there = Place::flat(to as i64, p);
            prop_assert_eq!(to as i64, (rank + span / 2).rem_euclid(p));
            prop_assert_eq!(Sparbit.recv_from(&there, s, span), rank as usize);
            let blocks = Sparbit.send_blocks(&at, s, span);
            prop_assert_eq!(blocks, Sparbit.recv_blocks(&there, s, span));
            // All that is held, or all but one where the bit of p - 1 is not set.
            let held = (p + span - 1) / span;
            let ignored = ((p - 1) & (span / 2) == 0) as i64;
            prop_assert_eq!(blocks.len() as i64, held - ignored);
        }

        #[test]
        fn k_bruck((p, rank, s) in huge(), radix in 2i64..100, j in 1i64..100) {
            let rounds = roundel::arith::ceil_log(radix, p);
            let (s, j) = (s % rounds, 1 + j % (radix - 1));
            let distance = roundel::arith::pow(radix, s);
            prop_assume!(j * distance < p);
            let (at, k_bruck) = (Place::flat(rank, p), KBruck { radix });
            let to = k_bruck.send_to(&at, s, distance, j);
            let there = Place::flat(to as i64, p);
            prop_assert_eq!(k_bruck.recv_from(&there, s, distance, j), rank as usize);
            let blocks = k_bruck.send_blocks(&at, s, distance, j);
            prop_assert_eq!(blocks, k_bruck.recv_blocks(&there, s, distance, j));
            prop_assert_eq!(blocks.len() as i64, distance.min(p - j * distance));
        }
    }
}

/// Text to expression and back.
mod text {
    use super::*;
    use roundel_spec::blocks::BlockSet;
    use roundel_spec::expr::{Binary, Builtin, Expr, Unary};
    use roundel_spec::proof::GrantedCalls;
    use roundel_spec::{Schedule, rust, syntax};
    use std::fmt::Write;

    /// A declaration with a peer and a set of blocks; everything an expression can mention is in scope.
    fn declare(peer: &str, blocks: &str) -> Schedule {
        let text = format!(
            "#[collective(allgather, radix: 2.., ports: list(1..))]
             #[define(twice(a) = 2 * a, small(a, b) = a < b, zero = 0)]
             #[round(s in 0..p)]
             #[state(D = 1, next = D + 1)]
             #[send(to = {peer}, blocks = {blocks})]
             #[recv(from = 0, blocks = [0])]
             struct Synthetic {{ radix: i64, ports: Vec<i64> }}"
        );
        let input = syn::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        syntax::parse(&input).unwrap_or_else(|error| panic!("{error}: {text}")).schedule
    }

    fn parse(text: &str) -> Expr {
        declare(text, "[0]").loops[0].transfers[0].peer.clone()
    }

    fn parse_blocks(text: &str) -> BlockSet {
        declare("0", text).loops[0].transfers[0].blocks.clone()
    }

    /// An expression with parentheses everywhere, so that precedence does not matter.
    fn spelled_out(e: &Expr) -> String {
        let list = |args: &[Expr]| args.iter().map(spelled_out).collect::<Vec<_>>().join(", ");
        match e {
            Expr::Int(n) => n.to_string(),
            Expr::Bool(b) => b.to_string(),
            Expr::Var(v) => v.name.clone(),
            Expr::Element(of, i) => format!("{}[{}]", of.name, spelled_out(i)),
            Expr::Length(of) => format!("len({})", of.name),
            Expr::Product(of, 0, n) => format!("product({}, {})", of.name, spelled_out(n)),
            Expr::Product(of, plus, n) => format!("product({} + {plus}, {})", of.name, spelled_out(n)),
            Expr::Unary(op, a) => format!("({}({}))", if *op == Unary::Neg { "-" } else { "!" }, spelled_out(a)),
            Expr::Binary(op, a, b) => format!("(({}) {} ({}))", spelled_out(a), op.text().0, spelled_out(b)),
            Expr::Builtin(function, args) => format!("{}({})", function.name(), list(args)),
            Expr::Call(name, _, args) if args.is_empty() => name.clone(),
            Expr::Call(name, _, args) => format!("{name}({})", list(args)),
            Expr::If(c, a, b) => {
                format!("(if ({}) {{ ({}) }} else {{ ({}) }})", spelled_out(c), spelled_out(a), spelled_out(b))
            }
        }
    }

    /// The variables and lists, with the slots that the parser gives them.
    fn leaf() -> impl Strategy<Value = Expr> {
        let names = ["rank", "p", "node", "nodes", "local", "ppn", "lanes", "radix", "s", "D", "zero", "len(ports)"];
        let known: Vec<Expr> = names.into_iter().map(parse).collect();
        prop_oneof![2 => prop::sample::select(known), 1 => (-40i64..40).prop_map(Expr::Int)]
    }

    /// The parser folds the sign of a number into it, and refuses to divide by a zero that is written out.
    fn negated(e: Expr) -> Expr {
        match e {
            Expr::Int(n) => Expr::Int(-n),
            e => Expr::Unary(Unary::Neg, Box::new(e)),
        }
    }

    fn arithmetic(op: Binary, a: Expr, b: Expr) -> Expr {
        let divides = matches!(op, Binary::Div | Binary::Rem) && b == Expr::Int(0);
        Expr::binary(op, a, if divides { Expr::Int(1) } else { b })
    }

    fn builtin(function: Builtin, mut args: Vec<Expr>) -> Expr {
        args.truncate(function.arity());
        if function == Builtin::CeilDiv && args[1] == Expr::Int(0) {
            args[1] = Expr::Int(1);
        }
        Expr::Builtin(function, args)
    }

    fn number(depth: u32) -> BoxedStrategy<Expr> {
        use Binary::*;
        if depth == 0 {
            return leaf().boxed();
        }
        let (part, condition) = (number(depth - 1), condition(depth - 1));
        let Expr::Element(ports, _) = parse("ports[0]") else { panic!("this is an element") };
        let (of, product) = (ports.clone(), ports);
        let operators = vec![Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor, Shl, Shr];
        prop_oneof![
            1 => leaf(),
            6 => (prop::sample::select(operators), part.clone(), part.clone()).prop_map(|(op, a, b)| arithmetic(op, a, b)),
            1 => part.clone().prop_map(negated),
            2 => (prop::sample::select(Builtin::ALL.to_vec()), prop::collection::vec(part.clone(), 3))
                .prop_map(|(function, args)| builtin(function, args)),
            1 => part.clone().prop_map(move |i| Expr::Element(of.clone(), Box::new(i))),
            1 => (0i64..3, part.clone()).prop_map(move |(plus, n)| Expr::Product(product.clone(), plus, Box::new(n))),
            1 => part.clone().prop_map(|a| Expr::Call("twice".into(), 0, vec![a])),
            2 => (condition, part.clone(), part)
                .prop_map(|(c, a, b)| Expr::If(Box::new(c), Box::new(a), Box::new(b))),
        ]
        .boxed()
    }

    fn condition(depth: u32) -> BoxedStrategy<Expr> {
        use Binary::*;
        if depth == 0 {
            return any::<bool>().prop_map(Expr::Bool).boxed();
        }
        let (part, number) = (condition(depth - 1), number(depth - 1));
        let comparisons = prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge]);
        prop_oneof![
            4 => (comparisons, number.clone(), number.clone()).prop_map(|(op, a, b)| Expr::binary(op, a, b)),
            2 => (prop::sample::select(vec![And, Or]), part.clone(), part.clone())
                .prop_map(|(op, a, b)| Expr::binary(op, a, b)),
            1 => part.clone().prop_map(|a| Expr::Unary(Unary::Not, Box::new(a))),
            1 => (number.clone(), number).prop_map(|(a, b)| Expr::Call("small".into(), 1, vec![a, b])),
            1 => (part.clone(), part.clone(), part)
                .prop_map(|(c, a, b)| Expr::If(Box::new(c), Box::new(a), Box::new(b))),
        ]
        .boxed()
    }

    /// A comprehension, spelled out.
    fn comprehension() -> impl Strategy<Value = String> {
        let range = (number(1), number(1), any::<bool>());
        (number(2), prop::collection::vec(range, 0..3), prop::option::of(condition(2))).prop_map(
            |(item, over, filter)| {
                let mut text = format!("[{}", spelled_out(&item));
                for (i, (lo, hi, closed)) in over.iter().enumerate() {
                    let (lo, hi) = (spelled_out(lo), spelled_out(hi));
                    let (before, dots) = (if i == 0 { ';' } else { ',' }, if *closed { "..=" } else { ".." });
                    write!(text, "{before} k{i} in ({lo}){dots}({hi})").unwrap();
                }
                if let Some(filter) = filter {
                    write!(text, "{} {}", if over.is_empty() { ';' } else { ',' }, spelled_out(&filter)).unwrap();
                }
                text + "]"
            },
        )
    }

    /// Words of the language, in brackets that match, but otherwise in any order.
    fn nonsense() -> impl Strategy<Value = String> {
        let words = "rank p node local s D k radix ports twice a b x to from with send recv blocks when next each final for \
                     in if else true 0 1 2 7 9223372036854775807 99999999999999999999 1.5 'c' + - * / % & | ^ << >> == != \
                     < <= > >= && || ! = .. ..= , , , ; : . :: min max pow ceil_log len product digit list rounds \
                     messages_sent per_round in_place rotated r#type _ self";
        let word = prop::sample::select(words.split_whitespace().collect::<Vec<_>>()).prop_map(str::to_string);
        word.prop_recursive(3, 40, 8, |inner| {
            let brackets = prop::sample::select(vec![("", ""), ("(", ")"), ("[", "]"), ("{", "}")]);
            (brackets, prop::collection::vec(inner, 0..8))
                .prop_map(|((open, close), words)| format!("{open} {} {close}", words.join(" ")))
        })
    }

    /// What the derive does with a declaration, short of checking it; `None` where Rust's own parser refuses it.
    fn derive(text: &str) -> Option<bool> {
        let input = syn::parse_str(text).ok()?;
        let declaration = syntax::parse(&input).ok();
        let code = declaration.map(|d| rust::expand(&d, &GrantedCalls::nothing(&d.schedule), &d.schedule));
        Some(code.is_some_and(|code| syn::parse2::<syn::File>(code).is_ok()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        /// Right or wrong, a declaration never makes the derive panic.
        #[test]
        fn nonsense_is_refused_in_peace(
            clause in prop::sample::select(syntax::CLAUSES.to_vec()), inside in nonsense()
        ) {
            let ring = |extra: &str| format!(
                "#[collective(allgather, radix: 2.., ports: list(1..))]
                 #[define(twice(a) = 2 * a)]
                 #[round(s in 0..p)]
                 #[state(D = 1, next = D)]
                 #[send(to = rank + 1, blocks = [rank])]
                 #[recv(from = rank - 1, blocks = [rank - 1])]
                 {extra}
                 struct Synthetic {{ radix: i64, ports: Vec<i64> }}"
            );
            prop_assert_eq!(derive(&ring("")), Some(true));
            derive(&ring(&format!("#[{clause}({inside})]")));
            derive(&ring(&format!("#[send(to = {inside}, blocks = [rank])]")));
            derive(&ring(&format!("#[recv(from = 0, blocks = [{inside}; k in 0..{inside}])]")));
        }
    }

    /// Numbers at the edge of 64 bits go through the derive, though nothing that is computed with them fits.
    #[test]
    fn the_largest_numbers_are_numbers() {
        let max = i64::MAX;
        for blocks in [
            format!("[{max} + ({max} + k); k in 0..1]"),
            format!("[-{max} - ({max} - k); k in 0..1]"),
            format!("[{max} * ({max} * k); k in {max}..={max}]"),
            format!("[k; k in -{max}..={max}]"),
        ] {
            let text = format!(
                "#[collective(allgather, radix: {max}.., ports: list({max}..))]
                 #[round]
                 #[send(to = {max}, blocks = {blocks})]
                 struct Synthetic {{ radix: i64, ports: Vec<i64> }}"
            );
            assert_eq!(derive(&text), Some(true), "{blocks}");
        }
    }

    proptest! {
        #[test]
        fn a_parsed_expression_is_the_one_that_was_written(e in number(4)) {
            prop_assert_eq!(parse(&spelled_out(&e)), e);
        }

        #[test]
        fn a_printed_expression_is_the_one_that_was_parsed(e in number(4)) {
            prop_assert_eq!(parse(&e.to_string()), e);
        }

        #[test]
        fn printed_blocks_are_the_ones_that_were_parsed(parts in prop::collection::vec(comprehension(), 1..3)) {
            let set = parse_blocks(&parts.join(" + "));
            prop_assert_eq!(parse_blocks(&set.to_string()), set);
        }
    }
}
