#!/bin/bash
# Counts the instructions of our own code per call: generated code against C, without those of MPI and libc.
#
#   [MPI=openmpi|mpich] [RANKS=8] [RANK=3] [CALLS=200] [LIMIT=1.05] [QUICK=0] benches/instructions.sh
#
# One rank runs under callgrind, with blocks of 8 bytes. Fails if generated code needs more than LIMIT times the
# instructions of C. With QUICK=1, as in the tests, no release is built, but counted code is optimised as in a release.
set -euo pipefail
cd "$(dirname "$0")/.."
MPI=${MPI:-openmpi} RANKS=${RANKS:-8} RANK=${RANK:-3} CALLS=${CALLS:-200} LIMIT=${LIMIT:-1.05}
. benches/mpi.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. benches/count.sh

echo "$MPI, $RANKS ranks, rank $RANK: own instructions per call"
worst=0
for algorithm in bruck sparbit ring; do
  ours=$(count "$program" instructions "$algorithm/generated" "$CALLS")
  theirs=$(count "$program" instructions "$algorithm/handwritten" "$CALLS")
  awk -v a="$algorithm" -v x="$ours" -v y="$theirs" \
    'BEGIN { printf "%8s: generated %8.1f, C %8.1f, ratio %.3f\n", a, x, y, x / y }'
  worst=$(awk -v w="$worst" -v x="$ours" -v y="$theirs" 'BEGIN { r = x / y; print (r > w) ? r : w }')
done
awk -v w="$worst" -v l="$LIMIT" 'BEGIN { if (w > l) { printf "the largest ratio, %.3f, is above %s\n", w, l; exit 1 } }'
