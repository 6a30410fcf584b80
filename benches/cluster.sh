#!/bin/bash
# Times node-aware collectives against others, with 8 bytes, on an emulated cluster (tests/tools/cluster.sh, as root).
#
#   [NODES=4] [PPN=4] [DELAY=500] [LAUNCHES=7] [BATCHES=40] benches/cluster.sh [mpirun options]
#
# Every launch is one job in which all variants take turns. Prints medians over launches; the ratios are medians of
# each launch's own ratio. The floor is the time of as many consecutive messages between nodes as any algorithm needs,
# each as long as one took in the same job.
set -euo pipefail
cd "$(dirname "$0")/.."
export NODES=${NODES:-4} PPN=${PPN:-4} DELAY=${DELAY:-500} MPI=openmpi QUIET=1
LAUNCHES=${LAUNCHES:-7} BATCHES=${BATCHES:-40}
MPICC=mpicc.openmpi cargo build --quiet --release -p roundel-tests --features bench \
  --bin nodes_bench --target-dir target/openmpi
program=$(realpath target/openmpi/release/nodes_bench)
results=$(for ((i = 0; i < LAUNCHES; i++)); do tests/tools/cluster.sh "$@" "$program" "$BATCHES" | sed "s/^/$i /"; done)
echo "$NODES nodes of $PPN ranks, $DELAY us between nodes, \
$LAUNCHES launches of $BATCHES batches, 8 bytes; microseconds per call"
echo "$results" | python3 benches/cluster_summary.py
