        me->slots = malloc(RDL_LINES * RDL_RANKS * sizeof *me->slots);
        me->arrived = malloc(RDL_ARRIVED * sizeof *me->arrived);
        if (me->slots == NULL || me->arrived == NULL)
            return 1;
