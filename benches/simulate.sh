#!/bin/bash
# Compares what `roundel simulate` predicts with what the same calls take on an emulated cluster.
#
#   [NODES=4] [PPN=4] [DELAY=500] [LAUNCHES=3] [BATCHES=20] [PROFILE=FILE] [LIBRARY=FILE] benches/simulate.sh
#
# The cluster is tests/tools/cluster.sh, which needs root. `roundel tune` first measures its profile there, unless one
# is given; then an unmodified program runs each collective, forced by ROUNDEL_FORCE, and the simulation of the same
# call with that profile is printed beside the median of the launches.
set -euo pipefail
cd "$(dirname "$0")/.."
export MPI=openmpi NODES=${NODES:-4} PPN=${PPN:-4} DELAY=${DELAY:-500} QUIET=1 TIMEOUT=${TIMEOUT:-600}
LAUNCHES=${LAUNCHES:-3} BATCHES=${BATCHES:-20}
names="allgather/bruck allgather/ring allgather/locality-bruck allreduce/recursive-doubling allreduce/nap
  alltoall/k-bruck alltoall/pairwise"
sizes="8 1024 65536"
. benches/preloaded.sh
compile interposed
MPICC=mpicc.$MPI cargo build --quiet --release -p roundel-verify --features mpi --target-dir "target/$MPI"
roundel=$(realpath "target/$MPI/release/roundel")
if [ -z "${PROFILE:-}" ]; then
  PROFILE=$work/cluster.toml
  tests/tools/cluster.sh "$roundel" tune -o "$PROFILE" > "$work/tune.log" || { cat "$work/tune.log"; exit 1; }
fi

# Parameters that both sides must have.
parameters() { [ "$1" = alltoall/k-bruck ] && echo radix=4 || true; }

measured() {
  for ((i = 0; i < LAUNCHES; i++)); do
    for name in $names; do
      local set; set=$(parameters "$name")
      export ROUNDEL_FORCE=${name/\//:}${set:+:$set}
      tests/tools/cluster.sh -x ROUNDEL_FORCE env "LD_PRELOAD=$library" \
        "$work/interposed" "$BATCHES" "${name%/*}" $sizes |
        sed "s|^[^ ]*|measured $name|"
    done
  done
}

simulated() {
  for name in $names; do
    local set; set=$(parameters "$name")
    for bytes in $sizes; do
      echo -n "simulated $name $bytes "
      "$roundel" --json simulate "$name" -p $((NODES * PPN)) --ppn "$PPN" --bytes "$bytes" ${set:+--set "$set"} \
        --profile "$PROFILE" | python3 -c 'import json, sys; print(json.load(sys.stdin)["seconds"] * 1e6)'
    done
  done
}

results=$(measured; simulated)
echo "$NODES nodes of $PPN ranks, $DELAY us between nodes, $LAUNCHES launches of $BATCHES batches; microseconds"
echo "$results" | python3 benches/simulate_summary.py
