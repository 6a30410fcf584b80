/* Numbers with commas between them. */
static int64_t rdl_read(const char *text, int *items, int64_t room)
{
    int64_t len = 0;
    while (*text != '\0' && len < room) {
        char *end = NULL;
        items[len++] = (int)strtol(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return len;
}

