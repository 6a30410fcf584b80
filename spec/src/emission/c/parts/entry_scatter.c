/* Like MPI_Scatter@WITH@. Ranks that pass blocks on have memory for all of them. */
int roundel_scatter_@NAME@(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int at_root = 0, rank = 0, error = MPI_Comm_rank(comm, &rank);
    at_root = error == MPI_SUCCESS && rank == root;
    int count = at_root ? sendcount : recvcount;
    error = @NAME@_begin(&w, comm, at_root ? sendtype : recvtype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_equal(&w, count);
    if (error == MPI_SUCCESS && !at_root && (w.memory.lines[0] = rdl_line(&w, (int64_t)w.p * count)) == NULL)
        error = MPI_ERR_NO_MEM;
    /* The root's blocks are only read. */
    if (error == MPI_SUCCESS && at_root)
        w.memory.lines[0] = (char *)(uintptr_t)sendbuf;
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    char *place = error == MPI_SUCCESS ? w.memory.lines[0] + w.memory.offsets[w.rank] * w.extent : NULL;
    if (error == MPI_SUCCESS && recvbuf != MPI_IN_PLACE)
        error = rdl_copy(&w, place, count, w.type, recvbuf, recvcount, recvtype);
    return rdl_close(&w, comm, error);
}
