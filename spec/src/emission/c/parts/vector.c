static int64_t rdl_item(rdl_vector vector, int64_t i)
{
    return vector.size == sizeof(int) ? ((const int *)vector.items)[i] : ((const int64_t *)vector.items)[i];
}

