"""Reads `cell COLLECTIVE BYTES THROUGH PAST` lines of several launches and the output of ROUNDEL_EXPLAIN; prints a
table of the default against the library.

The ratio of a cell is the median over launches. Noise is the deviation of cells that the library serves either way:
nine of ten of their launches are nearer to 1.
Ends with status 1 if a cell's ratio is above the limit (the argument) by more than the noise, or that of MPI_Comm_dup,
MPI_Allreduce and MPI_Comm_free above 1.2.
"""

import re
import statistics
import sys

ONCE = 1.2
limit = float(sys.argv[1]) if len(sys.argv) > 1 else 1.05
cells, ways = {}, {}
explained = re.compile(r"roundel: (\w+) p=.*?(?:bytes=(\d+)|any number of bytes)[^:]*: (.+?), (?:by|forced)")
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["cell"]:
        cells.setdefault((words[1], int(words[2])), []).append((float(words[3]), float(words[4])))
    elif found := explained.search(line):
        ways[found[1], int(found[2]) if found[2] else None] = found[3]


def way(name, size):
    if name == "once":
        return "MPI_Comm_dup, MPI_Allreduce, MPI_Comm_free"
    if name == "alltoallv":
        return ways.get(("alltoall", None), "?")
    # A barrier is an allreduce of one byte.
    name, size = ("allreduce", 1) if name == "barrier" else (name.removesuffix("v"), size)
    return ways.get((name, size), "?")


ratios = {cell: [ours / theirs for ours, theirs in times] for cell, times in cells.items()}
passing = sorted(abs(r - 1) for cell, found in ratios.items() if way(*cell) == "library" for r in found)
noise = passing[len(passing) * 9 // 10] if passing else 0.0
worse = 0
print(f"{'collective':>15} {'bytes':>8} {'library':>10} {'default':>10} {'ratio':>6} {'launches':>13}  what it is")
for (name, size), times in sorted(cells.items()):
    found = ratios[name, size]
    ratio = statistics.median(found)
    ours, theirs = (statistics.median(side) for side in zip(*times))
    # A communicator that is created for one call has its own limit: nothing tells in advance that it is not used again.
    bad = ratio > (max(limit, ONCE) if name == "once" else limit + noise)
    worse += bad
    spread = f"{min(found):.2f} to {max(found):.2f}"
    print(f"{name:>15} {size:8} {theirs:10.1f} {ours:10.1f} {ratio:6.2f} {spread:>13}  {way(name, size)}{'  SLOWER' if bad else ''}")
if not cells:
    sys.exit("no job has printed anything")
print(f"noise {noise:.2f}; {worse} of {len(cells)} cells are above {limit} by more than that")
sys.exit(1 if worse else 0)
