"""The regimes of Hao, Lattimore and Deng (2021, Table 2), for given numbers and in words.

    exploratory: C_min ≥ 1.    data-rich: n ≳ d³Δ / s⁴.    large K: K ≳ d exp(s).

The last two hold up to constants in the paper; here the constant is taken to be 1, and said to be. Where the two terms
of Theorem 1 cross is exact (:func:`sparsebandits.theory.bounds.crossover`) and stands beside it.
"""

import math
from dataclasses import dataclass

from sparsebandits.tables import formatted
from sparsebandits.theory.design import ACCURACY

RATES = {
    # exploratory, data-rich, large K
    (False, False, True): "√(nds)",
    (False, False, False): "√(nd log K)",
    (True, True, True): "√(nds)",
    (True, True, False): "√(nd log K)",
    (True, False, True): "s n^(2/3)",
    (True, False, False): "s^(2/3) n^(2/3) log^(1/3) K",
}


@dataclass(frozen=True)
class Regime:
    """Where a problem stands in Table 2.

    Attributes
    ----------
    exploratory : whether C_min is given and at least 1, up to the accuracy of ``exploratory_design``; else the set
        counts as arbitrary
    data_rich : whether n ≥ d³Δ / s⁴, with the constant taken to be 1
    data_rich_from : d³Δ / s⁴
    large_k : whether K ≥ d exp(s), with the constant taken to be 1; so it is where K is not given
    large_k_from : log(d exp(s)), the logarithm since the number may be beyond all numbers
    crossover : the n at which the two terms of Theorem 1, as printed, are equal; None without C_min, or if the √n
        term is the smaller one from the first round on
    rate : the entry of Table 2
    """

    exploratory: bool
    data_rich: bool
    data_rich_from: float
    large_k: bool
    large_k_from: float
    crossover: float | None

    @property
    def rate(self) -> str:
        """The entry of Table 2, up to constants and logarithms."""
        return RATES[self.exploratory, self.data_rich and self.exploratory, self.large_k]

    def __str__(self) -> str:
        kind = "exploratory action set" if self.exploratory else "arbitrary action set"
        data = "data-rich" if self.data_rich else "data-poor"
        many = "large K" if self.large_k else "small K"
        parts = [kind, data, many] if self.exploratory else [kind, many]
        return f"{', '.join(parts)}: regret of order {self.rate}"


def regime(
    horizon: int,
    dimension: int,
    sparsity: int,
    n_actions: int | None,
    c_min: float | None,
    information: float,
    crosses: float | None = None,
) -> Regime:
    """Return the regime of Table 2, where ``information`` is Δ.

    >>> print(regime(1000, 100, 10, 200, 1.0, information=math.log(200)))
    exploratory action set, data-rich, small K: regret of order √(nd log K)
    """
    rich_from = math.pow(dimension, 3) * information / math.pow(sparsity, 4)
    large_from = math.log(dimension) + sparsity
    return Regime(
        exploratory=c_min is not None and c_min >= 1.0 - ACCURACY,
        data_rich=horizon >= rich_from,
        data_rich_from=rich_from,
        large_k=n_actions is None or math.log(n_actions) >= large_from,
        large_k_from=large_from,
        crossover=crosses,
    )


def power_of_ten(logarithm: float) -> str:
    """Return a number from its natural logarithm, whatever its size.

    >>> power_of_ten(math.log(2500)), power_of_ten(1000.0)
    ('2500', '10^434')
    """
    if logarithm < 600.0:
        return formatted(float(f"{math.exp(logarithm):.4g}"))
    return f"10^{logarithm / math.log(10.0):.0f}"
