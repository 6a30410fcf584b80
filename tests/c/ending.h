/*
 * Ends a job that found an error. It first gives the launcher time to read the message, because MPICH's loses unread
 * output when a rank aborts.
 */
#ifndef ENDING_H
#define ENDING_H

#include <mpi.h>

static inline void end_the_job(int status)
{
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 0.2)
        continue;
    MPI_Abort(MPI_COMM_WORLD, status);
}

#endif
