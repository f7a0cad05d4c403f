"""Trials in pairs: two policies on the same worlds, and who wins more of them than chance explains.

Row i of every policy is trial i, the same instance and the same noise, so policies are compared row by row. A policy
that has played fewer trials has played the first ones; it is compared on those.

The sign test (Arbuthnott 1710; Conover, *Practical Nonparametric Statistics*, 1999, Section 3.4) asks nothing of the
size of differences: ties are left out, and if neither policy were better, wins among the other n trials would be
Binomial(n, 1/2). Its p-value is exact and two-sided: the chance of a split at least as uneven as the one seen. A policy
may win most trials and have the larger mean, where it loses seldom but heavily; so wins stand beside means, not for
them.
"""

from dataclasses import dataclass

import numpy as np
import scipy  # its stats, heavy, are imported on first use

from sparsebandits.arguments import FloatArray


def paired(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rows of the trials that both have played."""
    shared = min(len(first), len(second))
    return first[:shared], second[:shared]


@dataclass(frozen=True)
class Wins:
    """Trials in which the first policy had less regret, more, and the same; p-value of the sign test."""

    wins: int
    losses: int
    ties: int
    p_value: float


def sign_test(differences: FloatArray) -> Wins:
    """Count the wins (negative differences of regret) and test them against a fair coin.

    Where all trials are ties there is nothing to test, and the p-value is 1.

    >>> sign_test(np.array([-1.0, -2.0, -0.5, -3.0, 4.0, 0.0]))
    Wins(wins=4, losses=1, ties=1, p_value=0.375)
    """
    wins, losses = int(np.count_nonzero(differences < 0)), int(np.count_nonzero(differences > 0))
    p_value = float(scipy.stats.binomtest(wins, wins + losses, 0.5).pvalue) if wins + losses else 1.0
    return Wins(wins, losses, len(differences) - wins - losses, p_value)
