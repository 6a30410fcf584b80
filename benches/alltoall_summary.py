"""Lines of `launch bytes name microseconds` on standard input; a table of medians and ratios on standard output."""

import collections
import statistics
import sys

times = collections.defaultdict(lambda: collections.defaultdict(dict))
for line in sys.stdin:
    launch, size, name, time = line.split()
    times[int(size)][name][launch] = float(time)

for size, variants in times.items():
    library = [name for name in variants if name.startswith("MPI_Alltoall")]
    median = {name: statistics.median(values.values()) for name, values in variants.items()}
    best = min(library, key=median.get)
    print(f"\n{size} bytes per block; the library's best is {best}")
    print(f"{'variant':>26} {'median':>9} {'launches':>17} {'/best':>6} {'/MPI_Alltoall':>14}")
    for name, values in variants.items():
        def ratio(other):
            return statistics.median(values[launch] / variants[other][launch] for launch in values)
        spread = f"{min(values.values()):.1f}..{max(values.values()):.1f}"
        print(f"{name:>26} {median[name]:>9.1f} {spread:>17} {ratio(best):>6.2f} {ratio('MPI_Alltoall'):>14.2f}")
