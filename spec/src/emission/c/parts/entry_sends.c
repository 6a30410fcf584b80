/* Records what is sent; in place, MPI ignores it. */
static void rdl_sends(rdl_args *args, const void *sendbuf, int64_t count, MPI_Datatype type)
{
    args->in_place = sendbuf == MPI_IN_PLACE;
    args->sendcount = args->in_place ? 0 : count;
    args->types[0] = args->in_place ? MPI_DATATYPE_NULL : type;
}

