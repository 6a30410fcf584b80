#!/bin/bash
# Measures the cost of interposition for calls that pass through to MPI: 8 bytes, on one pair of ranks.
#
#   [MPI=openmpi] [LAUNCHES=7] [CALLS=20000] [LIBRARY=FILE] [INTERFACE=FILE] benches/passing.sh
#
# Calls per second with the library and past it (PMPI_), in short alternating blocks; medians over launches. Then
# instructions and allocations per call: of a single rank (which never waits, so that all instructions belong to the
# call) and, of a pair, those of the library itself. Last, the same for calls that the library serves with messages, and
# with INTERFACE, a libroundel.so, for the same calls of the C interface. With LAUNCHES=0, only instructions and
# allocations.
set -euo pipefail
cd "$(dirname "$0")/.."
MPI=${MPI:-openmpi} LAUNCHES=${LAUNCHES:-7} CALLS=${CALLS:-20000} TIMEOUT=${TIMEOUT:-300}
. benches/preloaded.sh
program=$work/passing
compile passing
shim=$(yielding)
launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1)
[ "$MPI" = mpich ] && launcher=(mpirun.mpich)
passes="allreduce:library;allgather:library;alltoall:library;broadcast:library"

# The words before a program: the library to load before MPI, and settings that leave all calls to MPI.
before() {
  local preload=$shim${shim:+${1:+:}}$1
  echo "env ROUNDEL_FORCE=$passes ${preload:+LD_PRELOAD=$preload}"
}

if [ "$LAUNCHES" -gt 0 ]; then
results=$(for ((i = 0; i < LAUNCHES; i++)); do
  timeout -k 5 "$TIMEOUT" "${launcher[@]}" -n 2 $(before "$library") "$program" time "$CALLS"
done)
echo "$MPI, a pair of ranks, 8 bytes, $LAUNCHES launches of $CALLS calls; thousands of calls per second"
echo "$results" | python3 benches/interposed_summary.py "k/s"
fi

# Counts for one call: $1 is the library to load, $2 the call, $3 the number of ranks. Prints all instructions, those of
# the library itself (or of $4), and allocations.
count() {
  local out=$work/profile times=200
  rm -f "$out"
  local grind="valgrind -q --tool=callgrind --collect-atstart=no --toggle-collect=measured --callgrind-out-file=$out"
  local others=()
  [ "$3" -gt 1 ] && others=(: -n $(($3 - 1)) $(before "$1") "$program" count "$2" $times)
  timeout -k 5 "$TIMEOUT" "${launcher[@]}" -n 1 $(before "$1") $grind \
    "$program" count "$2" $times "${others[@]}" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; return 1; }
  local own allocations
  own=$(awk -v calls=$times -v program="${4:-$library}" -f benches/own.awk "$out")
  allocations=$(awk '$2 == "allocations" { print $3 }' "$work/log")
  awk -v calls=$times -v own="$own" -v allocations="$allocations" \
    '/^(summary|totals):/ { n = $2 } END { print n / calls, own, allocations }' "$out"
}

echo
echo "instructions per call; allocations per call"
printf '%12s %12s %12s %8s %14s %14s %14s\n' call without with ratio "own, of a pair" "alloc. without" "alloc. with"
for call in allreduce allgather alltoall bcast; do
  read -r plain _ free <<<"$(count "" "$call" 1)"
  read -r loaded _ used <<<"$(count "$library" "$call" 1)"
  read -r _ own pair <<<"$(count "$library" "$call" 2)"
  awk -v c="$call" -v x="$plain" -v y="$loaded" -v o="$own" -v f="$free" -v u="$used" 'BEGIN {
    printf "%12s %12.1f %12.1f %8.3f %14.1f %14.3f %14.3f\n", c, x, y, x ? y / x : 0, o, f, u }'
done

passes="allreduce:recursive-doubling;allgather:recursive-doubling;alltoall:pairwise;broadcast:binomial"
echo
echo "served with messages, $passes"
served() {
  printf '%12s %14s %14s\n' call "own, of a pair" "alloc. with"
  for call in allreduce allgather alltoall bcast; do
    read -r _ own used <<<"$(count "$1" "$call" 2 "$2")"
    printf '%12s %14.1f %14.3f\n' "$call" "$own" "$used"
  done
}
served "$library" "$library"
if [ -n "${INTERFACE:-}" ]; then
  interface=$(realpath "$INTERFACE")
  program=$work/interface
  "mpicc.$MPI" -std=gnu11 -O2 -Wall -Wextra -DC_INTERFACE -Iruntime/capi/include -o "$program" benches/passing.c \
    "$interface" "-Wl,-rpath,$(dirname "$interface")"
  echo "the same, by the C interface"
  served "" "$interface"
fi
