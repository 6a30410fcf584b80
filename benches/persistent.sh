#!/bin/bash
# Times persistent collectives against the library's own, blocking and persistent.
#
#   [MPI=openmpi] [NODES=1] [PPN=2] [DELAY=500] [LAUNCHES=5] [BATCHES=20] [LARGEST=4194304] benches/persistent.sh
#
# With NODES=1 on this machine, otherwise on an emulated cluster (tests/tools/cluster.sh; needs root). Every launch is
# one job in which all variants take turns. Prints medians over launches, and medians of each launch's ratio to the best
# of the library's own. The spread of the library's own call over launches is the noise.
set -euo pipefail
cd "$(dirname "$0")/.."
export MPI=${MPI:-openmpi} NODES=${NODES:-1} PPN=${PPN:-2} DELAY=${DELAY:-500} QUIET=1 TIMEOUT=${TIMEOUT:-900}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LAUNCHES=${LAUNCHES:-5} BATCHES=${BATCHES:-20} LARGEST=${LARGEST:-4194304}
MPICC=mpicc.$MPI cargo build --quiet --release -p roundel-tests --features bench \
  --bin persistent_bench --target-dir "target/$MPI"
program=$(realpath "target/$MPI/release/persistent_bench")
launch() {
  case $NODES,$MPI in
  1,openmpi) timeout -k 5 "$TIMEOUT" mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 \
    -n "$PPN" "$program" "$BATCHES" "$LARGEST" ;;
  1,mpich)
    # Waiting ranks must yield if there are more ranks than processors.
    cc -O2 -shared -fPIC -o "target/$MPI/yieldshim.so" tests/tools/yieldshim.c -ldl
    timeout -k 5 "$TIMEOUT" mpirun.mpich -genv LD_PRELOAD "$PWD/target/$MPI/yieldshim.so" \
      -n "$PPN" "$program" "$BATCHES" "$LARGEST" ;;
  *) tests/tools/cluster.sh ${PROFILE:+-x ROUNDEL_PROFILE="$PROFILE"} "$program" "$BATCHES" "$LARGEST" ;;
  esac
}
results=$(for ((i = 0; i < LAUNCHES; i++)); do launch | sed "s/^/$i /"; done)
echo "$MPI, $NODES nodes of $PPN ranks, $DELAY us between nodes, \
$LAUNCHES launches of $BATCHES batches; microseconds per call"
echo "$results" | python3 benches/persistent_summary.py
