/* Which ranks share a node, so that one machine acts as a cluster of any shape. Emitted files are compiled with
 * `-include nodes.h`. */
#ifndef NODES_H
#define NODES_H

enum { ONE_NODE, PAIRS, DEALT };

/* All on one node; in pairs of consecutive ranks; cyclic over three nodes, which renumbers more than three ranks. */
extern int shape;

int node_of(int rank);

#define ROUNDEL_NODE(rank) node_of(rank)

#endif
