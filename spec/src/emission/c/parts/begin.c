@BEGIN@
/* All rounds of this rank. */
static int @NAME@_run(rdl_world *w@DECLARATIONS@)
{
    rdl_run run = {0};
@UNUSED@
    run.world = w;
    @NAME@_rounds(@ROUNDS@);
    return rdl_finish(&run);
}

