#!/bin/sh
# Builds the programs that run on real MPI, and the libraries for other programs, once for each MPI that is installed,
# and prints the settings with which `cargo test -p roundel-tests --test mpi` finds them:
#
#   eval "$(tests/tools/build-mpi.sh)" && cargo test -p roundel-tests --test mpi
#
# With --only NAME, for that MPI only. With --all, also the libraries for Open MPI 5 and MPICH 5, which
# tests/tools/install-mpi.sh installs. With --share, nothing is built; earlier builds are copied to where the build for
# MPICH finds what does not depend on MPI.
#
# One target directory per MPI, because cargo does not rebuild if only MPICC changes.
set -eu
cd "$(dirname "$0")/../.."

setting() { echo "export ROUNDEL_MPI_$(echo "$1" | tr '[:lower:]' '[:upper:]')$2=$3"; }

# share NAME: starts with the builds without MPI.
share() {
  if [ ! -d "target/$1" ] && [ -d target/debug ]; then
    mkdir -p "target/$1/debug/deps"
    cp -a target/debug/.fingerprint target/debug/build "target/$1/debug"
    # Libraries only, not programs.
    find target/debug/deps -maxdepth 1 -name '*.*' -exec cp -a -t "target/$1/debug/deps" {} +
  fi
}

mpis="openmpi mpich"
all=
while [ $# -gt 0 ]; do
  case $1 in
  --only)
    mpis=$2
    shift
    ;;
  --all) all=1 ;;
  --share)
    share mpich
    exit
    ;;
  esac
  shift
done

# build NAME MPICC [the package of the programs]
build() {
  programs=${3:-}
  share "$1"
  MPICC=$2 cargo build --quiet --target-dir "target/$1" \
    ${programs:+-p "$programs" --features "$programs/mpi" -p cyclic-shift --features cyclic-shift/mpi --bins} \
    -p roundel-pmpi -p libroundel --features roundel-pmpi/mpi,libroundel/mpi \
    -p cyclic-shift-preload -p cyclic-shift-c --features cyclic-shift-preload/mpi,cyclic-shift-c/mpi --lib >&2
}

# In parallel: the longest crate of one build cannot keep two processors busy.
builds=
for mpi in $mpis; do
  if ! command -v "mpicc.$mpi" >/dev/null; then
    echo "no mpicc.$mpi: the tests on it will be skipped" >&2
    continue
  fi
  build "$mpi" "mpicc.$mpi" roundel-tests &
  builds="$builds $!"
  setting "$mpi" "" "$PWD/target/$mpi/debug"
done
for build in $builds; do wait "$build"; done

[ -n "$all" ] || exit 0
for mpi in openmpi5 mpich5; do
  bin=$(tests/tools/install-mpi.sh "$mpi" "target/mpi/$mpi")
  build "$mpi" "$bin/mpicc"
  setting "$mpi" "" "$PWD/target/$mpi/debug"
  setting "$mpi" _BIN "$bin"
done
# MPICH 5 again, with the ABI of MPI 5. Tests call its compiler and launcher by their usual names.
abi=$PWD/runtime/pmpi/abi
MPICC_ABI=$bin/mpicc_abi BINDGEN_EXTRA_CLANG_ARGS="-include $abi/handles.h -DMPI_ABI" build mpich5abi "$abi/mpicc"
mkdir -p target/mpi/mpich5abi
for tool in "mpirun $bin/mpirun" "mpicc $bin/mpicc_abi"; do
  printf '#!/bin/sh\nexec %s "$@"\n' "${tool#* }" >"target/mpi/mpich5abi/${tool%% *}"
  chmod +x "target/mpi/mpich5abi/${tool%% *}"
done
setting mpich5abi "" "$PWD/target/mpich5abi/debug"
setting mpich5abi _BIN "$PWD/target/mpi/mpich5abi"
