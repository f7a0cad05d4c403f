"""Get the next batch of experiments from a table with past results.

A table holds 40 coatings, one row each, with eight settings and a column ``reward``: the measured hardness, empty where
a coating has not been tried. ``decide`` needs nothing else. It answers which five coatings to try next, and what the
settings do. ``sparsebandits decide FILE --batch 5`` does the same with a CSV or Parquet file.
A figure is written if a path is given: ``python decide_table.py effects.png``.
"""

import sys

import numpy as np
import pandas as pd

import sparsebandits as sb

rng = np.random.default_rng(1)
settings = ["resin", "hardener", "temperature", "minutes", "humidity", "filler", "solvent", "additive"]
coatings = pd.DataFrame(
    rng.uniform([30, 5, 100, 10, 40, 0, 10, 0], [60, 20, 200, 60, 70, 30, 25, 3], size=(40, 8)).round(1),
    columns=settings,
    index=[f"C{row:02}" for row in range(1, 41)],
)
hardness = 50 + 0.9 * coatings["hardener"] - 2.5 * coatings["additive"] + rng.standard_normal(40)
coatings["reward"] = hardness.where(np.arange(40) < 15)  # the first 15 have been tried

advice = sb.decide(coatings, batch=5, seed=0)

print("Try next:")
for one in advice.recommendations:
    print(f"  {one.name}: expected {one.expected_reward:.1f} (sd {one.sd:.1f}), truth {hardness[one.name]:.1f}")

print("\nMost likely to matter (truth: hardener +0.9 per unit, additive -2.5 per unit):")
for effect in advice.features[:3]:
    print(f"  {effect.name}: {effect.mean:+.2f} per unit, from {effect.low:.2f} to {effect.high:.2f}")

print(
    f"\nThe best coating tried so far has {coatings['reward'].max():.1f}; the best of all has {hardness.max():.1f}.\n"
)
print(advice)  # everything: the reasons, the table of features, notes

if len(sys.argv) > 1:
    sb.plots.write(sb.plots.effects(advice), sys.argv[1])
