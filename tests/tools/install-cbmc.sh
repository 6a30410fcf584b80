#!/bin/sh
# Installs CBMC as DIRECTORY/cbmc and prints that path; nothing else on the machine changes. The package is that of
# Debian 13, with its libraries, so that it also runs on Debian 12, which has no CBMC.
#
#   tests/tools/install-cbmc.sh target/cbmc
set -eu
mkdir -p "$1"
directory=$(cd "$1" && pwd)
if "$directory/cbmc" --version >/dev/null 2>&1; then
  echo "$directory/cbmc"
  exit
fi

# The archive that the machine uses for its packages, with separate package lists.
archive=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 'Component: main' |
  awk '$1 == "Debian" { print $2; exit }')
[ -n "$archive" ] || { echo "this machine has no Debian archive" >&2; exit 1; }
mkdir -p "$directory/sources" "$directory/lists/partial" "$directory/archives/partial" "$directory/packages"
: >"$directory/status"
cat >"$directory/sources/debian.sources" <<END
Types: deb
URIs: $archive
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
get() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$directory/sources" \
    -o Dir::State::Lists="$directory/lists" \
    -o Dir::State::status="$directory/status" -o Dir::Cache::archives="$directory/archives" -o Dir::Cache::pkgcache="" \
    -o Dir::Cache::srcpkgcache="" -o APT::Sandbox::User=root "$@" >&2
}
get update
(cd "$directory/packages" && get download cbmc minisat libc6 libgcc-s1 libstdc++6 zlib1g libjemalloc2)
for package in "$directory"/packages/*.deb; do dpkg-deb -x "$package" "$directory/root"; done
rm -rf "$directory/sources" "$directory/lists" "$directory/archives" "$directory/packages" "$directory/status"

# Its own loader finds its own libraries. It allocates a lot: with jemalloc it takes three quarters of the time.
loader=$(find "$directory/root/usr" -name 'ld-linux*' | head -n 1)
libraries=$(dirname "$(find "$directory/root/usr" -name libc.so.6 | head -n 1)")
cat >"$directory/cbmc" <<END
#!/bin/sh
exec "$loader" --preload "$libraries/libjemalloc.so.2" --library-path "$libraries:$directory/root/usr/lib" "$directory/root/usr/bin/cbmc" "\$@"
END
chmod +x "$directory/cbmc"
"$directory/cbmc" --version >/dev/null
echo "$directory/cbmc"
