//! The calls: several of each collective, with few elements and with none, in place and not, with and without gaps.

use super::parameters;
use super::types::{Type, Types};
use mpi::ffi;
use roundel::algorithms::catalogue;
use roundel::mpi::raw::{IntList, MpiCall, Reduced, Scattered, Typed};
use roundel::selection::{Algorithm, Parameter};
use roundel_spec::Kind;
use std::ffi::{c_int, c_void};

/// A call whose buffers are supplied later.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    /// The bytes of both buffers.
    pub(crate) send: usize,
    pub(crate) recv: usize,
    /// The bytes of the receive buffer that MPI defines afterwards: in place, a reduce_scatter may do anything with the
    /// rest of its input.
    pub(crate) defined: usize,
    pub(crate) call: Box<dyn Fn(*mut c_void, *mut c_void) -> MpiCall + 'a>,
}

/// The algorithms of a kind, with some values for their parameters.
pub(crate) fn algorithms(kind: Kind) -> Vec<Algorithm> {
    let ports = [&[1][..], &[2], &[1, 1], &[1, 2], &[1, 1, 1]];
    let lists = ports.map(|list| parameters(&[("ports", Parameter::List(list.to_vec()))]));
    let numbers = [2, 3].map(|radix| parameters(&[("radix", Parameter::Number(radix))]));
    let values: Vec<_> = [Vec::new()].into_iter().chain(lists).chain(numbers).collect();
    let of_kind = catalogue().iter().filter(|entry| (entry.schedule)().kind == kind);
    of_kind
        .flat_map(|entry| values.iter().filter_map(|given| Algorithm::named(kind, entry.name, given).ok()))
        .collect()
}

/// The calls of a kind.
pub(crate) fn of<'a>(kind: Kind, p: usize, rank: usize, types: &Types) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for of in types.all() {
        for in_place in [false, true] {
            // Data that is only moved is packed in the same way in place.
            if in_place && of.name == "maps" && !kind.reduces() && kind != Kind::Broadcast {
                continue;
            }
            let making = Making { p, rank, of, in_place };
            match kind {
                Kind::Allgather => cases.extend([making.allgather(3), making.allgather(0), making.allgatherv()]),
                Kind::Alltoall => cases.extend([making.alltoall(3), making.alltoall(0), making.alltoallv()]),
                Kind::Allreduce => cases.extend([0, 1, 11].map(|n| making.allreduce(n))),
                // MPICH 4.0 takes the blocks of elements with gaps from the wrong places, if operands keep their order.
                Kind::ReduceScatter if is_mpich() && of.name == "maps" => cases.push(making.listed_parts()),
                Kind::ReduceScatter => cases.extend([making.parts(3), making.parts(0), making.listed_parts()]),
                Kind::Broadcast if in_place => cases.extend(making.roots().map(|root| making.broadcast(root))),
                Kind::Broadcast => {}
                Kind::Reduce => cases.extend(making.roots().map(|root| making.reduce(root))),
                Kind::Gather => cases.extend(making.roots().map(|root| making.gather(root))),
                Kind::Scatter => cases.extend(making.roots().map(|root| making.scatter(root))),
            }
        }
    }
    cases
}

/// Whether this is MPICH or a descendant, whose handles are numbers and not addresses.
fn is_mpich() -> bool {
    size_of::<ffi::MPI_Comm>() < size_of::<usize>()
}

/// Parts of calls.
#[derive(Clone, Copy)]
struct Making {
    p: usize,
    rank: usize,
    of: Type,
    in_place: bool,
}

/// The number of elements of a rank's block, if they differ.
fn count(rank: usize) -> usize {
    (rank * 5 + 2) % 4
}

/// Lengths, and where blocks begin: in reverse, with gaps.
fn scattered(counts: Vec<usize>) -> (Vec<c_int>, Vec<c_int>, usize) {
    // MPICH ignores the displacement of a single block.
    let (mut displs, mut end) = (vec![0; counts.len()], usize::from(counts.len() > 1));
    for (block, &count) in counts.iter().enumerate().rev() {
        displs[block] = end as c_int;
        end += count + 1;
    }
    (counts.into_iter().map(|count| count as c_int).collect(), displs, end)
}

impl Making {
    fn case<'a>(
        &self,
        name: &str,
        (send, recv): (usize, usize),
        call: impl Fn(*mut c_void, *mut c_void) -> MpiCall + 'a,
    ) -> Case<'a> {
        let place = if self.in_place { ", in place" } else { "" };
        let name = format!("{name} of {}{place}", self.of.name);
        let (send, recv) = (send * self.of.extent, recv * self.of.extent);
        Case { name, send, recv, defined: recv, call: Box::new(call) }
    }

    /// The first and the last rank.
    fn roots(&self) -> impl Iterator<Item = c_int> + use<> {
        let last = self.p as c_int - 1;
        [0, last].into_iter().take(self.p.min(2))
    }

    fn typed(&self, address: *mut c_void, count: usize) -> Typed {
        Typed { address, count, datatype: self.of.handle }
    }

    fn send(&self, address: *mut c_void, count: usize) -> Option<Typed> {
        (!self.in_place).then(|| self.typed(address, count))
    }

    fn reduced(&self, send: *mut c_void, recv: *mut c_void, in_place: bool) -> Reduced {
        let send = (!in_place).then_some(send.cast_const());
        Reduced { send, recv, datatype: self.of.handle, op: self.of.op }
    }

    fn allgather<'a>(self, n: usize) -> Case<'a> {
        let call = move |send, recv| MpiCall::Allgather { send: self.send(send, n), recv: self.typed(recv, n) };
        self.case(&format!("allgather of {n}"), (n, n * self.p), call)
    }

    fn allgatherv<'a>(self) -> Case<'a> {
        let (own, (counts, displs, end)) = (count(self.rank), scattered((0..self.p).map(count).collect()));
        self.case("allgatherv", (own, end), move |send, recv| {
            let (counts, displs) = (IntList::Ints(counts.as_ptr()), IntList::Ints(displs.as_ptr()));
            let recv = Scattered { address: recv, counts, displs, datatype: self.of.handle };
            MpiCall::Allgatherv { send: self.send(send, own), recv }
        })
    }

    fn alltoall<'a>(self, n: usize) -> Case<'a> {
        let call = move |send, recv| MpiCall::Alltoall { send: self.send(send, n), recv: self.typed(recv, n) };
        self.case(&format!("alltoall of {n}"), (n * self.p, n * self.p), call)
    }

    fn alltoallv<'a>(self) -> Case<'a> {
        // In place, blocks are sent with the lengths with which they arrive.
        let between = |from: usize, to: usize| match self.in_place {
            true => (from + to) % 3,
            false => (from * 3 + to * 5) % 4,
        };
        let (leaving, leaves_at, last) = scattered((0..self.p).map(|to| between(self.rank, to)).collect());
        let (counts, displs, end) = scattered((0..self.p).map(|from| between(from, self.rank)).collect());
        self.case("alltoallv", (last, end), move |send, recv| {
            let datatype = self.of.handle;
            let list = |list: &Vec<c_int>| IntList::Ints(list.as_ptr());
            let send = Scattered { address: send, counts: list(&leaving), displs: list(&leaves_at), datatype };
            let recv = Scattered { address: recv, counts: list(&counts), displs: list(&displs), datatype };
            MpiCall::Alltoallv { send: (!self.in_place).then_some(send), recv }
        })
    }

    fn allreduce<'a>(self, n: usize) -> Case<'a> {
        let call = move |send, recv| MpiCall::Allreduce { data: self.reduced(send, recv, self.in_place), count: n };
        self.case(&format!("allreduce of {n}"), (n, n), call)
    }

    fn parts<'a>(self, n: usize) -> Case<'a> {
        let call =
            move |send, recv| MpiCall::ReduceScatterBlock { data: self.reduced(send, recv, self.in_place), count: n };
        let case = self.case(&format!("reduce_scatter_block of {n}"), (n * self.p, n * self.p), call);
        self.defines(n, case)
    }

    /// In place, only the first elements are defined.
    fn defines<'a>(&self, elements: usize, case: Case<'a>) -> Case<'a> {
        let defined = if self.in_place { elements * self.of.extent } else { case.recv };
        Case { defined, ..case }
    }

    fn listed_parts<'a>(self) -> Case<'a> {
        let counts: Vec<c_int> = (0..self.p).map(|rank| count(rank) as c_int).collect();
        let total = counts.iter().sum::<c_int>() as usize;
        let case = self.case("reduce_scatter", (total, total), move |send, recv| {
            let counts = IntList::Ints(counts.as_ptr());
            MpiCall::ReduceScatter { data: self.reduced(send, recv, self.in_place), counts }
        });
        self.defines(count(self.rank), case)
    }

    fn broadcast<'a>(self, root: c_int) -> Case<'a> {
        let call = move |_, recv| MpiCall::Broadcast { data: self.typed(recv, 7), root };
        self.case(&format!("broadcast from {root}"), (0, 7), call)
    }

    /// Only the root has anything in place.
    fn is_in_place(&self, root: c_int) -> bool {
        self.in_place && self.rank as c_int == root
    }

    fn reduce<'a>(self, root: c_int) -> Case<'a> {
        self.case(&format!("reduce to {root}"), (7, 7), move |send, recv| MpiCall::Reduce {
            data: self.reduced(send, recv, self.is_in_place(root)),
            count: 7,
            root,
        })
    }

    fn gather<'a>(self, root: c_int) -> Case<'a> {
        self.case(&format!("gather to {root}"), (3, 3 * self.p), move |send, recv| MpiCall::Gather {
            send: (!self.is_in_place(root)).then(|| self.typed(send, 3)),
            recv: self.typed(recv, 3),
            root,
        })
    }

    fn scatter<'a>(self, root: c_int) -> Case<'a> {
        self.case(&format!("scatter from {root}"), (3 * self.p, 3), move |send, recv| MpiCall::Scatter {
            send: self.typed(send, 3),
            recv: (!self.is_in_place(root)).then(|| self.typed(recv, 3)),
            root,
        })
    }
}
