use roundel::plan::ports::*;
use roundel_spec::Kind;
#[test]
fn quick() {
    for (kind, text) in [
        (Kind::Allreduce, "8(-1 1 1 1)"),
        (Kind::Allreduce, "2(-1) 4(1 1) 2(1)"),
        (Kind::Allreduce, "39(1 1 1 1 1 1)"),
        (Kind::Allreduce, "3(1 1) 13(1 1 1 1)"),
        (Kind::Allreduce, "13(-1 -1 -1 -1) 3(-1 -1) 3(1 1) 13(1 1 1 1)"),
        (Kind::Allreduce, "39(-1 -1 -1 -1 -1 -1) 39(1 1 1 1 1 1)"),
        (Kind::Allreduce, "7(-1 1 1 1)"),
        (Kind::Allreduce, "13(-2 -1 3 3)"),
        (Kind::Allreduce, "160(12 12)"),
        (Kind::Allreduce, "16(-3 -3) 10(9) 16(3 3)"),
        (Kind::Allreduce, "160(-1 -2 -2 -8) 160(8 2 2 1)"),
        (Kind::ReduceScatter, "5(-1 -1 -1)"),
        (Kind::ReduceScatter, "3(-1 -1) 4(-3)"),
        (Kind::Allgather, "2(1) 2(1) 3(2)"),
        (Kind::Allreduce, "1()"),
    ] {
        let ports: Ports = text.parse().unwrap();
        for fractions in [Fractions::All, Fractions::Scattered] {
            let t = std::time::Instant::now();
            let pattern = ports.pattern(kind, fractions).unwrap();
            let plan = pattern.plan();
            let made = t.elapsed();
            let r = plan.replay();
            println!(
                "{kind} {text} {fractions:?}: p {} blocks {} lines {} steps {} sent {:?} {:?} {:?} {:?}",
                plan.p,
                plan.blocks,
                plan.lines,
                plan.steps(),
                pattern.sent(),
                r,
                made,
                t.elapsed()
            );
        }
    }
}
