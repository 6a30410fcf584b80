#!/bin/sh
# Has CBMC prove the emitted schedules for p <= 16: no overflow, no access out of bounds, peers and blocks in range, and of all
# that do not reduce that every block arrives once. Takes names of the catalogue; where CBMC is absent one line says so.
#
#   tests/tools/cbmc.sh allgather/sparbit allgather/ring
set -eu
cd "$(dirname "$0")/../.."
if ! command -v cbmc >/dev/null; then
  echo "skipped: CBMC is not installed"
  exit 0
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for name in "$@"; do
  cargo run -q -- emit c "$name" -o "$directory/emitted.c"
  # Loops over blocks of an all-to-all have p^2 steps, all others p, or as many as a number has bits.
  case $name in alltoall/*) unwind=258 ;; *) unwind=66 ;; esac
  cbmc "$directory/emitted.c" -DROUNDEL_CBMC --unwind "$unwind" --unwinding-assertions --signed-overflow-check \
    --bounds-check --pointer-check --div-by-zero-check --conversion-check --verbosity 4
  echo "$name: proved by CBMC for p <= 16"
done
