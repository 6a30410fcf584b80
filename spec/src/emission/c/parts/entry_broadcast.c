/* Like MPI_Bcast@C@@WITH@. Count and datatype must be the same on all ranks if there are several blocks. */
int roundel_bcast_@NAME@@C@(void *buffer, @INT@ count, MPI_Datatype datatype, int root, MPI_Comm comm@PARAMETERS@)
{
    rdl_args args = {.recvcount = count, .types = {MPI_DATATYPE_NULL, datatype}@GIVEN@};
    return @NAME@_call(&args, NULL, buffer, comm);
}

