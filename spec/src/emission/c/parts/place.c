    const rdl_table *table = own->table;
    w->at = &table->nodes;
    w->order = table->order;
    w->place = rdl_of(w->at, table->number);
