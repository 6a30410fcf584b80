/* The library's own persistent collectives, if it has them: in MPI 4, and as an extension in Open MPI 4.1. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* Makes a request for a sum of doubles; returns MPI_ERR_UNSUPPORTED_OPERATION if the library has no such call. */
int library_allreduce_init(const double *send, double *recv, int count, MPI_Comm comm, MPI_Request *request) {
#if MPI_VERSION >= 4
  return MPI_Allreduce_init(send, recv, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
  return MPIX_Allreduce_init(send, recv, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request);
#else
  (void)send, (void)recv, (void)count, (void)comm, (void)request;
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}
