//! MPI's collectives by their own names.
//!
//! One entry per collective: its arguments, the call that they make, and the names of its forms. An entry becomes the
//! blocking, non-blocking and persistent function, for C's `int` and for large counts, as far as this MPI has them.

use crate::arguments;
use crate::failure::SUCCESS;
use crate::passing::all;
use crate::serve;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use roundel::mpi::raw::{self, ArgumentWord, CallKey, LastCall, Repeated, ends, lists};
use std::ffi::{c_int, c_void};

type In = *const c_void;
type Out = *mut c_void;

/// The functions of one kind of integer.
macro_rules! forms {
    (@blocking ($($argument:ident: $type:ty),*) $comm:ident $call:expr, $name:ident $library:ident) => {
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* $comm: MPI_Comm) -> c_int {
            static LAST: LastCall = LastCall::new();
            // Code that calls left to MPI do not need is in a separate function, so that arguments stay in registers.
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn asked($($argument: $type,)* $comm: MPI_Comm) -> c_int {
                let (words, lists) = ([$($argument.word()),*], lists([$($argument.list()),*]));
                let key = CallKey::new($name as *const () as usize, $comm, words, lists);
                // SAFETY: the program's arguments, and the library's function for them.
                unsafe {
                    let served = serve::blocking(stringify!($name), &key, &LAST, || $call);
                    served.unwrap_or_else(|| ffi::$library($($argument,)* $comm))
                }
            }
            let (function, words) = ($name as *const () as usize, [$($argument.word()),*]);
            // SAFETY: the program's arguments.
            unsafe {
                let [first, last] = ends([$($argument.address()),*]);
                let outcome = match LAST.find($comm, &words) {
                    Some(known) if known.passes() => return ffi::$library($($argument,)* $comm),
                    Some(known) => raw::repeat_known(known, first, last),
                    None if all($comm) => return ffi::$library($($argument,)* $comm),
                    None => raw::repeat(&CallKey::new(function, $comm, words, lists([$($argument.list()),*])), first, last),
                };
                if let Repeated::Done = outcome {
                    return SUCCESS;
                }
                serve::rarely(move || match outcome {
                    Repeated::Library => ffi::$library($($argument,)* $comm),
                    Repeated::Failed(error) => serve::failed(stringify!($name), $comm, *error),
                    Repeated::Done | Repeated::Unknown => asked($($argument,)* $comm),
                })
            }
        }
    };
    (@starting ($($argument:ident: $type:ty),*) $comm:ident $call:expr, $name:ident $library:ident) => {
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* $comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
            static LAST: LastCall = LastCall::new();
            let (function, words) = ($name as *const () as usize, [$($argument.word()),*]);
            // SAFETY: the program's arguments, and the library's function for them.
            unsafe {
                if LAST.find($comm, &words).is_some() || all($comm) {
                    return ffi::$library($($argument,)* $comm, request);
                }
                let key = CallKey::new(function, $comm, words, lists([$($argument.list()),*]));
                if key.lists[0].is_some() && raw::is_left(&key) {
                    return ffi::$library($($argument,)* $comm, request);
                }
                let served = serve::starting(stringify!($name), &key, &LAST, request, || $call);
                served.unwrap_or_else(|| ffi::$library($($argument,)* $comm, request))
            }
        }
    };
    (@preparing ($($argument:ident: $type:ty),*) $comm:ident $call:expr, $name:ident $library:ident) => {
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($argument: $type,)* $comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request,
        ) -> c_int {
            // SAFETY: the program's arguments, and the library's function for them.
            unsafe {
                let served = serve::preparing(stringify!($name), $comm, request, || $call);
                served.unwrap_or_else(|| ffi::$library($($argument,)* $comm, info, request))
            }
        }
    };
    // Open MPI has persistent collectives as an extension, which the bindings do not have.
    (@extension ($($argument:ident: $type:ty),*) $comm:ident $call:expr, $name:ident $library:ident) => {
        unsafe extern "C" {
            fn $library($($argument: $type,)* $comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) -> c_int;
        }

        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($argument: $type,)* $comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request,
        ) -> c_int {
            // SAFETY: the program's arguments, and the library's function for them.
            unsafe {
                let served = serve::preparing(stringify!($name), $comm, request, || $call);
                served.unwrap_or_else(|| $library($($argument,)* $comm, info, request))
            }
        }
    };
    ($arguments:tt $comm:ident $call:expr,
     $name:ident $library:ident, $iname:ident $ilibrary:ident $(, $init:ident $initlibrary:ident)?) => {
        forms!(@blocking $arguments $comm $call, $name $library);
        forms!(@starting $arguments $comm $call, $iname $ilibrary);
        $(#[cfg(persistent)] forms!(@preparing $arguments $comm $call, $init $initlibrary);)?
    };
}

/// The functions of one collective.
macro_rules! collective {
    (
        $arguments:tt $comm:ident $call:expr,
        int { $($int:tt)* } large { $($large:tt)* } extension { $($extension:tt)* }
    ) => {
        #[allow(dead_code)]
        const _: () = {
            type Count = c_int;
            type Displ = c_int;
            forms!($arguments $comm $call, $($int)*);
            #[cfg(extension)]
            const _: () = {
                forms!(@extension $arguments $comm $call, $($extension)*);
            };
        };
        #[cfg(large)]
        #[allow(dead_code)]
        const _: () = {
            type Count = ffi::MPI_Count;
            type Displ = ffi::MPI_Aint;
            forms!($arguments $comm $call, $($large)*);
        };
    };
}

collective! {
    (send: In, sends: Count, sendtype: MPI_Datatype, recv: Out, recvs: Count, recvtype: MPI_Datatype) comm
    arguments::allgather((send, sends, sendtype), (recv, recvs, recvtype)),
    int { MPI_Allgather PMPI_Allgather, MPI_Iallgather PMPI_Iallgather, MPI_Allgather_init PMPI_Allgather_init }
    large {
        MPI_Allgather_c PMPI_Allgather_c,
        MPI_Iallgather_c PMPI_Iallgather_c,
        MPI_Allgather_init_c PMPI_Allgather_init_c
    }
    extension { MPIX_Allgather_init PMPIX_Allgather_init }
}

collective! {
    (send: In, sends: Count, sendtype: MPI_Datatype, recv: Out,
     counts: *const Count, displs: *const Displ, recvtype: MPI_Datatype) comm
    arguments::allgatherv((send, sends, sendtype), (recv, counts, displs, recvtype)),
    int { MPI_Allgatherv PMPI_Allgatherv, MPI_Iallgatherv PMPI_Iallgatherv, MPI_Allgatherv_init PMPI_Allgatherv_init }
    large {
        MPI_Allgatherv_c PMPI_Allgatherv_c,
        MPI_Iallgatherv_c PMPI_Iallgatherv_c,
        MPI_Allgatherv_init_c PMPI_Allgatherv_init_c
    }
    extension { MPIX_Allgatherv_init PMPIX_Allgatherv_init }
}

collective! {
    (send: In, recv: Out, count: Count, datatype: MPI_Datatype, op: MPI_Op) comm
    arguments::allreduce(send, recv, count, datatype, op),
    int { MPI_Allreduce PMPI_Allreduce, MPI_Iallreduce PMPI_Iallreduce, MPI_Allreduce_init PMPI_Allreduce_init }
    large {
        MPI_Allreduce_c PMPI_Allreduce_c,
        MPI_Iallreduce_c PMPI_Iallreduce_c,
        MPI_Allreduce_init_c PMPI_Allreduce_init_c
    }
    extension { MPIX_Allreduce_init PMPIX_Allreduce_init }
}

collective! {
    (send: In, recv: Out, counts: *const Count, datatype: MPI_Datatype, op: MPI_Op) comm
    arguments::reduce_scatter(send, recv, counts, datatype, op),
    int {
        MPI_Reduce_scatter PMPI_Reduce_scatter,
        MPI_Ireduce_scatter PMPI_Ireduce_scatter,
        MPI_Reduce_scatter_init PMPI_Reduce_scatter_init
    }
    large {
        MPI_Reduce_scatter_c PMPI_Reduce_scatter_c,
        MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c,
        MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c
    }
    extension { MPIX_Reduce_scatter_init PMPIX_Reduce_scatter_init }
}

collective! {
    (send: In, recv: Out, count: Count, datatype: MPI_Datatype, op: MPI_Op) comm
    arguments::reduce_scatter_block(send, recv, count, datatype, op),
    int {
        MPI_Reduce_scatter_block PMPI_Reduce_scatter_block,
        MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block,
        MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init
    }
    large {
        MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c,
        MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c,
        MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c
    }
    extension { MPIX_Reduce_scatter_block_init PMPIX_Reduce_scatter_block_init }
}

collective! {
    (send: In, sends: Count, sendtype: MPI_Datatype, recv: Out, recvs: Count, recvtype: MPI_Datatype) comm
    arguments::alltoall((send, sends, sendtype), (recv, recvs, recvtype)),
    int { MPI_Alltoall PMPI_Alltoall, MPI_Ialltoall PMPI_Ialltoall, MPI_Alltoall_init PMPI_Alltoall_init }
    large { MPI_Alltoall_c PMPI_Alltoall_c, MPI_Ialltoall_c PMPI_Ialltoall_c, MPI_Alltoall_init_c PMPI_Alltoall_init_c }
    extension { MPIX_Alltoall_init PMPIX_Alltoall_init }
}

collective! {
    (send: In, sends: *const Count, from: *const Displ, sendtype: MPI_Datatype,
     recv: Out, recvs: *const Count, to: *const Displ, recvtype: MPI_Datatype) comm
    arguments::alltoallv((send, sends, from, sendtype), (recv, recvs, to, recvtype)),
    int { MPI_Alltoallv PMPI_Alltoallv, MPI_Ialltoallv PMPI_Ialltoallv, MPI_Alltoallv_init PMPI_Alltoallv_init }
    large {
        MPI_Alltoallv_c PMPI_Alltoallv_c,
        MPI_Ialltoallv_c PMPI_Ialltoallv_c,
        MPI_Alltoallv_init_c PMPI_Alltoallv_init_c
    }
    extension { MPIX_Alltoallv_init PMPIX_Alltoallv_init }
}

collective! {
    (data: Out, count: Count, datatype: MPI_Datatype, root: c_int) comm
    arguments::bcast(data, count, datatype, root),
    int { MPI_Bcast PMPI_Bcast, MPI_Ibcast PMPI_Ibcast, MPI_Bcast_init PMPI_Bcast_init }
    large { MPI_Bcast_c PMPI_Bcast_c, MPI_Ibcast_c PMPI_Ibcast_c, MPI_Bcast_init_c PMPI_Bcast_init_c }
    extension { MPIX_Bcast_init PMPIX_Bcast_init }
}

collective! {
    (send: In, recv: Out, count: Count, datatype: MPI_Datatype, op: MPI_Op, root: c_int) comm
    arguments::reduce(send, recv, count, (datatype, op, root)),
    int { MPI_Reduce PMPI_Reduce, MPI_Ireduce PMPI_Ireduce, MPI_Reduce_init PMPI_Reduce_init }
    large { MPI_Reduce_c PMPI_Reduce_c, MPI_Ireduce_c PMPI_Ireduce_c, MPI_Reduce_init_c PMPI_Reduce_init_c }
    extension { MPIX_Reduce_init PMPIX_Reduce_init }
}

collective! {
    (send: In, sends: Count, sendtype: MPI_Datatype, recv: Out, recvs: Count, recvtype: MPI_Datatype, root: c_int) comm
    arguments::gather((send, sends, sendtype), (recv, recvs, recvtype), (root, comm)),
    int { MPI_Gather PMPI_Gather, MPI_Igather PMPI_Igather, MPI_Gather_init PMPI_Gather_init }
    large { MPI_Gather_c PMPI_Gather_c, MPI_Igather_c PMPI_Igather_c, MPI_Gather_init_c PMPI_Gather_init_c }
    extension { MPIX_Gather_init PMPIX_Gather_init }
}

collective! {
    (send: In, sends: Count, sendtype: MPI_Datatype, recv: Out, recvs: Count, recvtype: MPI_Datatype, root: c_int) comm
    arguments::scatter((send, sends, sendtype), (recv, recvs, recvtype), (root, comm)),
    int { MPI_Scatter PMPI_Scatter, MPI_Iscatter PMPI_Iscatter, MPI_Scatter_init PMPI_Scatter_init }
    large { MPI_Scatter_c PMPI_Scatter_c, MPI_Iscatter_c PMPI_Iscatter_c, MPI_Scatter_init_c PMPI_Scatter_init_c }
    extension { MPIX_Scatter_init PMPIX_Scatter_init }
}
