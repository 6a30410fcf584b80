#!/usr/bin/env bash
# Whether `cargo kani` would find what it needs, and whether everything compiles as it does then: with `--cfg kani`, and a stand-in for
# the crate `kani`. Kani itself is not needed; it takes seconds.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Kani puts these before what the user says, and refuses `-p NAME` beside them.
settings=$(sed -n '/^\[workspace\.metadata\.kani\.flags\]/,/^$/p' Cargo.toml)
if grep -E '^(workspace|exclude|package) *=' <<<"$settings"; then
  echo "Cargo.toml: with this setting \`cargo kani -p NAME\` is refused; \`default-members\` say what \`cargo kani\` proves" >&2
  exit 1
fi

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/kani-stand-in"
libraries=$(cd "$target/kani-stand-in" && pwd)
compile() { rustc --edition 2024 --out-dir "$libraries" -L "$libraries" "$@"; }
compile --crate-name kani_macros --crate-type proc-macro tests/kani-stand-in/macros.rs
compile --crate-name kani --crate-type rlib --extern kani_macros tests/kani-stand-in/kani.rs

# As Kani builds: for a target of its own, so that what runs on the host (macros) is not concerned.
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg kani -L $libraries --extern kani=$libraries/libkani.rlib -D warnings" cargo check --quiet --target "$host"
echo "the harnesses compile as Kani compiles them"
