#!/bin/sh
# Builds libroundel for an MPI and installs it: libraries, header, Fortran module, pkg-config and CMake files.
#
#   runtime/capi/install.sh [--prefix DIR] [--mpi openmpi|mpich] [--from DIR]
#
# --prefix DIR   where to install; default: /usr/local. DESTDIR is prepended, as packagers expect.
# --mpi NAME     which MPI, by the name of its compiler: mpicc.NAME; default: $MPICC, or mpicc.
# --from DIR     install the files already built in DIR, and build nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=/usr/local mpicc=${MPICC:-mpicc} from=

usage() {
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --prefix) prefix=$2 ;;
    --mpi) mpicc=mpicc.$2 ;;
    --from) from=$2 ;;
    *) usage ;;
  esac
  shift 2
done
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
command -v "$mpicc" >/dev/null || { echo "no $mpicc: install an MPI, or say which with --mpi or MPICC" >&2; exit 1; }

packages="-p libroundel --features libroundel/mpi"
if [ -d "$here/../pmpi" ]; then
  packages="$packages -p roundel-pmpi --features roundel-pmpi/mpi"
fi
if [ -z "$from" ]; then
  # One directory for each MPI: a changed MPICC alone does not make cargo rebuild.
  target=${CARGO_TARGET_DIR:-$here/../../target}/install-$(basename "$mpicc")
  # shellcheck disable=SC2086 # several words
  (cd "$here/../.." && MPICC=$mpicc cargo build --release $packages --target-dir "$target")
  from=$target/release
fi

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml")
major=${version%%.*}
minor=${version#*.} && minor=${minor%%.*}
to=${DESTDIR:-}$prefix
fill() {
  sed -e "s|@prefix@|$prefix|g; s|@version@|$version|g; s|@major@|$major|g" \
    -e "s|@minor@|$minor|g; s|@mpicc@|$mpicc|g" "$here/$1"
}

mkdir -p "$to/lib/pkgconfig" "$to/lib/cmake/roundel" "$to/include"
install -m 755 "$from/libroundel.so" "$to/lib/libroundel.so.$version"
ln -sf "libroundel.so.$version" "$to/lib/libroundel.so.$major"
ln -sf "libroundel.so.$major" "$to/lib/libroundel.so"
install -m 644 "$from/libroundel.a" "$to/lib/libroundel.a"
if [ -f "$from/libroundel_pmpi.so" ]; then
  install -m 755 "$from/libroundel_pmpi.so" "$to/lib/libroundel_pmpi.so"
fi
# The debug information is many times as large as the rest.
if command -v strip >/dev/null; then
  for library in "$to/lib/libroundel.so.$version" "$to/lib/libroundel.a" "$to/lib/libroundel_pmpi.so"; do
    if [ -f "$library" ]; then strip --strip-debug "$library"; fi
  done
fi
install -m 644 "$here/include/roundel.h" "$here/include/roundel.f90" "$to/include"
fill roundel.pc.in >"$to/lib/pkgconfig/roundel.pc"
fill roundelConfig.cmake.in >"$to/lib/cmake/roundel/roundelConfig.cmake"
fill roundelConfigVersion.cmake.in >"$to/lib/cmake/roundel/roundelConfigVersion.cmake"
echo "installed Roundel $version for $mpicc in $to"
