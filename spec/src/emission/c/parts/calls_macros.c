/*
 * The including tree defines these macros. Each is an expression with the value MPI_SUCCESS or an error code, and has
 * the arguments of MPI's function; counts are MPI_Count if MPI_VERSION is at least 4, and a request is a
 * ROUNDEL_REQUEST:
 *
 *     ROUNDEL_SENDRECV(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
 *         comm, status)
 *     ROUNDEL_ISEND(buf, count, datatype, dest, tag, comm, request)
 *     ROUNDEL_IRECV(buf, count, datatype, source, tag, comm, request)
 *     ROUNDEL_WAIT(request)
@if reduces@
 *     ROUNDEL_REDUCE_LOCAL(inbuf, inoutbuf, count, datatype, op)
@end@
 *
 * A tree whose calls have a context of their own also defines ROUNDEL_SAME_COMM: then they run on the communicator
 * itself, and no other one is made.
 */
#if !defined ROUNDEL_SENDRECV || !defined ROUNDEL_ISEND || !defined ROUNDEL_IRECV
#error "define ROUNDEL_SENDRECV, ROUNDEL_ISEND and ROUNDEL_IRECV"
#endif
#if !defined ROUNDEL_WAIT || !defined ROUNDEL_REQUEST
#error "define ROUNDEL_WAIT and ROUNDEL_REQUEST"
#endif
@if reduces@
#ifndef ROUNDEL_REDUCE_LOCAL
#error "define ROUNDEL_REDUCE_LOCAL"
#endif
@end@

