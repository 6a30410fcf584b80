#!/usr/bin/env bash
# Sets up what the tests need (two MPIs, a solver, a model checker) and runs all of them. The last lines are the test
# runner's summary.
#
#   tests/run.sh          what every change must pass
#   tests/run.sh --quick  while you edit: lints, unit tests, one MPI with two and three ranks
#   tests/run.sh --all    also what takes long: all wrong declarations and mutants, more ranks, every proof again,
#                         Open MPI 5, MPICH 5, soak
set -euo pipefail
cd "$(dirname "$0")/.."

quick=
case ${*:-} in
  "") ;;
  --quick) quick=1 ;;
  --all) export ROUNDEL_ALL=1 ;;
  *)
    sed -n '5,8s/^#   //p' "$0" >&2
    exit 2
    ;;
esac

# Prints the elapsed time with each step, and the processor time of the steps before it.
say() {
  local stat=()
  # Times of the processes that have ended, in hundredths of a second.
  read -r -a stat <"/proc/$BASHPID/stat"
  local used=$(((stat[15] + stat[16]) / 100))
  printf '\n== %d:%02d (processors %d:%02d) %s\n' \
    $((SECONDS / 60)) $((SECONDS % 60)) $((used / 60)) $((used % 60)) "$*"
}

# Sets `missing` to the packages that the tests need and this machine lacks.
find_missing() {
  missing=()
  command -v cc >/dev/null || missing+=(build-essential)
  command -v mpicc.openmpi >/dev/null || missing+=(openmpi-bin libopenmpi-dev)
  command -v mpicc.mpich >/dev/null || missing+=(mpich libmpich-dev)
  # Not libclang-cpp, which other packages install.
  ldconfig -p | grep -E 'libclang(-[0-9.]+)?\.so' >/dev/null || missing+=(libclang-dev)
  # Both MPIs' Fortran wrappers call it.
  command -v gfortran >/dev/null || missing+=(gfortran)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v pkg-config >/dev/null || missing+=(pkg-config)
  command -v valgrind >/dev/null || missing+=(valgrind)
  command -v z3 >/dev/null || missing+=(z3)
  command -v ip >/dev/null || missing+=(iproute2)
  command -v chromium >/dev/null || missing+=(chromium)
  command -v chromedriver >/dev/null || missing+=(chromium-driver)
  if [ -n "${ROUNDEL_ALL:-}" ]; then python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv); fi
}

install_missing() {
  local root=()
  [ "$(id -u)" = 0 ] || root=(sudo)
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null
}

# The answers of solvers: many tests prove the same.
export ROUNDEL_CACHE=$PWD/target/answers

# One build has the tests, and the programs and libraries for Open MPI. Clippy compiles it: linting what is compiled
# anyway costs a tenth, and a pass of its own half as much as the build. The tests that build, too, use the same settings.
export MPICC=mpicc.openmpi
packages=(roundel roundel-verify roundel-tests roundel-pmpi roundel-capi libroundel)
packages+=(cyclic-shift cyclic-shift-preload cyclic-shift-c)
ROUNDEL_BUILT=$(printf '%s/mpi,' "${packages[@]}")
export ROUNDEL_BUILT
linted() { RUSTC_WORKSPACE_WRAPPER=clippy-driver "$@"; }
cargo clippy --version >/dev/null 2>&1 || linted() { "$@"; }
built() { linted "$@" --workspace --features "$ROUNDEL_BUILT"; }

find_missing
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  install_missing &
  installing=$!
  # Meanwhile, what needs none of them compiles. With this name no MPI is found, however far the installation is.
  if [ -z "$quick" ] && command -v cc >/dev/null; then
    MPI_PKG_CONFIG=none built cargo build --lib --bins --tests --keep-going --quiet >/dev/null 2>&1 || true
  fi
  wait "$installing"
fi

say "format"
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; else echo "skipped: cargo fmt is not installed"; fi
lint() { cargo clippy "$@" --all-targets -- -D warnings; }
cargo clippy --version >/dev/null 2>&1 || lint() { echo "skipped: cargo clippy is not installed"; }

if [ -n "$quick" ]; then
  quick_tests() { cargo test --workspace "$@"; }
  if cargo nextest --version >/dev/null 2>&1; then quick_tests() { cargo nextest run --workspace "$@"; }; fi
  export ROUNDEL_REQUIRE=1 ROUNDEL_QUICK=1
  say "lints"
  lint --workspace
  say "unit tests"
  quick_tests --lib --bins
  say "one MPI"
  settings=$(tests/tools/build-mpi.sh --only openmpi)
  eval "$settings"
  quick_tests --test mpi programs_on_open_mpi
  say "done"
  exit
fi

logs=$(mktemp -d)

# Tests that launch MPI jobs, and all others.
if cargo nextest --version >/dev/null 2>&1; then
  on_mpi='package(roundel-tests) & (binary(mpi) | binary(interposed) | binary(capi))'
  # What was built is described in files, so that running it does not wait for other builds.
  describe_tests() {
    built cargo nextest list --list-type binaries-only --message-format json >"$logs/binaries.json"
    cargo metadata --format-version 1 >"$logs/metadata.json"
  }
  run_tests() {
    linted cargo nextest run --binaries-metadata "$logs/binaries.json" --cargo-metadata "$logs/metadata.json" \
      --no-fail-fast "$@"
  }
  mpi_tests() { run_tests --profile mpi -E "$on_mpi"; }
  other_tests() { run_tests -E "not ($on_mpi)"; }
else
  describe_tests() { :; }
  mpi_tests() { built cargo test --no-fail-fast --test mpi --test interposed --test capi; }
  # Without these settings, tests on MPI skip themselves.
  other_tests() {
    built env -u ROUNDEL_REQUIRE -u ROUNDEL_MPI_OPENMPI -u ROUNDEL_MPI_MPICH \
      cargo test --lib --bins --tests --no-fail-fast
  }
fi
# Fails if the compiler or Clippy has warned of something.
without_warnings() {
  if grep -qE '^warning' "$1"; then
    cat "$1"
    return 1
  fi
}

others=
trap '[ -z "$others" ] || kill -- "-$others" 2>/dev/null; rm -rf "$logs"' EXIT

say "tests, and programs for Open MPI"
# With the libraries that C programs load, which tests alone would not build.
built cargo build --lib --bins --tests 2>&1 | tee "$logs/build"
without_warnings "$logs/build"
describe_tests
export ROUNDEL_MPI_OPENMPI=$PWD/target/debug
roundel() { target/debug/roundel "$@"; }
export ROUNDEL=$PWD/target/debug/roundel
if ! command -v cbmc >/dev/null && CBMC=$(tests/tools/install-cbmc.sh target/cbmc); then export CBMC; fi
tests/tools/build-mpi.sh --share

# Everything has been installed: a test that cannot run is a failure. The same random cases each time, unless the seed is
# set.
export ROUNDEL_REQUIRE=1 ROUNDEL_SEED=${ROUNDEL_SEED:-20261116}

# Everything that launches no MPI job. It runs beside the builds for the MPIs, and ends before the first job begins.
without_jobs() {
  say "documentation"
  RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
  # The reference of the language is where the derive is.
  grep -q 'ceil_log' target/doc/roundel/derive.Collective.html
  # The examples of the reference are also those of `roundel`, and run there.
  built cargo test --exclude roundel-macros --doc

  say "the command line: proofs and their records"
  # The tests check everything with few ranks, and prove these one by one.
  if [ -n "${ROUNDEL_ALL:-}" ]; then
    roundel check --all
    roundel prove allgather/ --engine smt --require-all-p --no-record
    roundel prove alltoall/{spread-out,pairwise,modified-bruck,k-bruck} --engine smt --require-all-p --no-record
    roundel prove allreduce/ reduce-scatter/ --engine exhaustive --no-record
    roundel prove broadcast/ reduce/ gather/ scatter/ --engine exhaustive -p 1..=64 --no-record
  fi
  roundel prove examples/cyclic-shift/src/lib.rs --require-all-p --no-record
  # Checks that the records match the prover: every question in them is one that it asks today.
  roundel prove --verify-records
  roundel prove --verify-records examples/cyclic-shift/src/lib.rs
  # With --all, checks that a solver still gives every answer.
  if [ -n "${ROUNDEL_ALL:-}" ]; then roundel prove --verify-records --again --limit 20; fi

  say "Kani"
  tests/tools/kani-compiles.sh
  if tests/tools/kani-works.sh; then
    cargo kani --target-dir target/kani -j 2 --output-format terse
  else
    echo "skipped: Kani is not installed, or its setup is not complete"
  fi

  say "CBMC on emitted C"
  tests/tools/cbmc.sh

  # By now nothing else builds there.
  say "wrong collectives, for the harnesses to refute"
  linted tests/kani-mutants/run.sh

  say "tests without MPI"
  other_tests
  # The command line that was not built with MPI.
  if [ -n "${ROUNDEL_ALL:-}" ]; then cargo test -p roundel-verify --test commands ports::; fi
}
# With a process group of its own, so that it ends if something fails here.
set -m
without_jobs >"$logs/without_jobs" 2>&1 &
others=$!
set +m

say "programs for MPICH"
# The types behind MPI's C names differ between MPIs.
settings=$(linted tests/tools/build-mpi.sh --only mpich ${ROUNDEL_ALL:+--all} 2>"$logs/mpich") || { cat "$logs/mpich"; exit 1; }
eval "$settings"
without_warnings "$logs/mpich"

# Not compiled by Clippy, which leaves out optimisations: generated code would have one instruction in a hundred more.
say "instructions of generated code, against C"
QUICK=1 benches/instructions.sh

say "instructions of emitted C, against generated code"
QUICK=1 benches/emitted.sh

# Ranks that wait give way, and beside anything that computes, every wait costs a time slice: a job of two seconds takes
# minutes. So jobs run alone.
say "the end of everything that launches no job"
failed=
wait "$others" || failed=1
others=

say "tests on MPI"
mpi_tests || failed=1

say "everything that launched no job"
cat "$logs/without_jobs"
[ -z "$failed" ]
