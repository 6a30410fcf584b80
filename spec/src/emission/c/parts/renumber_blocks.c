    for (size_t i = 0; i < run->blocks_len; i++)
        run->blocks[i] = order[run->blocks[i]];
