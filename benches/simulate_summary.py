"""Lines of `measured|simulated name bytes microseconds` on standard input; a table with errors on standard output."""

import collections
import statistics
import sys

times = {"measured": collections.defaultdict(list), "simulated": collections.defaultdict(list)}
for line in sys.stdin:
    how, name, size, time = line.split()
    times[how][name, int(size)].append(float(time))

print("| collective | bytes | measured | launches | simulated | simulated / measured |\n|---|---|---|---|---|---|")
ratios = []
for (name, size), launches in times["measured"].items():
    (simulated,) = times["simulated"][name, size]
    median = statistics.median(launches)
    ratios.append(simulated / median)
    print(f"| {name} | {size} | {median:.0f} | {min(launches):.0f} to {max(launches):.0f} | {simulated:.0f} "
          f"| {ratios[-1]:.2f} |")

off = sorted(max(ratio, 1 / ratio) for ratio in ratios)
print(f"\noff by a factor of {statistics.median(off):.2f} in the median, {off[-1]:.2f} at most; "
      f"the ratio lies between {min(ratios):.2f} and {max(ratios):.2f}")
pairs = [(a, b) for a in times["measured"] for b in times["measured"]
         if a < b and a[1] == b[1] and a[0].split("/")[0] == b[0].split("/")[0]]
measured = {key: statistics.median(values) for key, values in times["measured"].items()}
same = sum((measured[a] < measured[b]) == (times["simulated"][a][0] < times["simulated"][b][0]) for a, b in pairs)
print(f"which of two collectives of a kind is faster: the same in {same} of {len(pairs)} cases")
