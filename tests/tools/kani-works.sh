#!/usr/bin/env bash
# Checks that Kani can prove something here: it may be installed without the files that `cargo kani setup` downloads.
set -euo pipefail
command -v cargo-kani >/dev/null || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '#[kani::proof] fn one() { assert!(kani::any::<u8>() as u16 <= 255) }' >"$work/one.rs"
cd "$work"
kani one.rs >/dev/null 2>&1
