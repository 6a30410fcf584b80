#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, threads};

// Every pair of ranks exchanges its blocks at once.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p & (p - 1) == 0)]
#[round]
#[exchange(for j in 1..p, with = rank ^ j, send = [rank], recv = [rank ^ j])]
#[holds(blocks = [k; k in 0..p], messages_received = p - 1)]
#[bound(rounds <= 1, per_round messages_sent <= p - 1)]
struct AtOnce;

// Pairs meet one after the other: with any p, a rank that has no partner in a round waits.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p)]
#[define(partner = (s - rank) % p)]
#[exchange(when = partner != rank, with = partner, send = [rank], recv = [partner])]
#[bound(each messages_sent = p - 1, per_round messages_sent <= 1)]
struct Meetings;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<AtOnce>(32);
    assert_code_equals_schedule::<Meetings>(20);
    let results = threads::run(8, |comm| {
        let (mut at_once, mut meetings) = ([0; 8], [0; 8]);
        AtOnce.allgather(comm, &[comm.rank()], &mut at_once)?;
        Meetings.allgather(comm, &[comm.rank()], &mut meetings)?;
        Ok::<_, roundel::Error>((at_once, meetings))
    });
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    assert!(results.into_iter().all(|result| result == Ok((all, all))));
}
