"""Which coordinates are included, given how many: probabilities of sizes, and exact draws given a size.

Independent indicators γ_j ~ Bernoulli(p_j) have a Poisson-binomial sum. Given the sum, they are drawn one after the
other, each with its probability given how many are to come (conditional Bernoulli sampling; Chen and Liu 1997).
Probabilities are in logarithms, so that a size may be as improbable as it likes.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray, check_count, shown


def check_size(name: str, value: object) -> int | tuple[int, int]:
    """Require one number of coordinates, or the smallest and the largest one.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : object
        The argument.

    Returns
    -------
    int or tuple of two ints
        The number, or the range.

    Raises
    ------
    ArgumentError
        If it is neither, or if the range is empty.

    Examples
    --------
    >>> check_size("size", [0, 3])
    (0, 3)
    """
    if not isinstance(value, list | tuple):
        return check_count(name, value, least=0)
    if len(value) != 2:
        raise ArgumentValueError(name, "a whole number, or a smallest and a largest one", shown(value))
    low, high = check_count(f"{name}[0]", value[0], least=0), check_count(f"{name}[1]", value[1], least=0)
    if low > high:
        raise ArgumentValueError(name, "a smallest number that is not above the largest one", shown(value))
    return low, high


def log_sizes(inclusion: FloatArray) -> FloatArray:
    """Return log P(γ_1 + … + γ_d = k) for k = 0 … d.

    Parameters
    ----------
    inclusion : array of shape (d,)
        Probability p_j of each coordinate.

    Returns
    -------
    array of shape (d + 1,)
        Log probabilities, −inf for what is impossible.

    Examples
    --------
    >>> np.exp(log_sizes(np.array([0.5, 0.1]))).round(3)
    array([0.45, 0.5 , 0.05])
    """
    logs = np.full(len(inclusion) + 1, -np.inf)
    logs[0] = 0.0
    for inside, outside in zip(*_logs(inclusion), strict=True):
        logs = _with_one_more(logs, inside, outside)
    return logs


def _logs(inclusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(divide="ignore"):
        return np.log(inclusion), np.log1p(-inclusion)


def _with_one_more(logs: FloatArray, inside: float, outside: float) -> FloatArray:
    """Return log P(sum = k), given that of the other coordinates."""
    result = logs + outside
    result[1:] = np.logaddexp(result[1:], logs[:-1] + inside)
    return result


def draw_models(rng: Generator, sizes: IntArray, inclusion: FloatArray) -> NDArray[np.bool_]:
    """Return draws of γ given its sum.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    sizes : int array of shape (M,)
        Number of included coordinates of each draw, which has to be possible.
    inclusion : array of shape (d,)
        Probability p_j of each coordinate.

    Returns
    -------
    bool array of shape (M, d)
        γ, one draw per row.
    """
    d, left = len(inclusion), np.array(sizes)
    inside, outside = _logs(inclusion)
    table = np.full((d + 1, int(left.max(initial=0)) + 1), -np.inf)  # log P(γ_j + … + γ_d = k)
    table[d, 0] = 0.0
    for j in range(d - 1, -1, -1):
        table[j] = _with_one_more(table[j + 1], inside[j], outside[j])
    included = np.empty((len(left), d), dtype=bool)
    for j in range(d):
        with_j = np.where(left > 0, table[j + 1, left - 1], -np.inf) + inside[j]
        included[:, j] = rng.random(len(left)) < np.exp(with_j - table[j, left])
        left -= included[:, j]
    return included
