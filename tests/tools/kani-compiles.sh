#!/usr/bin/env bash
# Checks that `cargo kani` would find what it needs, and that everything compiles as under Kani: with `--cfg kani`, and
# a stand-in for the crate `kani`. Takes seconds, and does not need Kani.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Kani puts these flags before the user's, and then refuses `-p NAME`.
settings=$(sed -n '/^\[workspace\.metadata\.kani\.flags\]/,/^$/p' Cargo.toml)
if grep -E '^(workspace|exclude|package) *=' <<<"$settings"; then
  echo "Cargo.toml: with this setting \`cargo kani -p NAME\` is refused;" \
    "\`default-members\` say what \`cargo kani\` proves" >&2
  exit 1
fi

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/kani-stand-in"
libraries=$(cd "$target/kani-stand-in" && pwd)
compile() { rustc --edition 2024 --out-dir "$libraries" -L "$libraries" "$@"; }
compile --crate-name kani_macros --crate-type proc-macro tests/kani-stand-in/macros.rs
compile --crate-name kani --crate-type rlib --extern kani_macros tests/kani-stand-in/kani.rs

# Kani builds for an explicit target, so that code that runs on the host (macros) is not affected.
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg kani -L $libraries --extern kani=$libraries/libkani.rlib -D warnings" \
  cargo check --quiet --target "$host"
echo "the harnesses compile as Kani compiles them"
