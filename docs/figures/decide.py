"""Draw docs/decide.png, the answer of ``decide`` for docs/examples/coatings.csv: ``python docs/figures/decide.py``."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import sparsebandits as sb

DOCS = Path(__file__).parents[1]
TABLE = DOCS / "examples" / "coatings.csv"
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"


def main(path: Path = DOCS / "decide.png") -> None:
    """Draw expected rewards of all candidates, and the probability that each feature matters."""
    following = sb.decide(TABLE, seed=2).recommendations[0].name
    advice = sb.decide(TABLE, seed=2, batch=40)  # a batch of all candidates has the expectation of each
    found = sorted(advice.recommendations, key=lambda one: one.expected_reward or 0.0)[-20:]
    mean = np.array([one.expected_reward for one in found], dtype=float)
    sd = np.array([one.sd for one in found], dtype=float)
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9.0, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for row, one in enumerate(found):
            colour = ORANGE if one.name == following else BLUE if one.tried else GREY
            left.errorbar(mean[row], row, xerr=1.96 * sd[row], fmt="o", color=colour, markersize=5, capsize=2)
        left.set_yticks(range(len(found)), [one.name for one in found], fontsize=7.5)
        left.set_xlabel("expected reward, with 95% interval")
        left.set_title("the 20 best candidates of 40", loc="left")
        for label, colour in ((f"next: {following}", ORANGE), ("tried", BLUE), ("not tried yet", GREY)):
            left.plot([], [], "o", color=colour, label=label)
        left.legend(loc="lower right", frameon=False)
        features = advice.features[::-1]
        right.barh([one.name for one in features], [one.inclusion for one in features], color=BLUE, height=0.65)
        right.set_xlim(0, 1)
        right.set_xlabel("probability that the feature matters")
        right.set_title("after 18 rewards", loc="left")
        figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
