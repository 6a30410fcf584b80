#!/usr/bin/env bash
# Checks that exactly the harnesses of expected.txt fail as tests, and that Kani, if installed, refutes those that the
# first table of docs/kani.md names (one for each fault). Arguments are passed on to `cargo kani`.
set -euo pipefail
cd "$(dirname "$0")"

# As a test of the workspace, with all its packages and the features in ROUNDEL_BUILT, so that cargo finds what it has
# built for the other tests. The tests are expected to fail; the output shows whether they were built at all.
test=(cargo test --workspace --features "roundel-ui-tests/wrong,${ROUNDEL_BUILT:-}" --test refuted)
failed=$({ (cd ../.. && "${test[@]}") 2>/dev/null || true; } |
  sed -n 's/^test \(roundel_[a-z0-9_]*\) \.\.\. FAILED$/\1/p' | LC_ALL=C sort)
diff <(LC_ALL=C sort expected.txt) <(printf '%s\n' "$failed")
echo "plain: $(wc -l < expected.txt) harnesses refute the wrong collectives, and no other one fails"

if ! ../tools/kani-works.sh; then
  echo "skipped: Kani is not installed, or its setup is not complete"
  exit
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-../../target/kani-mutants}"
refuted=(
  roundel_incomplete_whole_1_to_16
  roundel_not_held_whole_1_to_16
  roundel_not_ignored_whole_1_to_16
  roundel_overflows_functions
  roundel_public_rule_turn_2_1_to_16_nodes_of_2
  roundel_to_itself_sends_match
  roundel_too_many_nodes_turn_1_1_to_16_nodes_of_2
  roundel_twice_whole_1_to_16
  roundel_wrong_bound_whole_1_to_16
  roundel_wrong_count_receives_match
  roundel_wrong_fact_facts
  roundel_wrong_order_sends_match
  roundel_wrong_peer_receives_match
)
chosen=()
# Kani sees the proofs in the anonymous scope in which they are emitted.
for name in "${refuted[@]}"; do chosen+=(--harness "_::$name"); done
report=$(cargo kani --target-dir "$CARGO_TARGET_DIR" -j 2 --output-format terse --exact "${chosen[@]}" "$@" 2>&1) || true
grep -q "Complete - 0 successfully verified harnesses, ${#refuted[@]} failures" <<<"$report" || {
  tail -n 40 <<<"$report"
  exit 1
}
echo "Kani: ${#refuted[@]} harnesses refute the wrong collectives"
