    int64_t p = run->call->p;
    for (size_t i = 0; i < run->blocks_len; i++)
        run->blocks[i] = order[run->blocks[i] / p] * p + order[run->blocks[i] % p];
