"""The posterior of a spike-and-slab prior in a hundred digits: every model, by elimination, in plain loops.

Nothing here is shared with the engines: numbers are ``decimal.Decimal``, data are rows and not sums, and each model is
solved by Gauss elimination without a square root.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from itertools import product

LEAST = 500
"""Models whose log weight is so far below that of the best one are left out: exp(−500) is far below rounding error."""

TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021")

DIGITS = Context(prec=150, Emin=-(10**9), Emax=10**9)


@dataclass(frozen=True)
class Exact:
    """Moments of θ, as floats.

    Attributes
    ----------
    mean, deviation, inclusion : list of float
        E[θ_j], the standard deviation of θ_j, and P(γ_j = 1).
    log_evidence : float
        log p(y).
    """

    mean: list[float]
    deviation: list[float]
    inclusion: list[float]
    log_evidence: float


def total(numbers: Iterable[Decimal]) -> Decimal:
    """Return the sum of some numbers, which may be none."""
    return sum(numbers, Decimal(0))


def solve(matrix: list[list[Decimal]], right: list[Decimal]) -> tuple[list[Decimal], list[list[Decimal]], Decimal]:
    """Return the solution, the inverse and the determinant of a positive definite matrix."""
    size = len(right)
    rows = [[*matrix[i], right[i], *(Decimal(int(i == j)) for j in range(size))] for i in range(size)]
    determinant = Decimal(1)
    for i in range(size):
        pivot = rows[i][i]
        determinant *= pivot
        rows[i] = [value / pivot for value in rows[i]]
        for k in range(size):
            if k != i and rows[k][i] != 0:
                factor = rows[k][i]
                rows[k] = [one - factor * other for one, other in zip(rows[k], rows[i], strict=True)]
    return [row[size] for row in rows], [row[size + 1 :] for row in rows], determinant


def enumerate_exactly(
    x: Sequence[Sequence[float]],
    y: Sequence[float],
    noise_variance: float,
    inclusion: Sequence[float],
    slab_mean: Sequence[float],
    slab_variance: Sequence[float],
    spike_variance: float | None = None,
) -> Exact:
    """Return the exact posterior given rows ``x``, rewards ``y`` and a known noise variance.

    A ``spike_variance`` of None is a point mass.
    """
    d = len(inclusion)
    with localcontext(DIGITS):
        rows = [[Decimal(float(value)) for value in row] for row in x]
        rewards, noise = [Decimal(float(value)) for value in y], Decimal(noise_variance)
        found = []
        for model in product((False, True), repeat=d):
            prior = Decimal(1)
            for j in range(d):
                prior *= Decimal(inclusion[j]) if model[j] else 1 - Decimal(inclusion[j])
            if prior == 0:
                continue
            members = [j for j in range(d) if model[j] or spike_variance is not None]
            mean = [Decimal(slab_mean[j]) if model[j] else Decimal(0) for j in members]
            variance = [Decimal(slab_variance[j]) if model[j] else Decimal(spike_variance or 0) for j in members]
            precision = [[total(row[a] * row[b] for row in rows) / noise for b in members] for a in members]
            shift = [total(row[a] * reward for row, reward in zip(rows, rewards, strict=True)) / noise for a in members]
            for i, (m, v) in enumerate(zip(mean, variance, strict=True)):
                precision[i][i] += 1 / v
                shift[i] += m / v
            centre, covariance, determinant = solve(precision, shift)
            double = 2 * prior.ln() - determinant.ln() - total(v.ln() for v in variance)
            double += total(s * c for s, c in zip(shift, centre, strict=True))
            double -= total(m * m / v for m, v in zip(mean, variance, strict=True))
            found.append((double / 2, model, members, centre, covariance))
        top = max(weight for weight, *_ in found)
        found = [each for each in found if each[0] > top - LEAST]
        sum_of_weights = total((weight - top).exp() for weight, *_ in found)
        means, seconds, included = ([Decimal(0)] * d for _ in range(3))
        for weight, model, members, centre, covariance in found:
            probability = (weight - top).exp() / sum_of_weights
            for i, j in enumerate(members):
                means[j] += probability * centre[i]
                seconds[j] += probability * (centre[i] * centre[i] + covariance[i][i])
            for j in range(d):
                included[j] += probability * int(model[j])
        misfit = total(reward * reward for reward in rewards) / noise + len(rewards) * (TWO_PI * noise).ln()
        return Exact(
            [float(value) for value in means],
            [float((second - one * one).sqrt()) for second, one in zip(seconds, means, strict=True)],
            [float(value) for value in included],
            float(top + sum_of_weights.ln() - misfit / 2),
        )
