/* Like MPI_Alltoallv@C@@WITH@. */
int roundel_alltoallv_@NAME@@C@(const void *sendbuf, const @INT@ *sendcounts, const @DISPL@ *sdispls,
    MPI_Datatype sendtype, void *recvbuf, const @INT@ *recvcounts, const @DISPL@ *rdispls,
    MPI_Datatype recvtype, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.types = {MPI_DATATYPE_NULL, recvtype}@GIVEN@,
        .vectors = {{NULL, 0}, {NULL, 0}, {recvcounts, sizeof *recvcounts}, {rdispls, sizeof *rdispls}}};
    rdl_sends(&args, sendbuf, 0, sendtype);
    if (!args.in_place) {
        args.vectors[0] = (rdl_vector){sendcounts, sizeof *sendcounts};
        args.vectors[1] = (rdl_vector){sdispls, sizeof *sdispls};
    }
    return @NAME@_call(&args, sendbuf, recvbuf, comm);
}

