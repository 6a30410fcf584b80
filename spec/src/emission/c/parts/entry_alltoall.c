/* Puts every block of this rank into memory that is free when the block has left. */
static int rdl_load(rdl_world *w, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf)
{
    MPI_Aint lb = 0, step = w->extent;
    int error = sendbuf == MPI_IN_PLACE ? MPI_SUCCESS : MPI_Type_get_extent(sendtype, &lb, &step);
    for (int to = 0; to < w->p && error == MPI_SUCCESS; to++) {
        const char *from = (const char *)(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
        char *spot = to == w->rank ? w->memory.out + (MPI_Aint)to * w->memory.count * w->extent : rdl_room(w);
        if ((spot == NULL && w->memory.count > 0) || rdl_hold(&w->memory, (int64_t)w->rank * w->p + to, spot) != spot)
            error = MPI_ERR_NO_MEM;
        else if (sendbuf == MPI_IN_PLACE && to != w->rank)
            error = rdl_copy(w, from + (MPI_Aint)to * w->memory.count * step, w->memory.count, w->type, spot, w->memory.count, w->type);
        else if (sendbuf != MPI_IN_PLACE)
            error = rdl_copy(w, from + (MPI_Aint)to * sendcount * step, sendcount, sendtype, spot, w->memory.count, w->type);
    }
    return error;
}

/* Like MPI_Alltoall@WITH@. */
int roundel_alltoall_@NAME@(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int error = @NAME@_begin(&w, comm, recvtype@ARGUMENTS@);
    if (error == MPI_SUCCESS && recvcount < 0)
        error = MPI_ERR_COUNT;
    w.memory.count = recvcount;
    w.memory.out = recvbuf;
    if (error == MPI_SUCCESS)
        error = rdl_load(&w, sendbuf, sendcount, sendtype, recvbuf);
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
