#!/bin/bash
# Compares the default with the MPI library: collectives x sizes, on several placements. Both take turns in one job.
#
#   [MPI=openmpi|mpich|openmpi5|mpich5] [PLACEMENTS="2 4 4x4 8x2 3,4,3,4,2"] [DELAY=500] [LAUNCHES=3] [BATCHES=20] \
#     [LARGEST=1048576] [FORM=blocking] [ONLY=NAME] [LIMIT=1.05] [LIBRARY=FILE] benches/defaults.sh
#   OMPI_MCA_coll_han_priority=100 MPI=openmpi5 PLACEMENTS="2 4" benches/defaults.sh    # against its component han
#
# A placement is a number of ranks on one node, nodes x ranks, or the ranks of each node, with commas; the last two run
# on an emulated cluster (tests/tools/cluster.sh; needs root, and Debian's MPIs). A form is blocking, nonblocking or
# persistent; ONLY is one collective, as in the table. Fails if the default takes more than LIMIT times the library's
# time, beyond noise. All ranks get the ROUNDEL_ variables: with ROUNDEL_FORCE the table is that of one algorithm.
set -euo pipefail
cd "$(dirname "$0")/.."
export MPI=${MPI:-openmpi} DELAY=${DELAY:-500} QUIET=1 TIMEOUT=${TIMEOUT:-300}
PLACEMENTS=${PLACEMENTS:-2 4 4x4 8x2 3,4,3,4,2} LAUNCHES=${LAUNCHES:-3} BATCHES=${BATCHES:-20}
LARGEST=${LARGEST:-1048576} LIMIT=${LIMIT:-1.05} FORM=${FORM:-blocking}
. benches/preloaded.sh
compile defaults
shim=$(yielding)
preload=$shim${shim:+:}$library

# One job on a placement, with a number of batches.
launch() {
  local run=(env "LD_PRELOAD=$preload" "$work/defaults" "$2" "$LARGEST" "$FORM" "${ONLY:-}") variables=() name
  if [ "$MPI" = openmpi ]; then
    for name in $(compgen -e ROUNDEL_ || true); do variables+=(-x "$name"); done
  fi
  case $1,$MPI in
  *x*) NODES=${1%x*} PPN=${1#*x} tests/tools/cluster.sh "${variables[@]}" "${run[@]}" ;;
  *,*,*) NODES=$(tr ',' '\n' <<<"$1" | wc -l) PPN=$1 tests/tools/cluster.sh "${variables[@]}" "${run[@]}" ;;
  *,openmpi) timeout -k 5 "$TIMEOUT" "$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 \
    "${variables[@]}" -n "$1" "${run[@]}" ;;
  *,openmpi5) timeout -k 5 "$TIMEOUT" "$mpirun" --map-by :OVERSUBSCRIBE --mca mpi_yield_when_idle 1 \
    -n "$1" "${run[@]}" ;;
  *) timeout -k 5 "$TIMEOUT" "$mpirun" -n "$1" "${run[@]}" ;;
  esac
}

status=0
for placement in $PLACEMENTS; do
  echo "$MPI, ranks $placement, $FORM, $LAUNCHES launches of $BATCHES batches; microseconds per call"
  {
    # A separate job prints the choices, because explanations would affect the times.
    ROUNDEL_EXPLAIN=1 launch "$placement" 1 2>&1 | grep roundel: || true
    for ((i = 0; i < LAUNCHES; i++)); do launch "$placement" "$BATCHES" 2>&1; done
  } | python3 benches/defaults_summary.py "$LIMIT" || status=1
  echo
done
exit $status
