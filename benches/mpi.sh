# Sourced by the scripts beside it: builds the benchmark $BENCH for $MPI and defines how to launch it.
BENCH=${BENCH:-allgather_bench}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [ "${QUICK:-0}" = 1 ]; then
  # Built like the programs of the tests, so that little is rebuilt; but counted code is optimised as in a release.
  settings=()
  for package in roundel roundel-tests mpi; do
    for setting in opt-level=3 debug-assertions=false overflow-checks=false codegen-units=1; do
      settings+=(--config "profile.dev.package.$package.$setting")
    done
  done
  directory=debug
else
  settings=(--release) directory=release
fi
# Keeps the names of functions, because benches/instructions.sh counts instructions inside one of them.
CARGO_PROFILE_RELEASE_STRIP=none MPICC=mpicc.$MPI cargo build --quiet -p roundel-tests --features bench \
  --bin "$BENCH" --target-dir "target/$MPI" "${settings[@]}"
program=$(realpath "target/$MPI/$directory/$BENCH")
case $MPI in
openmpi) launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1) ;;
mpich)
  # Waiting ranks must yield if there are more ranks than processors.
  cc -O2 -shared -fPIC -o "target/$MPI/yieldshim.so" tests/tools/yieldshim.c -ldl
  launcher=(mpirun.mpich -genv LD_PRELOAD "$PWD/target/$MPI/yieldshim.so") ;;
esac
launch() { timeout -k 5 "${TIMEOUT:-300}" "${launcher[@]}" -n "$@"; }
