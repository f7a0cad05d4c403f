"""The parts of Theorem 1 of Hao, Lattimore and Deng (2021): entropy, information ratios, and Lemma 1, as numbers.

Lemma 1 bounds the Bayesian regret of IDS through a bound Ψ_{*,λ} on its information ratio and I = I(x*; F_{n+1}):

    BR(n) ≤ inf_{λ≥2} 2^(1−2/λ) (Ψ_{*,λ} I)^(1/λ) n^(1−1/λ).

The paper has I ≤ Δ = min(log K, 2s log(C d √n / s)), Ψ_{*,2} ≤ d/2 and, where optimal actions are s-sparse,
Ψ_{*,3} ≤ s² / (4 C_min). These are called "as printed"; they are for unit noise variance and any R_max. Both bounds on
the ratios are too small (``docs/paper.md``). What the paper's proofs do give for |⟨a, θ⟩| ≤ R_max and noise variance
σ², with κ = R_max² + σ², is called "as proved":

**Ψ_{*,2} ≤ 2κd.** A reward is √κ-sub-Gaussian, so I_t(x*; Y_a) ≥ v_t(a) / 2κ (the paper has 2v_t(a) / κ), and the
squared regret of Thompson sampling is at most d Σ π(a) v_t(a) by the paper's trace argument.

**Ψ_{*,3} ≤ 27 R_max κ s² / C_min.** Let D = E_t‖E_t[θ | x*] − E_t[θ]‖² and play π = (1 − γ) TS + γμ, with μ the
exploration distribution. Its information gain is at least γ C_min D / 2κ. Its regret is at most s√D + 2 R_max γ by
the steps of the paper (s√D is the regret of Thompson sampling). So

    Ψ_{t,3}(π) ≤ (s√D + 2 R_max γ)³ · 2κ / (γ C_min D).

With γ = s√D / (4 R_max) that is (27/4) · 2 R_max s² · 2κ / C_min = 27 R_max κ s² / C_min, for any D. If this γ is more
than 1, then s²D > 16 R_max², and γ = 1 gives (2 R_max)³ · 2κ / (C_min D) < R_max κ s² / C_min. (With the inequality as
printed the same steps give 27 R_max κ s² / (4 C_min), so the last step of the printed proof is wrong as well.)

**Sharpened: 27 R_max κ s / C_min.** The step (a'x)² ≤ s²‖x‖² is for s-sparse a with ‖a‖_∞ ≤ 1. Such an a has ‖a‖² ≤ s,
so the Cauchy–Schwarz inequality gives s where the paper has s². Nothing else changes.

**The entropy.** The proof gives I ≤ s log(C d / (s ε)) + n s ε² / (2σ²) for a net of any width ε ≤ 1, and I ≤ log K.
The former is least at ε = σ / √n, where it is s log(C d √n / (s σ)) + s/2; for σ = 1 the paper rounds it up.

**C** is "some absolute constant" in the paper. There are (d choose s) ≤ (ed / s)^s supports, and a ball of s dimensions
has a net of (1 + 2/ε)^s ≤ (3/ε)^s points, so C = 3e is valid. It is the default.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    check_count,
    check_flag,
    check_number,
    shown,
)

COVERING_CONSTANT = 3.0 * math.e
"""A value of C for which the metric entropy of the s-sparse unit ball is at most s log(Cd / (sε)) for ε ≤ 1."""

MOST_EXPONENT = 100.0
"""Largest λ at which a function of λ is evaluated; beyond it, the bound of Lemma 1 is close to 2n."""

MOST_ITERATES = 10_000
"""Largest number of steps towards a crossover; about a dozen are usual."""

LARGEST_LOGARITHM = 700.0
"""Largest logarithm whose exponential is a finite float, with some room."""

GRID = 200
"""Number of points at which a function of λ is evaluated before the best one is refined."""


def check_real(name: str, value: object, least: float = 0.0, finite: bool = True) -> float:
    """Require a real number of at least ``least``, which may be larger than those that are allowed in data.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        The argument.
    least : float, default=0.0
        The smallest number that is allowed.
    finite : bool, default=True
        Whether infinity is rejected.

    Returns
    -------
    float

    Raises
    ------
    ArgumentTypeError
        If it is not one number.
    ArgumentValueError
        If it is too small or too large, NaN, or infinite.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ArgumentTypeError(name, "a number", shown(value))
    try:
        number = float(value)
    except OverflowError:
        raise ArgumentValueError(name, "a number that a float can hold", shown(value)) from None
    if not number >= least or (finite and number == math.inf):  # NaN too
        raise ArgumentValueError(name, f"a {'finite ' * finite}number of at least {least:g}", shown(value))
    return number


def _positive(**values: object) -> Iterator[float]:
    """Yield positive numbers after checking them."""
    for name, value in values.items():
        number = check_real(name, value)
        if number == 0.0:
            raise ArgumentValueError(name, "a positive number", shown(value))
        yield number


def _log_actions(n_actions: object) -> float:
    """Return log K, infinite if there is no number of actions; K may be too large for a float."""
    return math.inf if n_actions is None else math.log(check_count("n_actions", n_actions, most=None))


def entropy_as_printed(
    horizon: float, dimension: float, sparsity: float, n_actions: int | None, constant: float = COVERING_CONSTANT
) -> float:
    """Return the bound of the paper on I(x*; F): Δ = min(log K, 2s log(C d √n / s)).

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    dimension : float
        Number of features d.
    sparsity : float
        Number of features that matter s.
    n_actions : int or None
        Number of actions K; None for an infinite set.
    constant : float, default=COVERING_CONSTANT
        The constant C of the covering number, which the paper leaves open.

    Returns
    -------
    float
        The bound, in nats.

    Examples
    --------
    >>> round(entropy_as_printed(1000, 100, 10, n_actions=200), 4), round(math.log(200), 4)
    (5.2983, 5.2983)
    """
    n, d, s, c = _positive(horizon=horizon, dimension=dimension, sparsity=sparsity, constant=constant)
    return min(_log_actions(n_actions), 2.0 * s * (math.log(c) + math.log(d) - math.log(s) + 0.5 * math.log(n)))


def entropy(
    horizon: float,
    dimension: float,
    sparsity: float,
    n_actions: int | None,
    noise_variance: float = 1.0,
    constant: float = COVERING_CONSTANT,
) -> float:
    """Return the bound on I(x*; F) that the proof gives for any noise variance.

    It is the minimum over ε ≤ 1 of s log(Cd / (sε)) + nsε² / 2σ², or log K if that is smaller.

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    dimension : float
        Number of features d.
    sparsity : float
        Number of features that matter s.
    n_actions : int or None
        Number of actions K; None for an infinite set.
    noise_variance : float, default=1.0
        Noise variance σ².
    constant : float, default=COVERING_CONSTANT
        The constant C of the covering number, which the paper leaves open.

    Returns
    -------
    float
        The bound, in nats.

    Examples
    --------
    >>> round(entropy(1000, 100, 10, None), 1), round(entropy_as_printed(1000, 100, 10, None), 1)
    (83.6, 157.1)
    """
    n, d, s, c = _positive(horizon=horizon, dimension=dimension, sparsity=sparsity, constant=constant)
    (variance,) = _positive(noise_variance=noise_variance)
    square = min(1.0, variance / n) or math.ulp(0.0)  # ε²
    net = math.log(c) + math.log(d) - math.log(s) - 0.5 * math.log(square)  # c d / s may overflow
    return min(_log_actions(n_actions), s * (net + 0.5 * n * square / variance))


class Ratios(NamedTuple):
    """Bounds on the information ratios Ψ_2 and Ψ_3 of IDS.

    Parameters
    ----------
    second : float
        Bound on Ψ_2.
    third : float or None
        Bound on Ψ_3 for sparse optimal actions; None if C_min is not known.
    """

    second: float
    third: float | None


def ratios_as_printed(dimension: float, sparsity: float, c_min: float | None) -> Ratios:
    """Return the bounds of the paper on the information ratios: d/2 and s² / (4 C_min).

    Parameters
    ----------
    dimension : float
        Number of features d.
    sparsity : float
        Number of features that matter s.
    c_min : float or None
        C_min of the actions; None if it is not known.

    Returns
    -------
    Ratios

    Examples
    --------
    >>> ratios_as_printed(100, 10, c_min=1.0)
    Ratios(second=50.0, third=25.0)
    """
    d, s = _positive(dimension=dimension, sparsity=sparsity)
    return Ratios(0.5 * d, None if c_min is None else 0.25 * s * s / next(_positive(c_min=c_min)))


def ratios(
    dimension: float,
    sparsity: float,
    c_min: float | None,
    noise_variance: float = 1.0,
    bound: float = 1.0,
    sharpened: bool = False,
) -> Ratios:
    """Return the bounds on the information ratios that the proofs give: 2κd and 27 R_max κ s² / C_min.

    Parameters
    ----------
    dimension : float
        Number of features d.
    sparsity : float
        Number of features that matter s.
    c_min : float or None
        C_min of the actions; None if it is not known.
    noise_variance : float, default=1.0
        Noise variance σ²; κ is R_max² + σ².
    bound : float, default=1.0
        R_max, the largest absolute mean reward.
    sharpened : bool, default=False
        Whether to have s in place of s², which needs features between -1 and 1.

    Returns
    -------
    Ratios

    Examples
    --------
    >>> ratios(100, 10, c_min=1.0)
    Ratios(second=400.0, third=5400.0)
    """
    d, s, variance, reach = _positive(
        dimension=dimension, sparsity=sparsity, noise_variance=noise_variance, bound=bound
    )
    kappa = reach * reach + variance
    power = s if check_flag("sharpened", sharpened) else s * s
    if c_min is None:
        return Ratios(2.0 * kappa * d, None)
    return Ratios(2.0 * kappa * d, 27.0 * reach * kappa * power / next(_positive(c_min=c_min)))


def generic_bound(horizon: float, information: float, exponent: float, ratio: float) -> float:
    """Return the bound of Lemma 1 on the Bayesian regret: 2^(1−2/λ) (Ψ_λ I)^(1/λ) n^(1−1/λ).

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    information : float
        I(x*; F), or a bound on it, in nats.
    exponent : float
        λ, at least 2.
    ratio : float
        A bound on the information ratio Ψ_λ in all rounds.

    Returns
    -------
    float

    Examples
    --------
    >>> round(generic_bound(100, information=2.0, exponent=2.0, ratio=8.0), 6)
    40.0
    """
    lam = check_number("exponent", exponent)
    if lam < 2.0:
        raise ArgumentValueError("exponent", "a number of at least 2", shown(exponent))
    n, nats, psi = check_real("horizon", horizon), check_real("information", information), ratio
    if check_real("ratio", psi, finite=False) == math.inf:
        return math.inf
    root = math.pow(psi, 1.0 / lam) * math.pow(nats, 1.0 / lam)
    return math.pow(2.0, 1.0 - 2.0 / lam) * root * math.pow(n, 1.0 - 1.0 / lam)


class GenericBound(NamedTuple):
    """The least bound of Lemma 1 that was found, and its λ.

    Parameters
    ----------
    value : float
        The bound.
    exponent : float
        λ.
    """

    value: float
    exponent: float


def least_generic_bound(
    horizon: float, information: float, ratio: Mapping[float, float] | Callable[[float], float]
) -> GenericBound:
    """Return the least bound of Lemma 1 over λ.

    A function is evaluated on a grid in 1/λ for 2 ≤ λ ≤ 100, and the best point is refined. Every λ gives a valid
    bound, so the result is valid even if there is a lower point between two points of the grid.

    Parameters
    ----------
    horizon : float
        Number of rounds n.
    information : float
        I(x*; F), or a bound on it, in nats.
    ratio : mapping or callable
        Bounds on the information ratio Ψ_λ, by λ or as a function of λ.

    Returns
    -------
    GenericBound

    Examples
    --------
    >>> value, exponent = least_generic_bound(1000, 5.0, {2: 50.0, 3: 25.0})
    >>> round(value, 6), exponent
    (500.0, 2)
    """
    if not isinstance(ratio, Mapping) and not callable(ratio):
        raise ArgumentTypeError("ratio", "a mapping or a function of exponents", shown(ratio))
    if isinstance(ratio, Mapping):
        if not ratio:
            raise ArgumentValueError("ratio", "at least one exponent", "an empty mapping")
        return min(GenericBound(generic_bound(horizon, information, lam, psi), lam) for lam, psi in ratio.items())

    def at(inverse: float) -> float:
        return generic_bound(horizon, information, 1.0 / inverse, ratio(1.0 / inverse))

    low, high = 1.0 / MOST_EXPONENT, 0.5
    points = [low + (high - low) * i / (GRID - 1) for i in range(GRID - 1)] + [high]
    best = min(range(GRID), key=lambda i: at(points[i]))
    around = (points[max(best - 1, 0)], points[min(best + 1, GRID - 1)])
    refined = float(minimize_scalar(at, bounds=around, method="bounded").x)
    inverse = min(points[best], refined, key=at)
    return GenericBound(at(inverse), 1.0 / inverse)


def crossover(psi: Ratios, information: Callable[[float], float]) -> float | None:
    """Return the largest n at which the bounds of Lemma 1 for λ = 2 and λ = 3 are equal.

    They are equal where n = Ψ_2³ I(n) / (4 Ψ_3²): a fixed point of a map that increases with n, since I does. Iterates
    from above decrease to the largest fixed point. For ratios as printed, n = C_min² d³ Δ(n) / (2s⁴).

    Parameters
    ----------
    psi : Ratios
        Bounds on the information ratios.
    information : callable
        A bound on I(x*; F) as a function of n, in nats.

    Returns
    -------
    float or None
        At least 1; None if there is no such n.

    Examples
    --------
    >>> round(crossover(ratios_as_printed(100, 10, 1.0), lambda n: 2.0), 6)
    100.0
    """
    if not isinstance(psi, Ratios):
        raise ArgumentTypeError("psi", "ratios, such as ratios(...) returns", shown(psi))
    if not callable(information):
        raise ArgumentTypeError("information", "a function of the horizon", shown(information))
    if psi.third is None:
        return None
    second, third = _positive(**{"psi.second": psi.second, "psi.third": psi.third})
    logarithm = 3.0 * math.log(second) - 2.0 * math.log(third) - math.log(4.0)
    if logarithm > LARGEST_LOGARITHM:
        raise ArgumentValueError("psi", "ratios whose bounds cross at a number", shown(tuple(psi)))
    factor = math.exp(logarithm)

    def mapped(n: float) -> float:
        return factor * check_real("information", information(n))

    n = 1.0
    while mapped(n) > n:
        n *= 2.0
        if n == math.inf:
            raise ArgumentValueError("information", "a function that grows more slowly than n", "a faster one")
    for _ in range(MOST_ITERATES):
        n, above = mapped(n), n
        if n < 1.0:
            return None
        if n >= above * (1.0 - 1e-14):
            break
    return n
