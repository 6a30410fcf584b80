int main(int argc, char **argv)
{
    if (argc != @COUNT@) {
        fprintf(stderr, "usage: %s FIRST_P LAST_P@USAGE@\n", argv[0]);
        return 2;
    }
@READ@
    for (int64_t p = strtoll(argv[1], NULL, 10), last = strtoll(argv[2], NULL, 10); p <= last; p++) {
        if (!@NAME@_admits(@ADMITS@)) {
            printf("p %" PRId64 " refused\n", p);
            continue;
        }
        for (int64_t rank = 0; rank < p; rank++) {
            rdl_run run = {0};
            printf("p %" PRId64 " rank %" PRId64 "\n", p, rank);
            @NAME@_rounds(@ROUNDS@);
            if (rdl_finish(&run) != 0)
                return 1;
        }
    }
    return 0;
}
