"""Lines of `launch bytes variant microseconds` on standard input; a table of medians and ratios on standard output."""

import collections
import statistics
import sys

times = collections.defaultdict(dict)
for line in sys.stdin:
    launch, size, variant, time = line.split()
    times[int(size)].setdefault(variant, {})[launch] = float(time)


def ratio(variants, a, b):
    return statistics.median(variants[a][launch] / variants[b][launch] for launch in variants[a])


print(f"{'bytes':>7} {'algorithm':>9} {'generated':>10} {'C':>10} {'library':>10} {'generated/C':>12} {'generated/library':>18}")
for size, variants in sorted(times.items()):
    medians = {variant: statistics.median(values.values()) for variant, values in variants.items()}
    for algorithm in dict.fromkeys(name.split("/")[0] for name in variants if "/" in name):
        ours, theirs = f"{algorithm}/generated", f"{algorithm}/handwritten"
        print(
            f"{size:>7} {algorithm:>9} {medians[ours]:>10.2f} {medians[theirs]:>10.2f} {medians['library']:>10.2f} "
            f"{ratio(variants, ours, theirs):>12.3f} {ratio(variants, ours, 'library'):>18.3f}"
        )
