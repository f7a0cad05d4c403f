"""Draw docs/drift.png, what ``sb.plots.drift`` shows when the world changes: ``python docs/figures/drift.py``."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import sparsebandits as sb

DOCS = Path(__file__).parents[1]
ROUNDS, CHANGE = 800, 400


def played(forgetting: sb.Discount | None) -> sb.Policy:
    """Return a policy after rounds in which θ* changes once."""
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((50, 12))
    before, after = np.zeros((2, 12))
    before[[2, 5]], after[[4, 9]] = (1.0, -1.0), (-1.0, 1.0)
    policy = sb.SparseIDS(actions, forgetting=forgetting, seed=0)
    for t in range(ROUNDS):
        decision = policy.ask()
        mean = actions[decision.action] @ (before if t < CHANGE else after)
        policy.tell(decision, mean + 0.5 * rng.standard_normal())
    return policy


def main(path: Path = DOCS / "drift.png") -> None:
    """Draw the surprise of a policy that forgets and of one that does not."""
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(9.0, 3.2), layout="constrained")
        for axes, (title, forgetting) in zip(
            figure.subplots(1, 2, sharey=True),
            {"all rewards count alike": None, "half-life 100": sb.Discount(half_life=100)}.items(),
            strict=True,
        ):
            sb.plots.drift(played(forgetting), ax=axes)
            axes.axvline(CHANGE, color="0.6", linestyle="--", linewidth=1)
            axes.set_title(title, loc="left")
        figure.savefig(path, dpi=130)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main()
