/* The address this many bytes further. */
static rdl_spot rdl_beyond(rdl_spot spot, MPI_Aint bytes)
{
    spot.at += bytes;
    return spot;
}

