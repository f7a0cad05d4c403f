"""Every bound on regret that the paper states or compares with, at given numbers: Theorem 1 and Table 1.

Hao, Lattimore and Deng (2021). Rows of Theorem 1 and of its corollary for Thompson sampling come as printed and with
the constants that the proofs give for R_max and σ² (:mod:`sparsebandits.theory.bounds`). The others, for unit noise:

    √(sdn)        online-to-confidence sets (Abbasi-Yadkori, Pál and Szepesvári 2012), logarithms and constant left out:
                  √(8dn (M² + β_n) log(1 + n/d)) in *Bandit Algorithms*, Thm 23.5, with a universal constant in β_n
    s√n           elimination on the hypercube (Lattimore, Crammer and Szepesvári 2015), likewise
    (2 log(2d) R_max)^(1/3) s^(2/3) n^(2/3) / C_min^(2/3)
                  explore the sparsity, then commit (Hao, Lattimore and Wang 2020, Thm 4.2). It is R_max n₁; the theorem
                  adds 3n R_max exp(−c n₁) with a universal constant c, which is left out here
    √(sdn) / 8    below, for any policy (Lattimore and Szepesvári 2020, *Bandit Algorithms*, Thm 24.3), if sd ≤ n and d
                  is a multiple of s, at least 2s. The hard θ has s entries of √(d / (sn)): R_max has to allow √(sd/n)
    (e⁻⁴/4) min(s^(1/3) n^(2/3) / C_min^(1/3), √(dn))
                  below, for any policy (Hao, Lattimore and Wang 2020, Thm 3.3)

The constants of Hao, Lattimore and Wang are quoted from memory, not compared with their print. Noise of variance σ² is
unit noise once rewards are divided by σ: each value is σ times the one at R_max / σ.

Regret is at most 2 R_max n in any case. Nothing is capped at it: it stands in the table.
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
from sparsebandits.tables import Cell, Table, formatted
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
ARBITRARY, EXPLORATORY, CUBE = "arbitrary", "exploratory, sparse x*", "hypercube"

PRINTED = "as printed"
HONEST = "as proved"
SHARPENED = "as proved, s for s²"
GIVEN = "of the source"
LEADING = "of the source, leading term"
UNMET = "of the source, but not met"
RATE = "rate, no constant"

MEMORY = "The constants of HLW 2020 are quoted from memory, not compared with the print."


@dataclass(frozen=True)
class RegretBound:
    """One bound: where it is from, for whom it holds, and its value.

    Attributes
    ----------
    source : theorem or paper
    policy : whose regret it bounds; "any policy" for lower bounds
    actions : for which sets of actions it is stated
    side : "upper" or "lower"
    type : "Bayesian", "frequentist" or "minimax"
    value : the bound; where ``constant`` says that there is none, only its growth means something
    constant : where the constant is from, or that there is none
    remark : what to know before one relies on the value; empty if nothing
    holds : whether its conditions are met at these numbers
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
        """How regret compares with the value: "≤", "≥", "≲" if something is left out, or "~" for a rate."""
        if self.constant == RATE:
            return "~"
        return "≥" if self.side == LOWER else "≲" if self.constant == LEADING else "≤"


@dataclass(frozen=True)
class Problem:
    """What bounds depend on: n, d, s, K (None is a set without end), C_min (None if it is not known), σ², R_max, C."""

    horizon: int
    dimension: int
    sparsity: int
    n_actions: int | None
    c_min: float | None
    noise_variance: float
    bound: float
    constant: float

    def __str__(self) -> str:
        many = "K without end" if self.n_actions is None else f"K = {power_of_ten(math.log(self.n_actions))}"
        known = "C_min not given" if self.c_min is None else f"C_min = {formatted(self.c_min)}"
        return (
            f"n = {self.horizon}, d = {self.dimension}, s = {self.sparsity}, {many}, {known}, "
            f"σ² = {formatted(self.noise_variance)}, R_max = {formatted(self.bound)}"
        )


@dataclass(frozen=True)
class RegretBounds:
    """All bounds for one problem; printed, a table and the regime.

    Attributes
    ----------
    problem : what they are for
    rows : the bounds
    regime : of Table 2
    entropy_as_printed, entropy : Δ, and what its proof gives for this noise
    ratios_as_printed, ratios : bounds on Ψ_{*,2} and Ψ_{*,3}, as printed and as proved
    """

    problem: Problem
    rows: tuple[RegretBound, ...]
    regime: Regime
    entropy_as_printed: float
    entropy: float
    ratios_as_printed: Ratios
    ratios: Ratios

    def table(self) -> Table:
        """Return the bounds, one a row."""
        columns = ("bound", "policy", "actions", "type", "regret", "constant")
        rows: list[tuple[Cell, ...]] = [
            (row.source, row.policy, row.actions, row.type, _shown(row), row.constant) for row in self.rows
        ]
        return Table(columns, rows)

    def __str__(self) -> str:
        remarks = dict.fromkeys((*(row.remark for row in self.rows if row.remark), *self._caveats()))
        return "\n".join([f"{self.problem}\n", str(self.table()), "", *remarks, "", *self.about_the_regime()])

    def _caveats(self) -> list[str]:
        problem = self.problem
        caveats = [MEMORY] if problem.c_min is not None else []
        if problem.c_min is not None and problem.c_min > 1.0:
            caveats.append("All proofs take features between −1 and 1, for which C_min is at most 1.")
        if problem.bound > math.sqrt(problem.sparsity) * (1.0 + 1e-9) and problem.n_actions is None:
            caveats.append("The entropy is that of ‖θ‖ ≤ 1, where R_max is at most √s.")
        return caveats

    def about_the_regime(self) -> list[str]:
        """Return sentences that name the regime and what decides it."""
        problem, place = self.problem, self.regime
        sign = "≥" if place.data_rich else "<"
        lines = [
            f"Regime (Table 2, constants taken to be 1): {place}.",
            f"  data: n = {problem.horizon} {sign} d³Δ/s⁴ = {formatted(place.data_rich_from)} "
            f"with Δ = {formatted(self.entropy_as_printed)}",
        ]
        if problem.n_actions is None:
            lines.append("  actions: a set without end counts as large K")
        else:
            sign = "≥" if place.large_k else "<"
            many = power_of_ten(math.log(problem.n_actions))
            lines.append(f"  actions: K = {many} {sign} d exp(s) = {power_of_ten(place.large_k_from)}")
        if problem.c_min is None:
            lines.append("  C_min is not given, so the set counts as arbitrary; sparsebandits design computes it")
        elif not place.exploratory:
            lines.append(
                f"  C_min = {formatted(problem.c_min)} < 1: not exploratory as the paper defines it, though the proof "
                "of its n^(2/3) term needs no more than C_min > 0"
            )
        if place.crossover is not None:
            lines.append(f"  the two terms of Theorem 1, as printed, cross at n = {formatted(place.crossover)}")
        elif problem.c_min is not None:
            lines.append("  of the two terms of Theorem 1, as printed, √n is the smaller one from the first round on")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for a program: numbers, strings, None, lists and dicts."""
        return {
            "problem": asdict(self.problem),
            "bounds": [asdict(row) for row in self.rows],
            "regime": {**asdict(self.regime), "rate": self.regime.rate, "in_words": str(self.regime)},
            "entropy": {PRINTED: self.entropy_as_printed, HONEST: self.entropy},
            "information_ratio": {PRINTED: self.ratios_as_printed._asdict(), HONEST: self.ratios._asdict()},
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
    """Return every bound of Theorem 1 and Table 1 at these numbers, and the regime of Table 2.

    Parameters
    ----------
    horizon : n, rounds
    dimension : d, features
    sparsity : s, features that matter
    n_actions : K; None or infinity for a set without end
    c_min : C_min of the actions, as ``exploratory_design`` has it; None if it is not known or zero, which leaves out
        the bounds that need it
    noise_variance : σ²; what is as printed has 1, whatever is given here
    bound : R_max, the largest |⟨a, θ⟩|; by default √s, which is right if ‖a‖_∞ ≤ 1 and ‖θ‖ ≤ 1 as in the paper
    constant : C in the entropy, which the paper leaves open; 3e will do

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
    for what, psi, budget in ((PRINTED, printed, delta), (HONEST, proved, information)):
        for source, policy in (("Theorem 1", "sparse IDS"), ("Corollary of Thm 1", "sparse TS")):
            rows.append(_theorem(n, budget, {2.0: psi.second}, source, policy, ARBITRARY, what))
    for what, psi, budget in (
        (PRINTED, printed, delta),
        (HONEST, proved, information),
        (SHARPENED, sharper, information),
    ):
        if psi.third is not None:
            both = {2.0: psi.second, 3.0: psi.third}
            rows.append(_theorem(n, budget, both, "Theorem 1", "sparse IDS", EXPLORATORY, what))
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
    """Return the same problem at other horizons: from 1 to ten times its own, or past where the terms cross.

    >>> over = regret_bounds_over(regret_bound(100, 10, 2), points=3)
    >>> [one.problem.horizon for one in over]
    [1, 32, 1000]
    """
    if not isinstance(bounds, RegretBounds):
        raise ArgumentTypeError("bounds", "what regret_bound returns", shown(bounds))
    problem = bounds.problem
    last = 10.0 * max(problem.horizon, min(bounds.regime.crossover or 1.0, 1e9))
    horizons = dict.fromkeys(round(last ** (i / (points - 1))) for i in range(points))
    return [regret_bound(**{**asdict(problem), "horizon": horizon}) for horizon in horizons]


def _theorem(
    n: float, budget: float, psi: Mapping[float, float], source: str, policy: str, actions: str, constant: str
) -> RegretBound:
    value, exponent = least_generic_bound(n, budget, psi)
    remark = ""
    if constant == PRINTED:
        remark = "As printed, Theorem 1 is for unit noise, and its constants are not proved (docs/theory.md)."
    elif len(psi) > 1:
        remark = f"Theorem 1, {constant}: the {'√n' if exponent == 2 else 'n^(2/3)'} term is the smaller one."
    return RegretBound(source, policy, actions, UPPER, "Bayesian", value, constant, remark)


def _shown(row: RegretBound) -> str:
    """Return the sign and the value, in brackets where the bound does not hold."""
    said = f"{row.sign} {formatted(row.value)}"
    return said if row.holds else f"({said})"


def _of_others(problem: Problem) -> list[RegretBound]:
    """Return the rows of Table 1 that are not the paper's own."""
    n, d, s = float(problem.horizon), float(problem.dimension), float(problem.sparsity)
    sigma, reach, c_min = math.sqrt(problem.noise_variance), problem.bound, problem.c_min
    two_thirds = math.pow(n, 2 / 3)
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
    rows = [
        RegretBound("APS 2012", "online-to-confidence", ARBITRARY, UPPER, "frequentist", root, RATE),
        RegretBound("LCS 2015", "elimination", CUBE, UPPER, "frequentist", sigma * s * math.sqrt(n), RATE),
    ]
    if c_min is not None:
        leading = math.cbrt(2.0 * problem.noise_variance * math.log(2.0 * d)) * math.cbrt(reach)
        leading *= math.pow(s / c_min, 2 / 3) * two_thirds
        left_out = "HLW 2020, Thm 4.2 adds 3n R_max exp(−c n₁) for a c > 0 that it does not name."
        rows.append(
            RegretBound("HLW 2020, Thm 4.2", "ESTC", "C_min > 0", UPPER, "frequentist", leading, LEADING, left_out)
        )
    constant = UNMET if missing else GIVEN
    below = RegretBound(
        "LS 2020, Thm 24.3", "any policy", ARBITRARY, LOWER, "minimax", root / 8.0, constant, unmet, not missing
    )
    rows.append(below)
    if c_min is not None:
        least = min(math.cbrt(s) * two_thirds / math.cbrt(c_min), math.sqrt(d) * math.sqrt(n))
        value = sigma * math.exp(-4.0) / 4.0 * least
        needed = []
        if problem.n_actions is not None and math.log(problem.n_actions) < (d - 1.0) * math.log(2.0) - 1e-9:
            needed.append("K ≥ 2^(d−1)")
        if value > 2.0 * reach * n:
            needed.append("a larger R_max")
        remark = f"HLW 2020, Thm 3.3 does not hold here: it needs {' and '.join(needed)}." if needed else ""
        constant = UNMET if needed else GIVEN
        lower = RegretBound(
            "HLW 2020, Thm 3.3", "any policy", "C_min > 0", LOWER, "minimax", value, constant, remark, not needed
        )
        rows.append(lower)
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
    n, d, s = check_count("horizon", horizon), check_count("dimension", dimension), check_count("sparsity", sparsity)
    for name, count in (("horizon", n), ("dimension", d)):
        check_number(name, count)  # not too large to be one
    if s > d:
        raise ArgumentValueError("sparsity", f"at most dimension ({d})", f"{s}")
    many = None if n_actions is None or n_actions == math.inf else check_count("n_actions", n_actions)
    if c_min is not None and not check_number("c_min", c_min) > 0.0:
        hint = "none for actions that do not span the space"
        raise ArgumentValueError("c_min", f"a positive number, or {hint}", shown(c_min))
    if c_min is not None and many is not None and many < d:
        raise ArgumentValueError("c_min", f"none for fewer actions ({many}) than features ({d})", shown(c_min))
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
