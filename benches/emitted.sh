#!/bin/bash
# Counts the instructions of emitted C per repeated call, against generated Rust, without those of MPI and libc.
#
#   [MPI=openmpi|mpich] [RANKS=8] [RANK=3] [CALLS=200] [LIMIT=1.2] [QUICK=0] [ROUNDEL=...] benches/emitted.sh
#
# One rank runs under callgrind, with blocks of 8 bytes. Fails if emitted code needs more than LIMIT times the
# instructions of generated code. With QUICK=1, as in the tests, no release is built. ROUNDEL is the command line
# program, if it is already built.
set -euo pipefail
cd "$(dirname "$0")/.."
MPI=${MPI:-openmpi} RANKS=${RANKS:-8} RANK=${RANK:-3} CALLS=${CALLS:-200} LIMIT=${LIMIT:-1.2} BENCH=emitted_bench
. benches/mpi.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. benches/count.sh

roundel() { if [ -n "${ROUNDEL:-}" ]; then "$ROUNDEL" "$@"; else cargo run -q -- "$@"; fi; }
emit() { roundel emit c "$2" -o "$work/$1.c" --header "$work/$1.h" 2>/dev/null; }
emit bruck allgather/bruck
emit sparbit allgather/sparbit
emit ring allgather/ring
emit allreduce allreduce/recursive-doubling
emit alltoall alltoall/modified-bruck
"mpicc.$MPI" -std=c99 -O3 -I "$work" -o "$work/emitted" benches/emitted.c "$work"/*.c

echo "$MPI, $RANKS ranks, rank $RANK: own instructions per repeated call"
worst=0
for name in bruck sparbit ring allreduce alltoall; do
  ours=$(count "$work/emitted" "$name" "$CALLS")
  theirs=$(count "$program" "$name" "$CALLS")
  awk -v a="$name" -v x="$ours" -v y="$theirs" \
    'BEGIN { printf "%9s: emitted %8.1f, generated %8.1f, ratio %.3f\n", a, x, y, x / y }'
  worst=$(awk -v w="$worst" -v x="$ours" -v y="$theirs" 'BEGIN { r = x / y; print (r > w) ? r : w }')
done
awk -v w="$worst" -v l="$LIMIT" 'BEGIN { if (w > l) { printf "the largest ratio, %.3f, is above %s\n", w, l; exit 1 } }'
