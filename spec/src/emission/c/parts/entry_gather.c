/* Like MPI_Gather@WITH@. Ranks that pass blocks on have memory for all of them. */
int roundel_gather_@NAME@(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm@PARAMETERS@)
{
    rdl_world w;
    int at_root = 0, rank = 0, error = MPI_Comm_rank(comm, &rank);
    at_root = error == MPI_SUCCESS && rank == root;
    int count = at_root ? recvcount : sendcount;
    error = @NAME@_begin(&w, comm, at_root ? recvtype : sendtype@ARGUMENTS@);
    if (error == MPI_SUCCESS)
        error = rdl_equal(&w, count);
    if (error == MPI_SUCCESS && (w.memory.lines[0] = at_root ? recvbuf : rdl_line(&w, (int64_t)w.p * count)) == NULL && count > 0)
        error = at_root ? MPI_ERR_BUFFER : MPI_ERR_NO_MEM;
    char *place = error == MPI_SUCCESS ? w.memory.lines[0] + w.memory.offsets[w.rank] * w.extent : NULL;
    if (error == MPI_SUCCESS && sendbuf != MPI_IN_PLACE)
        error = rdl_copy(&w, sendbuf, sendcount, sendtype, place, count, w.type);
    if (error == MPI_SUCCESS)
        error = @NAME@_run(&w@ARGUMENTS@);
    return rdl_close(&w, comm, error);
}
