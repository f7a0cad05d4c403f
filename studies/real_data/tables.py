"""The tables of docs/real_data.md, from the results on file; a test compares the page with them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from sparsebandits.arguments import FloatArray
from sparsebandits.results import mean_interval
from studies.real_data.pools import POOLS, TOP, Pool
from studies.real_data.record import RESULTS, Results, found_curves, load, rounds_to, simple_regret
from studies.real_data.search import Hindsight
from studies.real_data.selection import entry_order


def estimate(values: FloatArray, digits: int) -> str:
    """Return a mean with its 95% bootstrap interval, unless the interval is a point."""
    low, high = mean_interval(values)
    mean = f"{values.mean():.{digits}f}"
    shown = mean if not low < high else f"{mean} ({low:.{digits}f} to {high:.{digits}f})"
    return shown.replace("-", "−")


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [columns, ["---"] * len(columns), *rows])


def search_table(results: Results, pool: Pool) -> str:
    """Return how soon each searcher finds the top, and the paired difference from sparse IDS."""
    early, late = checkpoints(pool)
    columns = [
        "searcher",
        f"found after {early}",
        f"found after {late}",
        "measurements until 5",
        "until all 10",
        "more than sparse IDS",
        f"simple regret after {early}",
    ]
    rows = []
    for name, searches in results["searches"].items():
        found = found_curves(searches, np.array([early, late]))
        more = rounds_to(searches, TOP) - rounds_to(results["searches"]["sparse IDS"], TOP)
        rows.append(
            [
                name,
                estimate(found[:, 0], 1),
                estimate(found[:, 1], 1),
                estimate(rounds_to(searches, 5), 0),
                estimate(rounds_to(searches, TOP), 0),
                "" if name == "sparse IDS" else estimate(more, 0),
                estimate(simple_regret(searches, pool, early), 2),
            ]
        )
    return markdown(columns, rows)


def checkpoints(pool: Pool) -> tuple[int, int]:
    """Return the two numbers of measurements after which the table counts."""
    return (25, 100) if len(pool) > 300 else (25, 50)


def told_table(results: Mapping[str, Results]) -> str:
    """Return what LinTS and LinUCB assume by default, and the values that are best in hindsight."""
    rows = []
    for name in results:
        pool = POOLS[name]()
        known, features = Hindsight.of(pool), pool.features.shape[1]
        rows.append(
            [
                name,
                "1",
                f"1/{features} = {1 / features:.4f}",
                f"{known.noise_variance:.2f}",
                f"{known.prior_variance:.4f}",
            ]
        )
    return markdown(
        ["pool", "noise variance, default", "prior variance, default", "noise variance, told", "prior variance, told"],
        rows,
    )


PAPER = {"bp": "map", "s1": "tc", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glu"}
"""Names of the measurements in the LARS paper and the R packages, by those in scikit-learn."""


def paper_name(name: str) -> str:
    """Return the name of a feature of the diabetes data in the papers.

    Examples
    --------
    >>> paper_name("bmi:bp"), paper_name("s6^2")
    ('bmi:map', 'glu^2')
    """
    base, *square = name.split("^")
    return "^".join([":".join(PAPER.get(part, part) for part in base.split(":")), *square])


def inclusion_table(results: Results, pool: Pool, least: float, rename: Callable[[str], str] = str) -> str:
    """Return the features with at least this probability under either prior, and what the Lasso does with each."""
    found = results["selection"]
    inclusion, other = np.array(found["inclusion"]), np.array(found["inclusion, regressor"])
    place = {j: f"{rank}" for rank, j in enumerate(found["Lasso order"], 1)}
    rows = [
        [
            rename(pool.feature_names[j]),
            f"{inclusion[j]:.2f}",
            f"{other[j]:.2f}",
            f"{found['mean'][j]:+.3f}".replace("-", "−"),
            place.get(j, "never"),
            "yes" if j in found["least angle by Cp"] else "",
            "yes" if j in found["Lasso by cross-validation"] else "",
        ]
        for j in np.argsort(-inclusion, kind="stable").tolist()
        if max(inclusion[j], other[j]) >= least
    ]
    columns = [
        "feature",
        "P(included)",
        "stricter prior",
        "coefficient",
        "enters the Lasso as",
        "LARS by Cp",
        "Lasso by CV",
    ]
    return markdown(columns, rows)


def main_effects_table(pool: Pool) -> str:
    """Return the ten columns of the diabetes data in the order in which they enter the Lasso."""
    count = 10
    order = entry_order(pool.features[:, :count], pool.reward)
    names = [pool.feature_names[j] for j in order]
    return markdown(
        ["place", *map(str, range(1, count + 1))],
        [["scikit-learn", *names], ["papers", *map(paper_name, names)]],
    )


def speed_table(results: Mapping[str, Results]) -> str:
    """Return milliseconds of processor time per decision, ask and tell: the median over searches."""
    names = list(next(iter(results.values()))["searches"])
    learners = [name for name in names if name not in ("random", "fit to all")]
    rows = [
        [name, *(f"{np.median([s['milliseconds'] for s in r['searches'][name]]):.2g}" for r in results.values())]
        for name in learners
    ]
    return markdown(["policy", *results], rows)


def sections(folder: Path = RESULTS) -> dict[str, str]:
    """Return the tables of docs/real_data.md by name, from the results on file."""
    results = {name: load(name, folder) for name in POOLS}
    pools = {name: make() for name, make in POOLS.items()}
    return {
        "search of diabetes": search_table(results["diabetes"], pools["diabetes"]),
        "search of wine": search_table(results["wine"], pools["wine"]),
        "told": told_table(results),
        "main effects": main_effects_table(pools["diabetes"]),
        "inclusion of diabetes": inclusion_table(results["diabetes"], pools["diabetes"], 0.1, paper_name),
        "inclusion of wine": inclusion_table(results["wine"], pools["wine"], 0.25),
        "speed": speed_table(results),
    }
