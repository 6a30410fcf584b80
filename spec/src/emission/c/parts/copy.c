/* Copies elements inside of this rank. */
static int rdl_copy(rdl_world *w, const void *from, int count, MPI_Datatype type, void *to, int room, MPI_Datatype into)
{
    if (count == 0 && room == 0)
        return MPI_SUCCESS;
    if (w->dense && type == w->type && into == w->type && count == room) {
        memmove(to, from, (size_t)count * (size_t)w->extent);
        return MPI_SUCCESS;
    }
    return MPI_Sendrecv(from, count, type, w->rank, RDL_TAG_SELF, to, room, into, w->rank, RDL_TAG_SELF, w->comm, MPI_STATUS_IGNORE);
}

