"""The mixture policy by which Hao, Lattimore and Deng (2021) bound Ψ_{*,3}, and the bounds that hold for given draws.

Appendix, proof of the lemma on the information ratio. With P(x* = ·), Δ and v as in ``rules/information.py``,

    π^TS(a) = P(x* = a),   μ = argmax σ_min(E_μ[aa']),   π^mix = (1 − γ) π^TS + γ μ.

Let R be the largest |⟨a, θ⟩|, L² the largest ‖a‖₂² of an action that may be best, and
G = Σ_a P(x* = a) ‖E[θ | x* = a] − E θ‖₂². Then

    Δ'π^TS  ≤ √(d · v'π^TS)                     (the trace of a matrix of rank d: Russo and Van Roy 2016, Proposition 5)
    Δ'π^TS  ≤ √(Σ_a P(x* = a) ⟨a, E[θ | x* = a] − E θ⟩²) ≤ L √G
    v'π^mix ≥ γ v'μ ≥ γ C_min G
    Δ'π^mix ≤ L √G + 2 R γ,

so that Ψ_2(π^TS) ≤ d, and Ψ_3(π^mix) ≤ (L √G + 2Rγ)³ / (γ C_min G), which is least at γ = L √G / 4R:

    Ψ_3(π^mix) ≤ 27/2 · R L² / C_min        (where L √G > 4R, γ = 1, and Ψ_3(μ) ≤ (2R)³ / (C_min G) is smaller).

These ratios are with the gain v. With the information I in nats, both bounds have the additional factor 2 (R² + σ²),
since v ≤ 2 (R² + σ²) I (docs/paper.md). Where actions that may be best are s-sparse with entries within ±1, L² ≤ s; the
paper has s² there. The last line of the printed proof, s² (R² + 1) / (8 R² C_min) ≤ s² / (4 C_min), is not the minimum
over γ of the line before, and it is false (docs/theory.md).
"""

import numpy as np

from sparsebandits.arguments import ArgumentTypeError, FloatArray, check_count, check_vector, shown
from sparsebandits.rules.information import Information
from sparsebandits.theory.bounds import check_real


def mixture_rate(known: Information, largest_mean: float, longest: float) -> float:
    """Return the weight of exploration in the mixture: γ = min(1, L √G / 4R).

    Parameters
    ----------
    known : Information
        What Algorithm 3 computes, ``beliefs.information``.
    largest_mean : float
        R, the largest absolute mean reward of an action under a draw.
    longest : float
        L, the largest Euclidean norm of an action that may be best.

    Returns
    -------
    float
    """
    if not isinstance(known, Information):
        raise ArgumentTypeError("known", "an Information, such as beliefs.information", shown(known))
    largest, norm = check_real("largest_mean", largest_mean), check_real("longest", longest)
    deviations = known.conditional_mean - known.mean
    spread = float(known.support_probability @ np.square(deviations).sum(axis=1))  # G
    if spread == 0.0 or largest == 0.0:
        return 0.0 if spread == 0.0 else 1.0
    return min(1.0, norm * float(np.sqrt(spread)) / (4.0 * largest))


def proof_mixture(known: Information, exploration: FloatArray, largest_mean: float, longest: float) -> FloatArray:
    """Return the mixture π^mix of Thompson sampling and exploration.

    Parameters
    ----------
    known : Information
        What Algorithm 3 computes, ``beliefs.information``.
    exploration : array of shape (K,)
        μ, such as the weights of :func:`exploratory_design`.
    largest_mean : float
        R, the largest absolute mean reward of an action under a draw.
    longest : float
        L, the largest Euclidean norm of an action that may be best.

    Returns
    -------
    array of shape (K,)
        The probability of each action.

    Examples
    --------
    >>> from sparsebandits.rules.information import information
    >>> from sparsebandits.posteriors.draws import Draws
    >>> actions = np.array([[1.0], [-1.0], [0.5]])
    >>> known = information(Draws([[1.0], [-1.0]], [0.75, 0.25]), actions)
    >>> proof_mixture(known, np.array([1.0, 0.0, 0.0]), largest_mean=1.0, longest=1.0).round(3)
    array([0.804, 0.196, 0.   ])
    """
    rate = mixture_rate(known, largest_mean, longest)
    played = known.optimal_probability
    return (1.0 - rate) * played + rate * check_vector("exploration", exploration, len(played))


def ratio_bounds(dimension: int, c_min: float, largest_mean: float, longest: float) -> tuple[float, float]:
    """Return bounds on Ψ_2 of Thompson sampling and on Ψ_3 of the mixture, with the gain v.

    Parameters
    ----------
    dimension : int
        Number of features d.
    c_min : float
        C_min of the actions.
    largest_mean : float
        R, the largest absolute mean reward of an action under a draw.
    longest : float
        L, the largest Euclidean norm of an action that may be best.

    Returns
    -------
    second, third : float
        The bounds; the second one is infinite if C_min is zero.

    Examples
    --------
    >>> ratio_bounds(8, 1.0, largest_mean=1.0, longest=1.0)
    (8.0, 13.5)
    """
    smallest, largest, norm = (
        check_real(name, value)
        for name, value in (("c_min", c_min), ("largest_mean", largest_mean), ("longest", longest))
    )
    third = 13.5 * largest * norm * norm / smallest if smallest > 0 else float("inf")
    return float(check_count("dimension", dimension)), third


def nats_factor(largest_mean: float, noise_variance: float) -> float:
    """Return the factor 2 (R² + σ²): v is at most this many times the mutual information.

    Parameters
    ----------
    largest_mean : float
        R, the largest absolute mean reward of an action under a draw.
    noise_variance : float
        Noise variance σ².

    Returns
    -------
    float

    Examples
    --------
    >>> nats_factor(1.0, 2.0)
    6.0
    """
    largest = check_real("largest_mean", largest_mean)
    return 2.0 * (largest * largest + check_real("noise_variance", noise_variance))
