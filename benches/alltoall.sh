#!/bin/bash
# Times all-to-alls against MPI_Alltoall and every algorithm that Open MPI can be forced to use.
#
#   [NODES=4] [PPN=4] [DELAY=500] [LAUNCHES=5] [BATCHES=20] benches/alltoall.sh
#
# With NODES=1 on this machine, otherwise on an emulated cluster (tests/tools/cluster.sh; needs root). Every launch is
# one job in which all variants take turns. Prints medians over launches, and medians of each launch's ratio to the best
# of the library's own and to MPI_Alltoall.
set -euo pipefail
cd "$(dirname "$0")/.."
export NODES=${NODES:-4} PPN=${PPN:-4} DELAY=${DELAY:-500} MPI=openmpi QUIET=1 TIMEOUT=${TIMEOUT:-600}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_coll_tuned_use_dynamic_rules=1
LAUNCHES=${LAUNCHES:-5} BATCHES=${BATCHES:-20}
MPICC=mpicc.openmpi cargo build --quiet --release -p roundel-tests --features bench \
  --bin alltoall_bench --target-dir target/openmpi
program=$(realpath target/openmpi/release/alltoall_bench)
launch() {
  case $NODES in
  1) timeout -k 5 "$TIMEOUT" mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 \
    -n "$PPN" "$program" "$BATCHES" ;;
  *) tests/tools/cluster.sh -x OMPI_MCA_coll_tuned_use_dynamic_rules "$program" "$BATCHES" ;;
  esac
}
results=$(for ((i = 0; i < LAUNCHES; i++)); do launch | sed "s/^/$i /"; done)
echo "$NODES nodes of $PPN ranks, $DELAY us between nodes, \
$LAUNCHES launches of $BATCHES batches; microseconds per call"
echo "$results" | python3 benches/alltoall_summary.py
