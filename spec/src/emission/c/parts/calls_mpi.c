/* Counts have 64 bits where MPI has functions that take them. */
#if MPI_VERSION >= 4
#define ROUNDEL_SENDRECV MPI_Sendrecv_c
#define ROUNDEL_ISEND MPI_Isend_c
#define ROUNDEL_IRECV MPI_Irecv_c
@if reduces@
#define ROUNDEL_REDUCE_LOCAL MPI_Reduce_local_c
@end@
#else
#define ROUNDEL_SENDRECV MPI_Sendrecv
#define ROUNDEL_ISEND MPI_Isend
#define ROUNDEL_IRECV MPI_Irecv
@if reduces@
#define ROUNDEL_REDUCE_LOCAL MPI_Reduce_local
@end@
#endif
#define ROUNDEL_WAIT(request) MPI_Wait(request, MPI_STATUS_IGNORE)
#define ROUNDEL_REQUEST MPI_Request

