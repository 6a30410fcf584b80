#!/bin/sh
# Has CBMC prove emitted files: no overflow, no access out of bounds, and, for the whole schedule with all ranks, that
# every send meets its receive and every block or contribution arrives exactly once. If CBMC is missing, prints a line.
#
#   tests/tools/cbmc.sh                       all algorithms for p <= 3, one for p = 16; with ROUNDEL_ALL=1 for p <= 4, some for
#                                             p = 16
#   tests/tools/cbmc.sh --all                 all algorithms for every p <= 16; takes hours
#   tests/tools/cbmc.sh --range 5 8 NAME...   these algorithms for 5 <= p <= 8
#   tests/tools/cbmc.sh --file HARNESS FIRST LAST [SIZE]   a harness that was emitted before; with nodes of that size and the next
#
# ROUNDEL is the command line program, if it is built already; CBMC the prover; JOBS the number of parallel jobs.
set -eu
cd "$(dirname "$0")/../.."
cbmc=${CBMC:-cbmc}
if ! command -v "$cbmc" >/dev/null; then
  echo "skipped: CBMC is not installed"
  exit 0
fi

# All values are constants, so arrays as large as those of the program are tracked element by element, and little is
# left to the solver. The loop limit exceeds that of any correct file; it ends the loops of a wrong one.
ask() {
  "$cbmc" "$1" -DROUNDEL_FIRST="$2" -DROUNDEL_LAST="$3" ${4:+-DROUNDEL_NODE="$4"} --unwind 1000 --unwinding-assertions \
    --no-standard-checks --signed-overflow-check --bounds-check --pointer-check --div-by-zero-check --conversion-check \
    --no-malloc-may-fail --object-bits 14 --slice-formula --max-field-sensitivity-array-size 640 --verbosity 4
}

case ${1:-} in
--file)
  shift
  ask "$@"
  exit
  ;;
--one) # DIRECTORY NAME FIRST LAST [SIZE]: one line about it
  directory=$2 name=$3 first=$4 last=$5 size=${6:-}
  range="p in $first..$last"
  [ "$first" != "$last" ] || range="p = $first${size:+, nodes of $size}"
  begin=$(date +%s)
  if answer=$(ask "$directory/$name-harness.c" "$first" "$last" $size); then
    echo "$name: proved by CBMC for $range ($(($(date +%s) - begin)) s)"
    exit
  fi
  echo "$answer" | grep -E 'FAILURE$|FAILED|ERROR' | head -n 5
  echo "$name: not proved by CBMC for $range"
  exit 1
  ;;
esac

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
roundel() { if [ -n "${ROUNDEL:-}" ]; then "$ROUNDEL" "$@"; else cargo run -q -- "$@"; fi; }
algorithms=$(roundel list | awk '/^[a-z-]+\// { print $1 }')
on_nodes="allgather/locality-bruck allgather/hierarchical allgather/multi-lane allreduce/smp \
allreduce/nap allreduce/multi-lane alltoall/leaders alltoall/hierarchical"
looks_at_nodes() { case " $on_nodes " in *" $1 "*) true ;; *) false ;; esac; }
count() { awk -v first="$1" -v last="$2" 'BEGIN { for (i = first; i <= last; i++) print i }'; }

# The questions about an algorithm for these p, a line each: nodes of one size at a time, because CBMC's memory grows
# with every call.
questions() {
  if looks_at_nodes "$1"; then
    for p in $(count "$2" "$3"); do for size in $(count 1 "$p"); do echo "$1 $p $p $size"; done; done
  else
    for p in $(count "$2" "$3"); do echo "$1 $p $p"; done
  fi
}

# Asks all of them, several in parallel.
answer() {
  list=$(cat)
  for name in $(echo "$list" | cut -d ' ' -f 1 | sort -u); do
    mkdir -p "$directory/${name%/*}"
    roundel emit c "$name" -o "$directory/$name.c" --harness "$directory/$name-harness.c" 2>/dev/null
  done
  echo "$list" | CBMC=$cbmc xargs -P "${JOBS:-$(nproc)}" -L 1 "$PWD/tests/tools/cbmc.sh" --one "$directory"
}

case ${1:-} in
--range)
  first=$2 last=$3
  shift 3
  for name in "$@"; do questions "$name" "$first" "$last"; done | answer
  ;;
--all)
  for name in $algorithms; do questions "$name" 1 16; done | answer
  ;;
"")
  large=allgather/sparbit last=3
  if [ -n "${ROUNDEL_ALL:-}" ]; then
    large="$large allgather/ring allreduce/recursive-doubling alltoall/pairwise" last=4
  fi
  {
    for name in $large; do echo "$name 16 16"; done
    for name in $algorithms; do
      if looks_at_nodes "$name"; then echo "$name 3 3"; else echo "$name 1 $last"; fi
    done
  } | answer
  ;;
*)
  echo "usage: $0 [--all | --range FIRST LAST NAME... | --file HARNESS FIRST LAST [SIZE]]" >&2
  exit 2
  ;;
esac
