# Sourced by the scripts that count instructions, after mpi.sh: needs $RANKS, $RANK, $CALLS and the directory $work.

# count PROGRAM ARGUMENTS...: instructions per call of one rank in the program itself.
count() {
  local run=("$@") out
  out=$work/$(echo "$*" | tr '/ ' '--')
  local grind=(valgrind -q --tool=callgrind --collect-atstart=no --toggle-collect=measured --callgrind-out-file="$out")
  local before=() after=()
  [ "$RANK" -gt 0 ] && before=(-n "$RANK" "${run[@]}" :)
  [ "$RANK" -lt $((RANKS - 1)) ] && after=(: -n $((RANKS - 1 - RANK)) "${run[@]}")
  timeout -k 5 300 "${launcher[@]}" "${before[@]}" -n 1 "${grind[@]}" "${run[@]}" "${after[@]}" >"$out.log" 2>&1 ||
    { cat "$out.log" >&2; return 1; }
  awk -v calls="$CALLS" -v program="$1" -f benches/own.awk "$out"
}
