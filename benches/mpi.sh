# Sourced by the scripts beside it: builds the benchmark $BENCH for $MPI and defines how to launch it.
BENCH=${BENCH:-allgather_bench}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
target=target/$MPI
if [ "${QUICK:-0}" = 1 ]; then
  # Built like the programs of the tests, so that little is rebuilt; but counted code is optimised as in a release.
  # tests/run.sh has built those for Open MPI with the tests, with these features.
  settings=(-p roundel-tests --features bench)
  if [ -n "${ROUNDEL_BUILT:-}" ]; then
    target=target settings=(--workspace --features "roundel-tests/bench,$ROUNDEL_BUILT")
  fi
  for package in roundel roundel-tests mpi; do
    for setting in opt-level=3 debug-assertions=false overflow-checks=false codegen-units=1; do
      settings+=(--config "profile.dev.package.$package.$setting")
    done
  done
  directory=debug
else
  settings=(--release -p roundel-tests --features bench) directory=release
fi
# Keeps the names of functions, because benches/instructions.sh counts instructions inside one of them.
CARGO_PROFILE_RELEASE_STRIP=none MPICC=mpicc.$MPI cargo build --quiet --bin "$BENCH" --target-dir "$target" "${settings[@]}"
program=$(realpath "$target/$directory/$BENCH")
case $MPI in
openmpi) launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1) ;;
mpich)
  # Waiting ranks must yield if there are more ranks than processors.
  cc -O2 -shared -fPIC -o "$target/yieldshim.so" tests/tools/yieldshim.c -ldl
  launcher=(mpirun.mpich -genv LD_PRELOAD "$PWD/$target/yieldshim.so") ;;
esac
launch() { timeout -k 5 "${TIMEOUT:-300}" "${launcher[@]}" -n "$@"; }
