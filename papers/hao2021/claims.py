"""The paper's claims in one table, with a verdict on exact posteriors and one on the paper's own sampler.

Either column compares like with like: sparse IDS and sparse TS have the same sampler there.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from papers.hao2021 import algorithm1, claim1, comparisons, figure1, figure2, figure3
from papers.hao2021.comparisons import FAILS, HOLDS, OPEN, Rows

NOT_PLAYED = "not played"
OPTIMISTS = (claim1.OPTIMISM, claim1.OPTIMISM_TUNED, claim1.LINUCB)
WORDS = {HOLDS: "**holds**", FAILS: "**fails**", OPEN: "is **open**"}


def what_holds(results: Path) -> Rows:
    """Return a row for each claim.

    Parameters
    ----------
    results : Path
        Directory of the results.

    Returns
    -------
    list of dict
    """
    exact = comparisons.lowest_regret(results)
    own = _without(comparisons.on_papers_sampler(results), comparisons.EXACT)
    grows = comparisons.advantage_grows(results)
    estc = comparisons.early_and_late(results)
    pulls = comparisons.invests_in_information(results)
    linear = {row["policy"]: row[comparisons.LINEAR] for row in comparisons.optimism_is_linear(results)}
    near = _of_posteriors(comparisons.posteriors_are_near(results))
    early, late = ([row for row in estc if row["claimed"] == claimed] for claimed in ("less", "more"))
    return [
        _row(
            "Figure 1: the posterior concentrates around the truth, and the pattern is found",
            _judged([row for row in near if row["posterior"] != figure1.PAPERS_OWN], "for", "posterior", "verdict"),
            _judged([row for row in near if row["posterior"] == figure1.PAPERS_OWN], "for", "posterior", "verdict"),
        ),
        _row(
            "Figure 3: sparse IDS has the lowest regret",
            _by(exact, "d", "against", "policy", comparisons.LOWER),
            _by(own, "d", "against", "policy", comparisons.LOWER),
        ),
        *(
            _row(
                f"Figure 3: its advantage grows with d, {words}",
                _judged([row for row in grows if row["policy"] == figure3.SPARSE_IDS], "against", "against", column),
                _judged([row for row in grows if row["policy"] == algorithm1.IDS], "against", "against", column),
            )
            for words, column in (
                ("as a difference of regrets", comparisons.GROWS),
                ("as a ratio of regrets", comparisons.FALLS),
            )
        ),
        _row("Figure 3: early, ESTC has less regret than the policies that ignore sparsity", _all(early), "the same"),
        _row("Figure 3: late, it has more", _all(late), "the same"),
        *(
            _row(
                f"Figure 2: sparse IDS {words} sparse TS",
                *(
                    _by(
                        [row for row in pulls if (row["policy"] == algorithm1.IDS) is on_it],
                        "policy",
                        "for ε =",
                        "ε",
                        column,
                    )
                    for on_it in (False, True)
                ),
            )
            for words, column in (
                ("has less regret than", comparisons.LESS),
                ("pulls informative actions more often than", comparisons.MORE),
            )
        ),
        _row("Claim 1: optimism has near-linear regret where data are poor", _linear(linear, OPTIMISTS), "the same"),
        _row(
            "Claim 1: sparse IDS does not",
            _linear(linear, (figure2.IDS, figure2.RANDOMISED)),
            _linear(linear, (algorithm1.IDS,)),
        ),
        _row("Not claimed: sparse TS does", _linear(linear, (figure2.TS,)), _linear(linear, (algorithm1.TS,))),
    ]


def _row(claim: str, exact: str, own: str) -> dict[str, Any]:
    return {"the paper's claim": claim, "on exact posteriors": exact, "on the paper's sampler": own}


def _without(rows: Rows, policies: Sequence[str]) -> Rows:
    return [row for row in rows if row["policy"] not in policies]


def _of_posteriors(rows: Rows) -> Rows:
    """Return the verdict on all quantities of each posterior."""
    posteriors = dict.fromkeys(row["posterior"] for row in rows)
    found = {one: [row["verdict"] for row in rows if row["posterior"] == one] for one in posteriors}
    return [{"posterior": one, "verdict": comparisons.all_of(verdicts)} for one, verdicts in found.items()]


def _by(rows: Rows, key: str, preposition: str, what: str, verdict: str) -> str:
    """Return the verdicts for each value of a column."""
    name = "" if key == "policy" else f"{key} = "
    values = dict.fromkeys(row[key] for row in rows)
    said = {one: _judged([row for row in rows if row[key] == one], preposition, what, verdict) for one in values}
    return "; ".join(f"{name}{_shown(one)}: {words}" for one, words in said.items()) or NOT_PLAYED


def _all(rows: Rows) -> str:
    """Return the verdicts for each dimension and version of ESTC."""
    return _judged(
        [{**row, "who": f"{_shown(row['policy'])} at d = {row['d']}"} for row in rows], "for", "who", "verdict"
    )


def _judged(rows: Rows, preposition: str, what: str, verdict: str) -> str:
    """Return for what a statement holds, for what it fails, and for what it is open."""
    if not rows:
        return NOT_PLAYED
    found = {word: [row[what] for row in rows if row[verdict] == word] for word in (HOLDS, FAILS, OPEN)}
    for word, names in found.items():
        if len(names) == len(rows):
            return f"{WORDS[word]} {preposition.split()[0]} all" if len(rows) > 1 else WORDS[word]
    return ", ".join(f"{WORDS[word]} {preposition} {_listed(names)}" for word, names in found.items() if names)


def _linear(found: dict[str, str], policies: Iterable[str]) -> str:
    """Return which policies have near-linear regret."""
    said = [f"{_shown(policy)}: {found[policy]}" for policy in policies if policy in found]
    return "; ".join(said) or NOT_PLAYED


def _listed(names: Iterable[object]) -> str:
    """Return names, each once.

    Examples
    --------
    >>> _listed(["LinTS", "ESTC, tuned", "LinTS", "LinUCB"])
    'LinTS, ESTC (tuned) and LinUCB'
    """
    *rest, last = dict.fromkeys(map(_shown, names))
    return f"{', '.join(rest)} and {last}" if rest else last


def _shown(name: object) -> str:
    """Return the name of a policy for a list, with what stands after a comma in brackets."""
    first, _, rest = str(name).partition(", ")
    return f"{first} ({rest})" if rest else first
