/*
 * Roundel: MPI collectives whose algorithms are proved correct.
 *
 * Made by cbindgen of the Rust sources; do not edit. docs/c.md says how to build, link and use it.
 *
 * Functions take the arguments of MPI's own, and one or two more:
 *
 * - how: an algorithm or a selection, or NULL for what the environment says (ROUNDEL_SELECTION, ROUNDEL_FORCE), or the default. An
 *   algorithm serves a call or fails; whatever a selection or the environment does not serve is done by the MPI library.
 *   It must be the same on all ranks. It may be freed when the call returns.
 * - request: where the handle of a call is written that goes on. Buffers, lists, communicator, datatypes and operation must stay until
 *   it is complete, those of a persistent one until it is freed. It belongs to the thread that made it. Calls go on while
 *   that thread is in roundel_test(), roundel_wait() or roundel_waitall(), and not otherwise.
 *
 * Functions return MPI_SUCCESS or an error code, whose class MPI_Error_class() gives. Every error is told to the error handler of
 * the communicator, or to that of MPI_COMM_WORLD where there is none; with MPI_ERRORS_ARE_FATAL its text is written before.
 * roundel_last_error() gives the whole text. Pointers must be valid where MPI's must.
 */

#ifndef ROUNDEL_H
#define ROUNDEL_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/**
 * How calls are done: by one algorithm, or by a selection. NULL stands for what the environment says, or the default.
 */
typedef struct roundel_algorithm roundel_algorithm;

/**
 * A call that was begun, or prepared. NULL is none.
 */
typedef struct roundel_request roundel_request;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Finds an algorithm by its name.
 *
 * Names are those of `roundel list`, such as "allreduce/nap"; parameters follow, "alltoall/k-bruck:radix=4" or
 * "allreduce/cyclic-shift:ports=1+2", as in ROUNDEL_FORCE. "allreduce/library" is the MPI library's own function. A
 * call for which the algorithm is not proved, or of another collective, is an error.
 *
 * Returns MPI_SUCCESS, or an error class; no error handler is called. Free it with roundel_algorithm_free().
 */
int roundel_algorithm_create(const char *name, roundel_algorithm **algorithm);

/**
 * Reads a selection file, and checks its rules against what is proved.
 *
 * Where no rule matches, calls are done by default; what neither serves is left to the MPI library. Of the
 * environment, ROUNDEL_REPRODUCIBLE, ROUNDEL_EXPLAIN and ROUNDEL_TRACE count. All ranks must read the same rules.
 *
 * Returns MPI_SUCCESS, or an error class; no error handler is called, and roundel_last_error() names file and line.
 * Free it with roundel_algorithm_free().
 */
int roundel_selection_create(const char *path, roundel_algorithm **selection);

/**
 * Frees a handle, and sets it to NULL.
 */
int roundel_algorithm_free(roundel_algorithm **algorithm);

/**
 * Says in one line how a call would be done, why, and what is proved of it.
 *
 * The call is one of `collective` ("allreduce") by `ranks` ranks that fill nodes of `ppn`, with so many bytes as
 * docs/selection.md counts them; an operation would commute. The text is written as by roundel_last_error(), and its
 * length is written to `needed` unless that is NULL. May be called without MPI. Returns MPI_SUCCESS, or an error
 * class; no error handler is called.
 */
int roundel_explain(const roundel_algorithm *how,
                    const char *collective,
                    int ranks,
                    int ppn,
                    uint64_t bytes,
                    char *buffer,
                    size_t length,
                    size_t *needed);

/**
 * As MPI_Allgather: every rank gets the blocks of all.
 */
int roundel_allgather(const void *sendbuf,
                      int sendcount,
                      MPI_Datatype sendtype,
                      void *recvbuf,
                      int recvcount,
                      MPI_Datatype recvtype,
                      MPI_Comm comm,
                      const roundel_algorithm *how);

/**
 * As MPI_Iallgather. Completed by roundel_test() or roundel_wait().
 */
int roundel_iallgather(const void *sendbuf,
                       int sendcount,
                       MPI_Datatype sendtype,
                       void *recvbuf,
                       int recvcount,
                       MPI_Datatype recvtype,
                       MPI_Comm comm,
                       const roundel_algorithm *how,
                       roundel_request **request);

/**
 * As MPI_Allgather_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_allgather_init(const void *sendbuf,
                           int sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           int recvcount,
                           MPI_Datatype recvtype,
                           MPI_Comm comm,
                           const roundel_algorithm *how,
                           roundel_request **request);

/**
 * As MPI_Allgatherv: every rank gets the blocks of all, which have lengths of their own.
 */
int roundel_allgatherv(const void *sendbuf,
                       int sendcount,
                       MPI_Datatype sendtype,
                       void *recvbuf,
                       const int *recvcounts,
                       const int *displs,
                       MPI_Datatype recvtype,
                       MPI_Comm comm,
                       const roundel_algorithm *how);

/**
 * As MPI_Iallgatherv. Completed by roundel_test() or roundel_wait().
 */
int roundel_iallgatherv(const void *sendbuf,
                        int sendcount,
                        MPI_Datatype sendtype,
                        void *recvbuf,
                        const int *recvcounts,
                        const int *displs,
                        MPI_Datatype recvtype,
                        MPI_Comm comm,
                        const roundel_algorithm *how,
                        roundel_request **request);

/**
 * As MPI_Allgatherv_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_allgatherv_init(const void *sendbuf,
                            int sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            const int *recvcounts,
                            const int *displs,
                            MPI_Datatype recvtype,
                            MPI_Comm comm,
                            const roundel_algorithm *how,
                            roundel_request **request);

/**
 * As MPI_Alltoall: every rank has a block for every other.
 */
int roundel_alltoall(const void *sendbuf,
                     int sendcount,
                     MPI_Datatype sendtype,
                     void *recvbuf,
                     int recvcount,
                     MPI_Datatype recvtype,
                     MPI_Comm comm,
                     const roundel_algorithm *how);

/**
 * As MPI_Ialltoall. Completed by roundel_test() or roundel_wait().
 */
int roundel_ialltoall(const void *sendbuf,
                      int sendcount,
                      MPI_Datatype sendtype,
                      void *recvbuf,
                      int recvcount,
                      MPI_Datatype recvtype,
                      MPI_Comm comm,
                      const roundel_algorithm *how,
                      roundel_request **request);

/**
 * As MPI_Alltoall_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_alltoall_init(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Comm comm,
                          const roundel_algorithm *how,
                          roundel_request **request);

/**
 * As MPI_Alltoallv: every rank has a block for every other, with a length of its own.
 */
int roundel_alltoallv(const void *sendbuf,
                      const int *sendcounts,
                      const int *sdispls,
                      MPI_Datatype sendtype,
                      void *recvbuf,
                      const int *recvcounts,
                      const int *rdispls,
                      MPI_Datatype recvtype,
                      MPI_Comm comm,
                      const roundel_algorithm *how);

/**
 * As MPI_Ialltoallv. Completed by roundel_test() or roundel_wait().
 */
int roundel_ialltoallv(const void *sendbuf,
                       const int *sendcounts,
                       const int *sdispls,
                       MPI_Datatype sendtype,
                       void *recvbuf,
                       const int *recvcounts,
                       const int *rdispls,
                       MPI_Datatype recvtype,
                       MPI_Comm comm,
                       const roundel_algorithm *how,
                       roundel_request **request);

/**
 * As MPI_Alltoallv_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_alltoallv_init(const void *sendbuf,
                           const int *sendcounts,
                           const int *sdispls,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           const int *recvcounts,
                           const int *rdispls,
                           MPI_Datatype recvtype,
                           MPI_Comm comm,
                           const roundel_algorithm *how,
                           roundel_request **request);

/**
 * As MPI_Allreduce: every rank gets the reduction of what all bring.
 */
int roundel_allreduce(const void *sendbuf,
                      void *recvbuf,
                      int count,
                      MPI_Datatype datatype,
                      MPI_Op op,
                      MPI_Comm comm,
                      const roundel_algorithm *how);

/**
 * As MPI_Iallreduce. Completed by roundel_test() or roundel_wait().
 */
int roundel_iallreduce(const void *sendbuf,
                       void *recvbuf,
                       int count,
                       MPI_Datatype datatype,
                       MPI_Op op,
                       MPI_Comm comm,
                       const roundel_algorithm *how,
                       roundel_request **request);

/**
 * As MPI_Allreduce_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_allreduce_init(const void *sendbuf,
                           void *recvbuf,
                           int count,
                           MPI_Datatype datatype,
                           MPI_Op op,
                           MPI_Comm comm,
                           const roundel_algorithm *how,
                           roundel_request **request);

/**
 * As MPI_Reduce_scatter_block: every rank gets its block of the reduction.
 */
int roundel_reduce_scatter_block(const void *sendbuf,
                                 void *recvbuf,
                                 int recvcount,
                                 MPI_Datatype datatype,
                                 MPI_Op op,
                                 MPI_Comm comm,
                                 const roundel_algorithm *how);

/**
 * As MPI_Ireduce_scatter_block. Completed by roundel_test() or roundel_wait().
 */
int roundel_ireduce_scatter_block(const void *sendbuf,
                                  void *recvbuf,
                                  int recvcount,
                                  MPI_Datatype datatype,
                                  MPI_Op op,
                                  MPI_Comm comm,
                                  const roundel_algorithm *how,
                                  roundel_request **request);

/**
 * As MPI_Reduce_scatter_block_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_reduce_scatter_block_init(const void *sendbuf,
                                      void *recvbuf,
                                      int recvcount,
                                      MPI_Datatype datatype,
                                      MPI_Op op,
                                      MPI_Comm comm,
                                      const roundel_algorithm *how,
                                      roundel_request **request);

/**
 * As MPI_Reduce_scatter: every rank gets its block of the reduction, with a length of its own.
 */
int roundel_reduce_scatter(const void *sendbuf,
                           void *recvbuf,
                           const int *recvcounts,
                           MPI_Datatype datatype,
                           MPI_Op op,
                           MPI_Comm comm,
                           const roundel_algorithm *how);

/**
 * As MPI_Ireduce_scatter. Completed by roundel_test() or roundel_wait().
 */
int roundel_ireduce_scatter(const void *sendbuf,
                            void *recvbuf,
                            const int *recvcounts,
                            MPI_Datatype datatype,
                            MPI_Op op,
                            MPI_Comm comm,
                            const roundel_algorithm *how,
                            roundel_request **request);

/**
 * As MPI_Reduce_scatter_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_reduce_scatter_init(const void *sendbuf,
                                void *recvbuf,
                                const int *recvcounts,
                                MPI_Datatype datatype,
                                MPI_Op op,
                                MPI_Comm comm,
                                const roundel_algorithm *how,
                                roundel_request **request);

/**
 * As MPI_Bcast: every rank gets what the root has.
 */
int roundel_bcast(void *buffer,
                  int count,
                  MPI_Datatype datatype,
                  int root,
                  MPI_Comm comm,
                  const roundel_algorithm *how);

/**
 * As MPI_Ibcast. Completed by roundel_test() or roundel_wait().
 */
int roundel_ibcast(void *buffer,
                   int count,
                   MPI_Datatype datatype,
                   int root,
                   MPI_Comm comm,
                   const roundel_algorithm *how,
                   roundel_request **request);

/**
 * As MPI_Bcast_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_bcast_init(void *buffer,
                       int count,
                       MPI_Datatype datatype,
                       int root,
                       MPI_Comm comm,
                       const roundel_algorithm *how,
                       roundel_request **request);

/**
 * As MPI_Reduce: the root gets the reduction of what all bring.
 */
int roundel_reduce(const void *sendbuf,
                   void *recvbuf,
                   int count,
                   MPI_Datatype datatype,
                   MPI_Op op,
                   int root,
                   MPI_Comm comm,
                   const roundel_algorithm *how);

/**
 * As MPI_Ireduce. Completed by roundel_test() or roundel_wait().
 */
int roundel_ireduce(const void *sendbuf,
                    void *recvbuf,
                    int count,
                    MPI_Datatype datatype,
                    MPI_Op op,
                    int root,
                    MPI_Comm comm,
                    const roundel_algorithm *how,
                    roundel_request **request);

/**
 * As MPI_Reduce_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_reduce_init(const void *sendbuf,
                        void *recvbuf,
                        int count,
                        MPI_Datatype datatype,
                        MPI_Op op,
                        int root,
                        MPI_Comm comm,
                        const roundel_algorithm *how,
                        roundel_request **request);

/**
 * As MPI_Gather: the root gets the blocks of all.
 */
int roundel_gather(const void *sendbuf,
                   int sendcount,
                   MPI_Datatype sendtype,
                   void *recvbuf,
                   int recvcount,
                   MPI_Datatype recvtype,
                   int root,
                   MPI_Comm comm,
                   const roundel_algorithm *how);

/**
 * As MPI_Igather. Completed by roundel_test() or roundel_wait().
 */
int roundel_igather(const void *sendbuf,
                    int sendcount,
                    MPI_Datatype sendtype,
                    void *recvbuf,
                    int recvcount,
                    MPI_Datatype recvtype,
                    int root,
                    MPI_Comm comm,
                    const roundel_algorithm *how,
                    roundel_request **request);

/**
 * As MPI_Gather_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_gather_init(const void *sendbuf,
                        int sendcount,
                        MPI_Datatype sendtype,
                        void *recvbuf,
                        int recvcount,
                        MPI_Datatype recvtype,
                        int root,
                        MPI_Comm comm,
                        const roundel_algorithm *how,
                        roundel_request **request);

/**
 * As MPI_Scatter: every rank gets its block of what the root has.
 */
int roundel_scatter(const void *sendbuf,
                    int sendcount,
                    MPI_Datatype sendtype,
                    void *recvbuf,
                    int recvcount,
                    MPI_Datatype recvtype,
                    int root,
                    MPI_Comm comm,
                    const roundel_algorithm *how);

/**
 * As MPI_Iscatter. Completed by roundel_test() or roundel_wait().
 */
int roundel_iscatter(const void *sendbuf,
                     int sendcount,
                     MPI_Datatype sendtype,
                     void *recvbuf,
                     int recvcount,
                     MPI_Datatype recvtype,
                     int root,
                     MPI_Comm comm,
                     const roundel_algorithm *how,
                     roundel_request **request);

/**
 * As MPI_Scatter_init, without its info. Started by roundel_start() as often as one likes.
 */
int roundel_scatter_init(const void *sendbuf,
                         int sendcount,
                         MPI_Datatype sendtype,
                         void *recvbuf,
                         int recvcount,
                         MPI_Datatype recvtype,
                         int root,
                         MPI_Comm comm,
                         const roundel_algorithm *how,
                         roundel_request **request);

/**
 * Starts a call that a function with `_init` has prepared. Its buffers belong to the library until it is complete.
 */
int roundel_start(roundel_request **request);

/**
 * Lets calls go on, and sets `flag` to 1 if this one is complete, else to 0.
 *
 * A request that runs once is free then, and NULL; a persistent one can be started again. NULL, and what was not
 * started, is complete.
 */
int roundel_test(roundel_request **request, int *flag);

/**
 * Waits until a call is complete. Meanwhile, all calls go on that this thread has started.
 *
 * A request that runs once is free then, and NULL; a persistent one can be started again. NULL, and what was not
 * started, is complete.
 */
int roundel_wait(roundel_request **request);

/**
 * Waits until all of `count` calls are complete, in whatever order that happens.
 *
 * Every call that failed is told to the error handler of its communicator; the code of the last one is returned.
 */
int roundel_waitall(int count, roundel_request **requests);

/**
 * Frees a request that is not running, and sets it to NULL.
 */
int roundel_request_free(roundel_request **request);

/**
 * The text of this thread's last error, in UTF-8.
 *
 * Writes at most `length` bytes to `buffer`, the last of which is 0; with a length of 0, `buffer` may be NULL. Returns
 * how many bytes the whole text has without its 0. Calls that succeed leave the text as it is; it is empty before the
 * first error. Errors that the MPI library finds itself are not among them: ask `MPI_Error_string` for those.
 */
size_t roundel_last_error(char *buffer, size_t length);

/**
 * The version of the library, such as "0.1.0".
 */
const char *roundel_version(void);

/**
 * A communicator of Fortran.
 */
MPI_Comm roundel_comm_f2c(MPI_Fint comm);

/**
 * A datatype of Fortran.
 */
MPI_Datatype roundel_type_f2c(MPI_Fint datatype);

/**
 * An operation of Fortran.
 */
MPI_Op roundel_op_f2c(MPI_Fint op);

/**
 * C's `MPI_IN_PLACE`.
 */
void *roundel_in_place(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ROUNDEL_H */
