"""Find effects that are not linear: squares, products and bends, where the past rewards speak for them.

The yield of a reaction is largest at a medium temperature, so a straight line has the wrong slope everywhere.
``effects="auto"`` compares linear effects, squares, products and bends by how likely they make the past rewards.
A figure is written if a path is given: ``python curved_effects.py curves.png``.
"""

import sys

import numpy as np
import pandas as pd

import sparsebandits as sb

rng = np.random.default_rng(5)
settings = ["temperature", "minutes", "catalyst", "stirring", "pressure", "water"]
low, high = [100, 10, 0, 100, 1, 0], [200, 60, 5, 900, 10, 20]
runs = pd.DataFrame(rng.uniform(low, high, size=(80, 6)).round(1), columns=settings)
runs.index = pd.Index([f"run {number}" for number in range(1, 81)])
mean = 60 - 0.012 * (runs["temperature"] - 150) ** 2 + 2 * runs["catalyst"]  # unknown
runs["reward"] = (mean + 2 * rng.standard_normal(80)).where(np.arange(80) < 25)  # the first 25 have been made

advice = {how: sb.decide(runs, effects=how, horizon=1, seed=0) for how in ("linear", "auto")}
for how, one in advice.items():
    first = one.recommendations[0]
    print(f'effects="{how}": {first.name}, expected {first.expected_reward:.1f}, true mean {mean[first.name]:.1f}')
print(f"The best of all: {mean.idxmax()}, {mean.max():.1f}")

print("\n" + "\n".join(advice["auto"].notes))
print(f"\n{advice['auto'].feature_table(4)}")

if len(sys.argv) > 1:
    with sb.plots.house_style():
        figure = sb.plots.new_figure(6.4, 3.6)
        axes = figure.subplots()
        axes.plot(runs["temperature"], runs["reward"], "o", color="0.6", label="past rewards")
        grid = np.linspace(100, 200, 50)
        axes.plot(grid, 65 - 0.012 * (grid - 150) ** 2, "--", color="0.3", label="truth, at an average catalyst")
        for (how, one), colour in zip(advice.items(), sb.plots.COLOURS[1::-1], strict=True):
            expected = one.policy.predict().mean
            axes.plot(runs["temperature"], expected, ".", color=colour, label=f'expected, effects="{how}"')
        axes.set(xlabel="temperature", ylabel="yield")
        axes.legend(frameon=False, fontsize=8)
        sb.plots.dress(axes)
    sb.plots.write(figure, sys.argv[1])
