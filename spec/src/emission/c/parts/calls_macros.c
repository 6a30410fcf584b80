/*
 * The including tree defines how to communicate. Each is an expression that is MPI_SUCCESS or an error code, with the
 * arguments of MPI's function; counts are MPI_Count where MPI_VERSION is at least 4, and a request is a ROUNDEL_REQUEST:
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
 * A tree whose calls have a context of their own defines ROUNDEL_SAME_COMM, too: then they run on the communicator
 * itself, and none is made for them.
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

