# Sourced by the scripts beside it: builds the benchmark for $MPI and defines how to launch it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
MPICC=mpicc.$MPI cargo build --quiet --release -p roundel-tests --features bench --bin allgather_bench --target-dir "target/$MPI"
program=$(realpath "target/$MPI/release/allgather_bench")
case $MPI in
openmpi) launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1) ;;
mpich)
  # Ranks that wait must give way when there are more of them than processors.
  cc -O2 -shared -fPIC -o "target/$MPI/yieldshim.so" tests/tools/yieldshim.c -ldl
  launcher=(mpirun.mpich -genv LD_PRELOAD "$PWD/target/$MPI/yieldshim.so") ;;
esac
launch() { timeout -k 5 "${TIMEOUT:-300}" "${launcher[@]}" -n "$@"; }
