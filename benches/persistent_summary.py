"""Lines of `launch collective bytes name microseconds` on standard input; a table of medians and ratios on standard output."""

import collections
import statistics
import sys

times = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))
for line in sys.stdin:
    launch, collective, size, name, time = line.split()
    times[collective][int(size)][name][launch] = float(time)


def median(values):
    return statistics.median(values.values())


for collective, sizes in times.items():
    print(f"\n{collective}\n{'bytes':>9} {'library':>20} {'us':>9} {'noise':>6} {'ours':>9} {'ratio':>6} {'init us':>9} {'pays after':>11}")
    for size, variants in sizes.items():
        library = [name for name in variants if name.startswith("MPI") and not name.endswith("/init")]
        best = min(library, key=lambda name: median(variants[name]))
        theirs, ours = variants[best], variants["ours"]
        # Half of the range of the library's own times over the launches, relative to their median.
        noise = (max(theirs.values()) - min(theirs.values())) / 2 / median(theirs)
        ratio = statistics.median(ours[launch] / theirs[launch] for launch in ours)
        init = median(variants["ours/init"])
        saved = median(theirs) - median(ours)
        pays = f"{init / saved:.0f} calls" if saved > 0 else "never"
        print(f"{size:>9} {best:>20} {median(theirs):>9.2f} {noise:>6.2f} {median(ours):>9.2f} {ratio:>6.2f} {init:>9.1f} {pays:>11}")
