"""Reads `with|without NAME [BYTES] NUMBER` lines; prints medians, and the ratio of those with the library to those without."""

import statistics
import sys

found = {}
for line in sys.stdin:
    words = line.split()
    if len(words) < 3 or words[0] not in ("with", "without"):
        continue
    name = " ".join(words[1:-1])
    found.setdefault(name, {}).setdefault(words[0], []).append(float(words[-1]))

unit = sys.argv[1] if len(sys.argv) > 1 else "us"
print(f"{'call':>24} {'without ' + unit:>16} {'with ' + unit:>16} {'ratio':>8} {'noise':>8}")
for name, sides in found.items():
    if len(sides) < 2:
        continue
    without, preloaded = (statistics.median(sides[side]) for side in ("without", "with"))
    # The spread of the launches without the library.
    noise = (max(sides["without"]) - min(sides["without"])) / without if without else 0.0
    ratio = f"{preloaded / without:.3f}" if without else "-"
    print(f"{name:>24} {without:16.3f} {preloaded:16.3f} {ratio:>8} {noise:8.0%}")
