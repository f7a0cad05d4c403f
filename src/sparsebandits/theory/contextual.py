"""Regret of information-directed sampling with contexts: the bounds of Hao, Lattimore and Qin (2022), as numbers.

Conditional information-directed sampling minimises one ratio per context, contextual information-directed sampling one
ratio for the whole distribution of contexts. The paper separates them by instances:

- **Sparse linear rewards** (its Theorem 6.3). Bayesian regret of conditional IDS is at least √(nds) / 16 on one family
  of instances. That of contextual IDS is at most of the order of min{√(nds L), s n^{2/3} L^{1/3} / C_min^{1/3}} if best
  actions are s-sparse, with C_min of ``policy_design.py`` and a logarithm L.
- **Graph feedback** (its Theorem 5.3). Bayesian regret of conditional IDS is at least √(n (β − 2)) / 16 on one graph,
  with β its independence number (``graphs.py``).

Lower bounds have the constants that the theorems state. Upper bounds are rates, up to a constant. The logarithm that is
taken by default, log(d √n / s), is that of the entropy of θ in Theorem 1 of Hao, Lattimore and Deng (2021).
"""

import math
from typing import NamedTuple

from sparsebandits.arguments import ArgumentValueError, check_count, shown
from sparsebandits.theory.bounds import check_real

SEPARATION = 16.0
"""Denominator of both lower bounds."""


class ContextualRates(NamedTuple):
    """Rates of contextual information-directed sampling, each up to a constant.

    Attributes
    ----------
    rich : float
        √(nds L), which is the smaller one if there are many rounds.
    poor : float
        s n^{2/3} L^{1/3} / C_min^{1/3}, which is the smaller one if there are few; infinite without exploration.
    """

    rich: float
    poor: float

    @property
    def least(self) -> float:
        """The smaller of the two."""
        return min(self.rich, self.poor)


def conditional_lower_bound(horizon: float, dimension: float, sparsity: float) -> float:
    """Return √(nds) / 16, a lower bound on the Bayesian regret of conditional IDS on the instances of Theorem 6.3.

    It holds for that family of instances and their prior, not for every sparse contextual problem.

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    dimension : float
        Number of features d.
    sparsity : float
        Number of features that matter, s, at most d.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        If a number is below one, or the sparsity above the dimension.

    Examples
    --------
    >>> conditional_lower_bound(horizon=1024, dimension=100, sparsity=1)
    20.0
    """
    n, d, s = _sizes(horizon, dimension, sparsity)
    return math.sqrt(n) * math.sqrt(d) * math.sqrt(s) / SEPARATION


def graph_lower_bound(horizon: float, independence: int) -> float:
    """Return √(n (β − 2)) / 16, a lower bound on the Bayesian regret of conditional IDS on the graph of Theorem 5.3.

    It holds for that graph, contexts and prior, not for every graph with this independence number.

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    independence : int
        Independence number β, at least 2 (:func:`independence_number`).

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        If the horizon is below one, or the independence number below 2.

    Examples
    --------
    >>> graph_lower_bound(horizon=1024, independence=27)
    10.0
    """
    n = check_real("horizon", horizon, least=1.0)
    return math.sqrt(n) * math.sqrt(check_count("independence", independence, least=2) - 2) / SEPARATION


def contextual_rates(
    horizon: float, dimension: float, sparsity: float, c_min: float, logarithm: float | None = None
) -> ContextualRates:
    """Return the rates of contextual IDS for sparse linear rewards, each up to a constant.

    They are no bounds as numbers: compare their growth, or where they cross, and not their values with regret.

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    dimension : float
        Number of features d.
    sparsity : float
        Number of features that matter, s, at most d.
    c_min : float
        Smallest eigenvalue of the best exploratory policy (:func:`exploratory_policy`), at least zero.
    logarithm : float, optional
        L, positive; by default log(d √n / s), or one if that is less.

    Returns
    -------
    ContextualRates
        Both rates, and the smaller one.

    Raises
    ------
    ArgumentError
        If a number is out of range.

    Examples
    --------
    >>> rates = contextual_rates(1000, 100, 1, c_min=0.5, logarithm=1.0)
    >>> round(rates.rich, 1), round(rates.poor, 1), rates.least == rates.poor
    (316.2, 126.0, True)
    """
    n, d, s = _sizes(horizon, dimension, sparsity)
    smallest = check_real("c_min", c_min)
    if logarithm is None:
        factor = max(math.log(d) + 0.5 * math.log(n) - math.log(s), 1.0)
    else:
        factor = check_real("logarithm", logarithm)
        if factor == 0.0:
            raise ArgumentValueError("logarithm", "a positive number", shown(logarithm))
    rich = math.sqrt(n) * math.sqrt(d) * math.sqrt(s) * math.sqrt(factor)
    poor = s * n ** (2.0 / 3.0) * math.cbrt(factor) / math.cbrt(smallest) if smallest > 0.0 else math.inf
    return ContextualRates(rich, poor)


def _sizes(horizon: object, dimension: object, sparsity: object) -> tuple[float, float, float]:
    n, d, s = (
        check_real(name, value, least=1.0)
        for name, value in (("horizon", horizon), ("dimension", dimension), ("sparsity", sparsity))
    )
    if s > d:
        raise ArgumentValueError("sparsity", f"at most the dimension, {shown(dimension)}", shown(sparsity))
    return n, d, s
