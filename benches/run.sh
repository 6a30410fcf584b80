#!/bin/bash
# Times generated allgathers against C and against the library's own.
#
#   [MPI=openmpi|mpich] [RANKS="2 4 8"] [LAUNCHES=5] [CALLS=300] benches/run.sh
#
# Every launch is one job in which all variants take turns. Prints medians over launches. The ratios are medians of
# each launch's own ratio, which is steadier than a ratio of medians from different launches.
set -euo pipefail
cd "$(dirname "$0")/.."
MPI=${MPI:-openmpi} RANKS=${RANKS:-2 4 8} LAUNCHES=${LAUNCHES:-5} CALLS=${CALLS:-300}
. benches/mpi.sh
for p in $RANKS; do
  results=$(for ((i = 0; i < LAUNCHES; i++)); do launch "$p" "$program" times "$CALLS" | sed "s/^/$i /"; done)
  echo "$MPI, $p ranks, $LAUNCHES launches of $CALLS calls; microseconds per call"
  echo "$results" | python3 benches/summary.py
done
