#!/bin/sh
# Builds the programs that run on real MPI, and the libraries for other programs, once for each MPI that is installed,
# and prints the settings with which `cargo test -p roundel-tests --test mpi` finds them:
#
#   eval "$(tests/tools/build-mpi.sh)" && cargo test -p roundel-tests --test mpi
#
# One target directory per MPI: a changed MPICC alone does not make cargo build again. Optimised a little, because
# the programs compare a lot of data, and more would take longer than it saves; with debug assertions, because they are tests.
set -eu
cd "$(dirname "$0")/../.."
build() {
  MPICC="mpicc.$1" CARGO_PROFILE_DEV_OPT_LEVEL=1 \
    cargo build --quiet -p roundel-tests -p roundel-pmpi -p roundel-capi \
    --features roundel-tests/mpi,roundel-pmpi/mpi,roundel-capi/mpi --lib --bins --target-dir "target/$1" >&2
}
# At the same time: the longest crate of one alone keeps no two processors busy.
builds=
for mpi in openmpi mpich; do
  if ! command -v "mpicc.$mpi" >/dev/null; then
    echo "no mpicc.$mpi: the tests on it will be skipped" >&2
    continue
  fi
  build "$mpi" &
  builds="$builds $!"
  echo "export ROUNDEL_MPI_$(echo "$mpi" | tr '[:lower:]' '[:upper:]')=$PWD/target/$mpi/debug"
done
for build in $builds; do wait "$build"; done
