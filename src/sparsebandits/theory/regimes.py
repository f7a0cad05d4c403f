"""The regimes of Hao, Lattimore and Deng (2021, Table 2), as numbers and in words.

    exploratory: C_min ≥ 1.    data-rich: n ≳ d³Δ / s⁴.    large K: K ≳ d exp(s).

The last two hold up to constants in the paper; here the constants are taken to be 1. The point at which the two terms
of Theorem 1 cross is exact (:func:`sparsebandits.theory.bounds.crossover`) and given as well.
"""

import math
from dataclasses import dataclass

from sparsebandits.arguments import check_count, check_number
from sparsebandits.tables import formatted
from sparsebandits.theory.bounds import check_real
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
    """The place of a problem in Table 2.

    Parameters
    ----------
    exploratory : bool
        Whether C_min is given and at least 1, up to the accuracy of :func:`exploratory_design`. If not, the action set
        counts as arbitrary.
    data_rich : bool
        Whether n ≥ d³Δ / s⁴.
    data_rich_from : float
        d³Δ / s⁴.
    large_k : bool
        Whether K ≥ d exp(s), or K is not given.
    large_k_from : float
        log(d exp(s)); the logarithm, since the number itself may overflow.
    crossover : float or None
        The n at which the two terms of Theorem 1, as printed, are equal; None if C_min is not given, or the √n term is
        the smaller one from the first round on.
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
    """Return the regime of Table 2.

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
    information : float
        Δ, the bound of the paper on I(x*; F).
    crosses : float, optional
        The n at which the two terms of Theorem 1 are equal.

    Returns
    -------
    Regime

    Examples
    --------
    >>> print(regime(1000, 100, 10, 200, 1.0, information=math.log(200)))
    exploratory action set, data-rich, small K: regret of order √(nd log K)
    """
    n, d, s = (
        check_number(name, check_count(name, count, most=None))
        for name, count in (("horizon", horizon), ("dimension", dimension), ("sparsity", sparsity))
    )
    rich_from = math.pow(d, 3) * check_real("information", information) / math.pow(s, 4)
    large_from = math.log(d) + s
    return Regime(
        exploratory=c_min is not None and check_real("c_min", c_min) >= 1.0 - ACCURACY,
        data_rich=n >= rich_from,
        data_rich_from=rich_from,
        large_k=n_actions is None or math.log(check_count("n_actions", n_actions, most=None)) >= large_from,
        large_k_from=large_from,
        crossover=None if crosses is None else check_real("crosses", crosses),
    )


def power_of_ten(logarithm: float) -> str:
    """Return a number as text from its natural logarithm, however large it is.

    Parameters
    ----------
    logarithm : float
        The natural logarithm of the number.

    Returns
    -------
    str

    Examples
    --------
    >>> power_of_ten(math.log(2500)), power_of_ten(1000.0)
    ('2500', '10^434')
    """
    if logarithm < 600.0:
        return formatted(float(f"{math.exp(logarithm):.4g}"))
    return f"10^{logarithm / math.log(10.0):.0f}"
