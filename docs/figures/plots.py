"""Draw docs/plots.png, the figures of ``sb.plots`` for one policy: ``python docs/figures/plots.py``."""

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

import sparsebandits as sb

DOCS = Path(__file__).parents[1]
COLUMNS = ["price", "size", "weight", "colour", "age", "rating", "delivery", "warranty", "origin", "stock"]
ROUNDS = 30


def played() -> sb.Policy:
    """Return a policy after some rounds, with a journal of past rewards; two features matter."""
    rng = np.random.default_rng(4)
    offers = pd.DataFrame(rng.standard_normal((40, 10)), columns=COLUMNS, index=[f"offer {i}" for i in range(40)])
    truth = np.zeros(10)
    truth[[0, 5]] = -0.6, 0.8
    policy = sb.SparseIDS(offers, seed=0, journal=sb.journal.DecisionLog())
    for _ in range(ROUNDS):
        decision = policy.ask()
        policy.tell(decision, 5.0 + decision.features @ truth + 0.8 * rng.standard_normal())
    return policy


def main(path: Path = DOCS / "plots.png") -> None:
    """Draw all six figures side by side."""
    policy = played()
    with sb.plots.house_style():
        figure = sb.plots.new_figure(12.0, 11.5)
        grid = figure.subplots(3, 2, height_ratios=(3.2, 3.8, 3.2))
        sb.plots.inclusion(policy, ax=grid[0, 0])
        sb.plots.effects(policy, ax=grid[0, 1])
        sb.plots.candidates(policy, most=10, ax=grid[1, 0])
        sb.plots.ratio(policy, ax=grid[1, 1])
        sb.plots.posterior(policy, "weight", ax=grid[2, 0])
        sb.plots.progress(policy, ax=grid[2, 1])
        names = ("inclusion", "effects", "candidates", "ratio", "posterior", "progress")
        for axes, name in zip(grid.flat, names, strict=True):
            about = axes.get_title(loc="left")
            axes.set_title(f"sb.plots.{name}" + f": {about}" * bool(about), loc="left", fontsize=10)
        figure.savefig(path, dpi=110)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main()
