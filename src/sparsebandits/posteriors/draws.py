"""What every engine gives: weighted draws of θ."""

from dataclasses import dataclass

from sparsebandits.arguments import ArgumentValueError, FloatArray, check_matrix, check_vector, frozen


@dataclass(frozen=True, eq=False)
class Draws:
    """Weighted draws of θ: ``theta`` is ``(M, d)``, ``weights`` is ``(M,)`` and sums to one.

    Both arrays are read-only. An engine that returns the *same* ``theta`` array again says that only weights have
    changed, which a policy may use to skip work.

    >>> draws = Draws([[0.0, 1.0], [2.0, 1.0]], [0.25, 0.75])
    >>> draws.mean(), round(draws.effective_sample_size, 2)
    (array([1.5, 1. ]), 1.6)
    """

    theta: FloatArray
    weights: FloatArray

    def __post_init__(self) -> None:
        theta = check_matrix("theta", self.theta)
        weights = check_vector("weights", self.weights, len(theta))
        if weights.min() < 0 or abs(weights.sum() - 1.0) > 1e-9:
            raise ArgumentValueError("weights", "non-negative numbers that sum to 1", f"a sum of {weights.sum():g}")
        object.__setattr__(self, "theta", frozen(theta.copy()))
        object.__setattr__(self, "weights", frozen(weights.copy()))

    @classmethod
    def trusted(cls, theta: FloatArray, weights: FloatArray) -> "Draws":
        """Return draws from an engine, which has kept the promises above, without checking or copying again."""
        draws = object.__new__(cls)
        object.__setattr__(draws, "theta", frozen(theta))
        object.__setattr__(draws, "weights", frozen(weights))
        return draws

    def __len__(self) -> int:
        return len(self.weights)

    def mean(self) -> FloatArray:
        """Return E[θ], shape ``(d,)``."""
        return self.weights @ self.theta

    @property
    def effective_sample_size(self) -> float:
        """1 / Σ w²: how many equally weighted draws these are worth, between 1 and M (Kong 1992)."""
        return float(1.0 / (self.weights @ self.weights))
