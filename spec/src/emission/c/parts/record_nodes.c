/* Takes the sizes of nodes, with commas between them. */
int main(int argc, char **argv)
{
    int sizes[64];
    int64_t first[65] = {0}, p = 0;
    if (argc != @COUNT@) {
        fprintf(stderr, "usage: %s SIZE,SIZE,...@USAGE@\n", argv[0]);
        return 2;
    }
@READ@
    rdl_nodes nodes = {rdl_read(argv[1], sizes, 64), INT64_MAX, first};
    for (int64_t n = 0; n < nodes.count; n++) {
        first[n + 1] = p += sizes[n];
        nodes.lanes = sizes[n] < nodes.lanes ? sizes[n] : nodes.lanes;
    }
    const rdl_nodes *at = &nodes;
    for (int64_t rank = 0; rank < p; rank++) {
        rdl_run run = {0};
        rdl_place place = rdl_of(at, rank);
        (void)place;
        if (!@NAME@_admits(@ADMITS@)) {
            printf("p %" PRId64 " refused\n", p);
            return 0;
        }
        printf("p %" PRId64 " rank %" PRId64 "\n", p, rank);
        @NAME@_rounds(@ROUNDS@);
        if (rdl_finish(&run) != 0)
            return 1;
    }
    return 0;
}
