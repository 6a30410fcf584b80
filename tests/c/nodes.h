/* Which ranks share a node: one machine is a cluster of any shape. Emitted files are compiled with `-include nodes.h`. */
#ifndef NODES_H
#define NODES_H

enum { ONE_NODE, PAIRS, DEALT };

/* All on one node; two that follow each other; dealt out to three nodes in turn, which numbers more than three ranks anew. */
extern int shape;

int node_of(int rank);

#define ROUNDEL_NODE(rank) node_of(rank)

#endif
