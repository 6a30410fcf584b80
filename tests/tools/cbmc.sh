#!/bin/sh
# Has CBMC prove emitted files: no overflow, no access out of bounds, and of the whole schedule with all ranks that every send meets
# its receive and every block or contribution arrives exactly once. Where CBMC is absent one line says so.
#
#   tests/tools/cbmc.sh                       all algorithms for p <= 4, those that look at nodes for p = 3, some for p = 16
#   tests/tools/cbmc.sh --all                 all algorithms for every p <= 16; takes hours
#   tests/tools/cbmc.sh --range 5 8 NAME...   these algorithms for 5 <= p <= 8
#   tests/tools/cbmc.sh --file FILE FIRST LAST   a file that was emitted before
#
# ROUNDEL is the command line program, if it is built already; CBMC the prover.
set -eu
cd "$(dirname "$0")/../.."
cbmc=${CBMC:-cbmc}
if ! command -v "$cbmc" >/dev/null; then
  echo "skipped: CBMC is not installed"
  exit 0
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
seconds() { date +%s; }

# All values are constants, so that arrays as large as those of the program are kept element by element, and little is left to
# the solver. The limit of loops is beyond all that the files have; it ends those of a wrong file.
ask() {
  "$cbmc" "$1" -DROUNDEL_CBMC -DROUNDEL_FIRST="$2" -DROUNDEL_LAST="$3" --unwind 1000 --unwinding-assertions --no-standard-checks \
    --signed-overflow-check --bounds-check --pointer-check --div-by-zero-check --conversion-check --no-malloc-may-fail \
    --object-bits 14 --slice-formula --max-field-sensitivity-array-size 640 --verbosity 4
}

roundel() { if [ -n "${ROUNDEL:-}" ]; then "$ROUNDEL" "$@"; else cargo run -q -- "$@"; fi; }

prove() {
  begin=$(seconds)
  roundel emit c "$1" -o "$directory/emitted.c" 2>/dev/null
  if ! ask "$directory/emitted.c" "$2" "$3" >"$directory/answer"; then
    grep -E 'FAILURE|rror|FAILED' "$directory/answer" | head -n 5
    echo "$1: refuted by CBMC, for some p in $2..$3"
    exit 1
  fi
  echo "$1: proved by CBMC for p in $2..$3 ($(($(seconds) - begin)) s)"
}

algorithms() { roundel list | awk '$1 ~ "/" && NF > 3 { print $1 }'; }
on_nodes="allgather/locality-bruck allgather/hierarchical allgather/multi-lane allreduce/smp allreduce/nap alltoall/leaders alltoall/hierarchical"
looks_at_nodes() { case " $on_nodes " in *" $1 "*) true ;; *) false ;; esac; }

case ${1:-} in
--file)
  ask "$2" "$3" "$4"
  ;;
--range)
  first=$2 last=$3
  shift 3
  for name in "$@"; do prove "$name" "$first" "$last"; done
  ;;
--all)
  for name in $(algorithms); do
    for p in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do prove "$name" "$p" "$p"; done
  done
  ;;
"")
  for name in $(algorithms); do
    if looks_at_nodes "$name"; then prove "$name" 3 3; else prove "$name" 1 4; fi
  done
  for name in allgather/sparbit allreduce/recursive-doubling alltoall/pairwise; do prove "$name" 16 16; done
  ;;
*)
  echo "usage: $0 [--all | --range FIRST LAST NAME... | --file FILE FIRST LAST]" >&2
  exit 2
  ;;
esac
