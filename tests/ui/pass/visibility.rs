//! A collective in a crate with strict lints, in a module, private and public.
#![deny(missing_docs, unreachable_pub, warnings, unsafe_code)]

/// A module.
pub mod collectives {
    use roundel::Collective;

    /// Public, with derives and attributes of others beside ours.
    #[derive(Collective, Clone, Copy, Debug, Default, PartialEq)]
    #[must_use]
    #[collective(allgather)]
    #[round(s in 0..p - 1)]
    #[send(to = rank + 1, blocks = [rank - s])]
    #[recv(from = rank - 1, blocks = [rank - 1 - s])]
    pub struct Up;

    #[derive(Collective)]
    #[collective(allgather)]
    #[round(s in 0..p - 1)]
    #[send(to = rank - 1, blocks = [rank + s])]
    #[recv(from = rank + 1, blocks = [rank + 1 + s])]
    pub(crate) struct Down {}
}

#[test]
fn compiles_and_runs() {
    use roundel::__private::assert_code_equals_schedule;
    assert_code_equals_schedule::<collectives::Down>(40);
    let _ = (collectives::Up, collectives::Down {});
}
