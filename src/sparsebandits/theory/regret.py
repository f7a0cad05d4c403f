"""The bounds on regret that the paper states or compares with, as numbers: Theorem 1 and Table 1.

Hao, Lattimore and Deng (2021). Theorem 1 and its corollary for Thompson sampling are given as printed and with the
constants that the proofs give for R_max and σ² (:mod:`sparsebandits.theory.bounds`). The others, for unit noise, are

    √(sdn)        online-to-confidence sets (Abbasi-Yadkori, Pál and Szepesvári 2012), without logarithms and constant:
                  √(8dn (M² + β_n) log(1 + n/d)) in *Bandit Algorithms*, Thm 23.5, with a universal constant in β_n
    s√n           elimination on the hypercube (Lattimore, Crammer and Szepesvári 2015), likewise
    R_max^(1/3) s^(2/3) n^(2/3)
                  explore the sparsity, then commit (ESTC; Hao, Lattimore and Wang 2020) on exploratory actions: the
                  rate of Table 1 with the power of R_max that gives it the unit of regret
    √(sdn) / 8    lower bound for any policy (Lattimore and Szepesvári 2020, *Bandit Algorithms*, Thm 24.3), if sd ≤ n
                  and d is a multiple of s, at least 2s. The hard θ has s entries of √(d / (sn)), so R_max has to be at
                  least √(sd/n)
    min(s^(1/3) n^(2/3), √(dn))
                  lower bound for any policy on exploratory actions (Hao, Lattimore and Wang 2020), likewise as Table 1
                  states it, without a constant

Noise of variance σ² is unit noise once rewards are divided by σ: each value is σ times the one at R_max / σ.

Regret is at most 2 R_max n in any case. That bound is a row of the table; no other row is capped at it.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    check_count,
    check_number,
    check_positive,
    shown,
)
from sparsebandits.tables import Cell, Table, as_html, formatted
from sparsebandits.theory.bounds import (
    COVERING_CONSTANT,
    Ratios,
    crossover,
    entropy,
    entropy_as_printed,
    least_generic_bound,
    ratios,
    ratios_as_printed,
)
from sparsebandits.theory.regimes import Regime, power_of_ten, regime

UPPER, LOWER = "upper", "lower"
ARBITRARY, EXPLORATORY, CUBE = "arbitrary", "exploratory", "hypercube"
SPARSE_OPTIMA = "exploratory, sparse x*"

PRINTED = "as printed"
PROVED = "as proved"
SHARPENED = "as proved, s for s²"
GIVEN = "from the source"
UNMET = "conditions not met"
RATE = "rate, no constant"


@dataclass(frozen=True)
class RegretBound:
    """One bound on regret: its source, what it applies to, and its value.

    Parameters
    ----------
    source : str
        The theorem or paper.
    policy : str
        The policy whose regret is bounded; "any policy" for lower bounds.
    actions : str
        The action sets for which it is stated.
    side : {"upper", "lower"}
        Whether regret is at most or at least the value.
    type : {"Bayesian", "frequentist", "minimax"}
        The kind of regret.
    value : float
        The bound; if ``constant`` says that there is none, only its growth is meaningful.
    constant : str
        Where the constant is from, or that there is none.
    remark : str, default=""
        What to know before relying on the value.
    holds : bool, default=True
        Whether the conditions of the bound are met at these numbers.
    """

    source: str
    policy: str
    actions: str
    side: str
    type: str
    value: float
    constant: str
    remark: str = ""
    holds: bool = True

    @property
    def sign(self) -> str:
        """The sign between regret and the value, which is "≤", "≥", or "~" for a rate."""
        if self.constant == RATE:
            return "~"
        return "≥" if self.side == LOWER else "≤"


@dataclass(frozen=True)
class Problem:
    """The numbers that bounds depend on.

    Parameters
    ----------
    horizon : int
        Number of rounds n.
    dimension : int
        Number of features d.
    sparsity : int
        Number of features that matter s.
    n_actions : int or None
        Number of actions K; None for an infinite set.
    c_min : float or None
        C_min of the actions; None if it is not known.
    noise_variance : float
        Noise variance σ².
    bound : float
        R_max, the largest absolute mean reward.
    constant : float
        The constant C of the entropy.
    """

    horizon: int
    dimension: int
    sparsity: int
    n_actions: int | None
    c_min: float | None
    noise_variance: float
    bound: float
    constant: float

    def __str__(self) -> str:
        many = "K infinite" if self.n_actions is None else f"K = {power_of_ten(math.log(self.n_actions))}"
        known = "C_min not given" if self.c_min is None else f"C_min = {formatted(self.c_min)}"
        return (
            f"n = {self.horizon}, d = {self.dimension}, s = {self.sparsity}, {many}, {known}, "
            f"σ² = {formatted(self.noise_variance)}, R_max = {formatted(self.bound)}"
        )


@dataclass(frozen=True)
class RegretBounds:
    """All bounds for one problem. Printing it shows a table and the regime.

    Parameters
    ----------
    problem : Problem
        The numbers that the bounds are for.
    rows : tuple of RegretBound
        The bounds.
    regime : Regime
        The regime of Table 2.
    entropy_as_printed, entropy : float
        Bounds on I(x*; F): Δ as printed, and as proved for this noise variance.
    ratios_as_printed, ratios : Ratios
        Bounds on the information ratios, as printed and as proved.
    """

    problem: Problem
    rows: tuple[RegretBound, ...]
    regime: Regime
    entropy_as_printed: float
    entropy: float
    ratios_as_printed: Ratios
    ratios: Ratios

    def table(self) -> Table:
        """Return the bounds as a table, one per row.

        Returns
        -------
        Table
        """
        columns = ("bound", "policy", "actions", "type", "regret", "constant")
        rows: list[tuple[Cell, ...]] = [
            (row.source, row.policy, row.actions, row.type, _shown(row), row.constant) for row in self.rows
        ]
        return Table(columns, rows)

    def __str__(self) -> str:
        return "\n".join([f"{self.problem}\n", str(self.table()), "", *self._remarks(), "", *self.about_the_regime()])

    def _repr_html_(self) -> str:
        """Return the bounds as HTML, which notebooks show in place of the text."""
        return as_html(str(self.problem), self.table(), "\n".join(self._remarks()), "\n".join(self.about_the_regime()))

    def _remarks(self) -> list[str]:
        """Return what to know of the bounds, each once."""
        return list(dict.fromkeys((*(row.remark for row in self.rows if row.remark), *self._caveats())))

    def _caveats(self) -> list[str]:
        """Return remarks about the problem as a whole."""
        problem = self.problem
        caveats = []
        if problem.c_min is not None and problem.c_min > 1.0:
            caveats.append("All proofs assume features between −1 and 1, for which C_min is at most 1.")
        if problem.bound > math.sqrt(problem.sparsity) * (1.0 + 1e-9) and problem.n_actions is None:
            caveats.append("The entropy assumes ‖θ‖ ≤ 1, for which R_max is at most √s.")
        return caveats

    def about_the_regime(self) -> list[str]:
        """Return the regime and the reasons for it, in words.

        Returns
        -------
        list of str
            One line per entry.
        """
        problem, place = self.problem, self.regime
        sign = "≥" if place.data_rich else "<"
        lines = [
            f"Regime (Table 2, constants taken to be 1): {place}.",
            f"  data: n = {problem.horizon} {sign} d³Δ/s⁴ = {formatted(place.data_rich_from)} "
            f"with Δ = {formatted(self.entropy_as_printed)}",
        ]
        if problem.n_actions is None:
            lines.append("  actions: an infinite set counts as large K")
        else:
            sign = "≥" if place.large_k else "<"
            many = power_of_ten(math.log(problem.n_actions))
            lines.append(f"  actions: K = {many} {sign} d exp(s) = {power_of_ten(place.large_k_from)}")
        if problem.c_min is None:
            lines.append("  C_min is not given, so the set counts as arbitrary; `sparsebandits design` computes it")
        elif not place.exploratory:
            lines.append(
                f"  C_min = {formatted(problem.c_min)} < 1: not exploratory by the paper's definition, though the "
                "proof of the n^(2/3) term only needs C_min > 0"
            )
        if place.crossover is not None:
            lines.append(f"  the two terms of Theorem 1, as printed, cross at n = {formatted(place.crossover)}")
        elif problem.c_min is not None:
            lines.append("  the √n term of Theorem 1, as printed, is the smaller one from the first round on")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as JSON needs it.

        Returns
        -------
        dict
        """
        return {
            "problem": asdict(self.problem),
            "bounds": [asdict(row) for row in self.rows],
            "regime": {**asdict(self.regime), "rate": self.regime.rate, "in_words": str(self.regime)},
            "entropy": {PRINTED: self.entropy_as_printed, PROVED: self.entropy},
            "information_ratio": {PRINTED: self.ratios_as_printed._asdict(), PROVED: self.ratios._asdict()},
        }


def regret_bound(
    horizon: int,
    dimension: int,
    sparsity: int,
    n_actions: int | float | None = None,
    c_min: float | None = None,
    noise_variance: float = 1.0,
    bound: float | None = None,
    constant: float = COVERING_CONSTANT,
) -> RegretBounds:
    """Return the bounds of Theorem 1 and Table 1 at given numbers, and the regime of Table 2.

    Parameters
    ----------
    horizon : int
        Number of rounds n.
    dimension : int
        Number of features d.
    sparsity : int
        Number of features that matter s.
    n_actions : int, optional
        Number of actions K; None or infinity for an infinite set.
    c_min : float, optional
        C_min of the actions, see :func:`exploratory_design`. None if it is not known or zero; then the bounds that need
        it are left out.
    noise_variance : float, default=1.0
        Noise variance σ². Bounds as printed are for unit noise, whatever is given.
    bound : float, optional
        R_max, the largest absolute mean reward. By default √s, which is valid for features between -1 and 1 and
        coefficients of norm at most 1, as in the paper.
    constant : float, default=COVERING_CONSTANT
        The constant C of the entropy, which the paper leaves open.

    Returns
    -------
    RegretBounds

    Examples
    --------
    >>> bounds = regret_bound(horizon=1000, dimension=100, sparsity=10, n_actions=200, c_min=1.0)
    >>> [round(row.value) for row in bounds.rows if row.source == "Theorem 1" and row.constant == "as printed"]
    [515, 515]
    >>> print(bounds.regime)
    exploratory action set, data-rich, small K: regret of order √(nd log K)
    """
    problem = _checked(horizon, dimension, sparsity, n_actions, c_min, noise_variance, bound, constant)
    n, d, s = float(problem.horizon), float(problem.dimension), float(problem.sparsity)
    noise, reach, c = problem.noise_variance, problem.bound, problem.constant
    printed, proved = ratios_as_printed(d, s, problem.c_min), ratios(d, s, problem.c_min, noise, reach)
    sharper = ratios(d, s, problem.c_min, noise, reach, sharpened=True)
    delta = entropy_as_printed(n, d, s, problem.n_actions, c)
    information = entropy(n, d, s, problem.n_actions, noise, c)
    rows = [RegretBound("trivial", "any policy", ARBITRARY, UPPER, "minimax", 2.0 * reach * n, "2 R_max n")]
    for what, psi, budget in ((PRINTED, printed, delta), (PROVED, proved, information)):
        for source, policy in (("Theorem 1", "sparse IDS"), ("Corollary of Thm 1", "sparse TS")):
            rows.append(_theorem(n, budget, {2.0: psi.second}, source, policy, ARBITRARY, what))
    for what, psi, budget in (
        (PRINTED, printed, delta),
        (PROVED, proved, information),
        (SHARPENED, sharper, information),
    ):
        if psi.third is not None:
            both = {2.0: psi.second, 3.0: psi.third}
            rows.append(_theorem(n, budget, both, "Theorem 1", "sparse IDS", SPARSE_OPTIMA, what))
    crosses = crossover(printed, lambda m: entropy_as_printed(m, d, s, problem.n_actions, c))
    return RegretBounds(
        problem,
        (*rows, *_of_others(problem)),
        regime(problem.horizon, problem.dimension, problem.sparsity, problem.n_actions, problem.c_min, delta, crosses),
        delta,
        information,
        printed,
        proved,
    )


def regret_bounds_over(bounds: RegretBounds, points: int = 200) -> list[RegretBounds]:
    """Return the bounds of the same problem at other horizons.

    They go from 1 to ten times the horizon of the problem, or ten times the point where the terms of Theorem 1 cross.

    Parameters
    ----------
    bounds : RegretBounds
        What :func:`regret_bound` returned.
    points : int, default=200
        The number of horizons, evenly spaced on a logarithmic scale; those that are equal after rounding count once.

    Returns
    -------
    list of RegretBounds

    Examples
    --------
    >>> over = regret_bounds_over(regret_bound(100, 10, 2), points=3)
    >>> [one.problem.horizon for one in over]
    [1, 32, 1000]
    """
    if not isinstance(bounds, RegretBounds):
        raise ArgumentTypeError("bounds", "what regret_bound returns", shown(bounds))
    count = check_count("points", points, least=2)
    problem = bounds.problem
    last = 10.0 * max(problem.horizon, min(bounds.regime.crossover or 1.0, 1e9))
    horizons = dict.fromkeys(round(last ** (i / (count - 1))) for i in range(count))
    return [regret_bound(**{**asdict(problem), "horizon": horizon}) for horizon in horizons]


def _theorem(
    n: float, budget: float, psi: Mapping[float, float], source: str, policy: str, actions: str, constant: str
) -> RegretBound:
    """Return a row of Theorem 1 or of its corollary."""
    value, exponent = least_generic_bound(n, budget, psi)
    remark = ""
    if constant == PRINTED:
        remark = "As printed, Theorem 1 is for unit noise, and its constants are not proved (docs/theory.md)."
    elif len(psi) > 1:
        remark = f"Theorem 1, {constant}: the {'√n' if exponent == 2 else 'n^(2/3)'} term is the smaller one."
    return RegretBound(source, policy, actions, UPPER, "Bayesian", value, constant, remark)


def _shown(row: RegretBound) -> str:
    """Return the sign and the value, in brackets if the bound does not hold."""
    said = f"{row.sign} {formatted(row.value)}"
    return said if row.holds else f"({said})"


def _of_others(problem: Problem) -> list[RegretBound]:
    """Return the rows of Table 1 that are not the paper's own."""
    n, d, s = float(problem.horizon), float(problem.dimension), float(problem.sparsity)
    sigma, reach = math.sqrt(problem.noise_variance), problem.bound
    root = sigma * math.sqrt(s) * math.sqrt(d) * math.sqrt(n)
    missing = []
    if s * d > n:
        missing.append("sd ≤ n")
    if problem.dimension % problem.sparsity or problem.dimension < 2 * problem.sparsity:
        missing.append("d a multiple of s, at least 2s")
    if root > reach * n:
        missing.append("R_max ≥ σ√(sd/n)")
    if problem.n_actions is not None and math.log(problem.n_actions) < s * math.log(d / s) - 1e-9:
        missing.append("K ≥ (d/s)^s")
    unmet = f"LS 2020, Thm 24.3 does not hold here: it needs {' and '.join(missing)}." if missing else ""
    constant = UNMET if missing else GIVEN
    rows = [
        RegretBound("APS 2012", "online-to-confidence", ARBITRARY, UPPER, "frequentist", root, RATE),
        RegretBound("LCS 2015", "elimination", CUBE, UPPER, "frequentist", sigma * s * math.sqrt(n), RATE),
        RegretBound(
            "LS 2020, Thm 24.3", "any policy", ARBITRARY, LOWER, "minimax", root / 8.0, constant, unmet, not missing
        ),
    ]
    if problem.c_min is not None:
        two_thirds = math.pow(n, 2 / 3)
        commit = math.cbrt(problem.noise_variance) * math.cbrt(reach) * math.pow(s, 2 / 3) * two_thirds
        least = sigma * min(math.cbrt(s) * two_thirds, math.sqrt(d) * math.sqrt(n))
        rows.insert(2, RegretBound("HLW 2020", "ESTC", EXPLORATORY, UPPER, "frequentist", commit, RATE))
        rows.append(RegretBound("HLW 2020", "any policy", EXPLORATORY, LOWER, "minimax", least, RATE))
    return rows


def _checked(
    horizon: object,
    dimension: object,
    sparsity: object,
    n_actions: object,
    c_min: object,
    noise_variance: object,
    bound: object,
    constant: object,
) -> Problem:
    """Return the problem after checking every number."""
    counts = {"horizon": horizon, "dimension": dimension, "sparsity": sparsity}
    n, d, s = (check_count(name, count, most=None) for name, count in counts.items())
    for name, count in (("horizon", n), ("dimension", d)):
        check_number(name, count)  # not too large for a float
    if s > d:
        raise ArgumentValueError("sparsity", f"at most dimension ({d})", shown(s))
    infinite = n_actions is None or (isinstance(n_actions, float) and n_actions == math.inf)
    many = None if infinite else check_count("n_actions", n_actions, most=None)
    if c_min is not None and not check_number("c_min", c_min) > 0.0:
        hint = "None for actions that do not span the space"
        raise ArgumentValueError("c_min", f"a positive number, or {hint}", shown(c_min))
    if c_min is not None and many is not None and many < d:
        raise ArgumentValueError("c_min", f"None for fewer actions ({many}) than features ({d})", shown(c_min))
    c = check_number("constant", constant)
    if c < 1.0:
        raise ArgumentValueError("constant", "a number of at least 1", shown(constant))
    return Problem(
        n,
        d,
        s,
        many,
        None if c_min is None else check_positive("c_min", c_min),
        check_positive("noise_variance", noise_variance),
        math.sqrt(s) if bound is None else check_positive("bound", bound),
        c,
    )
