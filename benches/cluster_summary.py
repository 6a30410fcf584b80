"""Lines of `launch name microseconds` on standard input; a table of medians and ratios on standard output."""

import collections
import statistics
import sys

times = collections.defaultdict(dict)
for line in sys.stdin:
    launch, name, time = line.split()
    times[name][launch] = float(time)

rounds = times.pop("rounds")
one_way = times.pop("one-way")
floor = {launch: rounds[launch] * one_way[launch] for launch in rounds}


def ratio(a, b):
    return statistics.median(a[launch] / b[launch] for launch in a)


def spread(values):
    return f"{min(values.values()):.0f}..{max(values.values()):.0f}"


print(f"one way between nodes {statistics.median(one_way.values()):.0f} ({spread(one_way)}), "
      f"rounds needed {statistics.median(rounds.values()):.0f}, floor {statistics.median(floor.values()):.0f}")
print(f"{'variant':>30} {'median':>8} {'launches':>12} {'/floor':>7}  ratio to the others of its kind")
for name, values in times.items():
    kind = name.split("/")[0]
    others = [other for other in times if other.startswith(kind + "/") and other != name]
    ratios = ", ".join(f"{ratio(values, times[other]):.2f} of {other.split('/')[1]}" for other in others)
    print(f"{name:>30} {statistics.median(values.values()):>8.0f} {spread(values):>12} {ratio(values, floor):>7.2f}  {ratios}")
