"""Run a campaign: get trials to make, report their results as they come, and hand the file to a colleague.

A ``Campaign`` is a table of candidates with the results that have come and the trials under way. It is kept in one
file, which is written after every change. Results may come late and in any order, and a wrong one can be taken back.
A figure is written if a path is given: ``python campaign.py campaign.png``.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import sparsebandits as sb

rng = np.random.default_rng(4)
columns = ["malt", "hops", "yeast", "mash_minutes", "boil_minutes", "pH", "sugar", "oats"]
beers = pd.DataFrame(rng.uniform(0, 10, size=(60, 8)).round(1), columns=columns)
beers.index = pd.Index([f"beer {number}" for number in range(1, 61)])
taste = 4 + 0.5 * beers["hops"] - 0.4 * beers["sugar"]  # unknown; each tasting adds noise


def tasted(name: str) -> float:
    """Return the score of one tasting."""
    return round(float(taste[name] + 0.5 * rng.standard_normal()), 1)


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "beers.campaign"
    campaign = sb.Campaign(beers, path=file, untried=True, seed=0, n_draws=2000)
    for week in range(1, 6):
        campaign.recommend(4)
        campaign.tell({name: tasted(name) for name in campaign.pending[:-1]})  # the last result is late
        print(f"week {week}: {campaign}, waiting for {', '.join(campaign.pending)}")

    again = sb.Campaign.load(file)  # on a colleague's computer
    again.tell({name: tasted(name) for name in again.pending})
    again.tell("beer 1", 99.0)  # a typing error
    print(f"\nlater: {again}; taken back: {again.take_back('beer 1')}")
    advice = again.advice()

print(advice.stopping)
print("\nThe candidates that are most likely the best (truth in brackets):")
for row in list(advice.candidates)[:3]:
    print(f"  {row['action']}: expected {row['expected reward']:.1f} ({taste[row['action']]:.1f})")
print(f"The best of all has {taste.max():.1f}. Effects (truth: hops +0.5, sugar -0.4):")
for effect in advice.features[:2]:
    print(f"  {effect.name}: {effect.mean:+.2f} per unit, matters with probability {effect.inclusion:.2f}")

if len(sys.argv) > 1:
    sb.plots.write(sb.plots.candidates(advice, most=10), sys.argv[1])
