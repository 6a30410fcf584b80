/* A communicator on which Open MPI's MPI_Alltoall runs one given algorithm: the setting is a control variable that every
 * new communicator reads. Started with coll_tuned_use_dynamic_rules=1, all algorithms take turns in one job. */
#include <mpi.h>
#include <string.h>

/* Returns MPI_SUCCESS and a duplicate of `comm`; anything else if the library has no such setting. Algorithm 0 is the
 * library's own choice. */
int forced_alltoall(MPI_Comm comm, int algorithm, MPI_Comm *result)
{
    MPI_T_cvar_handle handle;
    int provided, index, count, before, code;
    code = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (code != MPI_SUCCESS) return code;
    code = MPI_T_cvar_get_index("coll_tuned_alltoall_algorithm", &index);
    if (code == MPI_SUCCESS) code = MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    if (code == MPI_SUCCESS) {
        code = MPI_T_cvar_read(handle, &before);
        if (code == MPI_SUCCESS) code = MPI_T_cvar_write(handle, &algorithm);
        if (code == MPI_SUCCESS) {
            int made = MPI_Comm_dup(comm, result);
            code = MPI_T_cvar_write(handle, &before);
            if (made != MPI_SUCCESS) code = made;
        }
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return code;
}
