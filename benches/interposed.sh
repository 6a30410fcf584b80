#!/bin/bash
# Times an unmodified C program with and without libroundel_pmpi.so before MPI.
#
#   [MPI=openmpi] [NODES=4] [PPN=4] [DELAY=500] [LAUNCHES=5] [BATCHES=20] [LIBRARY=FILE] benches/interposed.sh
#
# On an emulated cluster (tests/tools/cluster.sh; needs root), with NODES=1 on this machine. Launches with and without
# the library alternate. Prints medians over launches and their ratio. All ranks get the ROUNDEL_ variables.
set -euo pipefail
cd "$(dirname "$0")/.."
export MPI=${MPI:-openmpi} NODES=${NODES:-4} PPN=${PPN:-4} DELAY=${DELAY:-500} QUIET=1 TIMEOUT=${TIMEOUT:-600}
LAUNCHES=${LAUNCHES:-5} BATCHES=${BATCHES:-20}
. benches/preloaded.sh
compile interposed
shim=$(yielding)

# One job; its first argument is the library to load before MPI.
launch() {
  local preload=$shim${shim:+${1:+:}}$1 run=("$work/interposed" "$BATCHES")
  [ -n "$preload" ] && run=(env "LD_PRELOAD=$preload" "${run[@]}")
  local variables=()
  if [ "$MPI" = openmpi ]; then
    for name in $(compgen -e ROUNDEL_ || true); do variables+=(-x "$name"); done
  fi
  case $NODES,$MPI in
  1,openmpi) timeout -k 5 "$TIMEOUT" mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 \
    "${variables[@]}" -n "$PPN" "${run[@]}" ;;
  1,mpich) timeout -k 5 "$TIMEOUT" mpirun.mpich -n "$PPN" "${run[@]}" ;;
  *) tests/tools/cluster.sh "${variables[@]}" "${run[@]}" ;;
  esac
}

results=$(for ((i = 0; i < LAUNCHES; i++)); do
  launch "" | sed 's/^/without /'
  launch "$library" | sed 's/^/with /'
done)
echo "$MPI, $NODES nodes of $PPN ranks, $DELAY us between nodes, \
$LAUNCHES launches of $BATCHES batches; microseconds per call"
echo "$results" | python3 benches/interposed_summary.py
