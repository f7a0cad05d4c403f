"""Contextual information-directed sampling: one information ratio for all contexts that may come.

Hao, Lattimore and Qin (2022). Conditional IDS, which every other rule here is, minimises a ratio of the context at
hand: regret now against information about the best action of these rows. Contextual IDS minimises, over maps from
contexts to distributions of actions,

    (E_s Δ(s)'π(s))^λ / E_s g(s)'π(s),

with the gain g about π*, the best actions of all contexts. So an action may be played because it helps the next user.
``contextual_ratio.py`` finds the exact minimum, ``around.py`` regret and gain of all contexts.

With a single context it is :class:`~sparsebandits.rules.InformationDirected`, randomised.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import (
    ArgumentTypeError,
    ArgumentValueError,
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_number,
    shown,
)
from sparsebandits.model.families import Linked
from sparsebandits.rules.around import Around, GainOf, Optimal
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.choice import PRIORS, Choice, Reasons
from sparsebandits.rules.contextual_ratio import minimise_over_maps
from sparsebandits.rules.ids import drawn
from sparsebandits.rules.listed import Listed, quadratic_forms
from sparsebandits.rules.mutual_information import information_of_groups
from sparsebandits.rules.products import Products
from sparsebandits.rules.ratio import Minimiser
from sparsebandits.rules.rule import Rule

GAINS = ("variance", "total-variance", "mutual-information")

SETS = "sequences of rows, one per context"


@dataclass(frozen=True)
class ContextualInformationDirected(Rule):
    """Minimise one information ratio over all contexts that may come.

    The contexts are those of the policy: a sample of the table that it was made with, or the latest ones if only their
    columns were given; or the ``available`` rows of its actions. The context at hand counts as one of them. With a
    feedback graph, the information of all rewards that an action shows counts, those of actions that are not on offer
    among them.

    Parameters
    ----------
    exponent : float, default=2.0
        λ of the information ratio, at least 2.
    gain : {"variance", "total-variance", "mutual-information"}, default="variance"
        Information gain: how much the mean reward depends on the best action of a context, on average over contexts;
        on θ, Var⟨φ, θ⟩; or the mutual information with the best actions of all contexts, which takes the noise into
        account and time for each action.
    contexts : int, default=200
        Largest number of contexts. Fewer are used if these have more than 10 million features in all, such as 10 with
        1,000 items of 960 features; ``decision.diagnostics`` has their number.
    available : tuple of tuples of int, optional
        Rows of the policy's actions that are offered in each context, for policies without a table of contexts.
    probability : tuple of float, optional
        Probability of each of these; by default they are equally likely.

    Examples
    --------
    >>> ContextualInformationDirected(available=((0, 1), (2, 3))).probability
    (0.5, 0.5)
    """

    around: ClassVar[bool] = True  # the policy says what may come

    exponent: float = 2.0
    gain: str = "variance"
    contexts: int = 200
    available: tuple[tuple[int, ...], ...] | None = None
    probability: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        exponent = check_number("exponent", self.exponent)
        if exponent < 2:
            raise ArgumentValueError("exponent", "a number of at least 2", repr(self.exponent))
        object.__setattr__(self, "exponent", exponent)
        check_choice("gain", self.gain, GAINS)
        check_count("contexts", self.contexts)
        if self.available is None:
            if self.probability is not None:
                raise ArgumentValueError("probability", "none without available rows", shown(self.probability))
            return
        sets = [_several("available", one, "rows") for one in _several("available", self.available, SETS)]
        rows = tuple(tuple(sorted(check_count("available", row, least=0) for row in one)) for one in sets)
        if not rows or not all(one and len(set(one)) == len(one) for one in rows):
            raise ArgumentValueError("available", "some rows for each context, each once", shown(self.available))
        equal = [1.0 / len(rows)] * len(rows)
        given = (
            equal if self.probability is None else _several("probability", self.probability, "numbers, one per context")
        )
        chance = [check_number("probability", one) for one in given]
        if len(chance) != len(rows) or min(chance) < 0.0 or abs(sum(chance) - 1.0) > 1e-9:
            raise ArgumentValueError("probability", f"{len(rows)} that sum to one", shown(self.probability))
        object.__setattr__(self, "available", rows)
        object.__setattr__(self, "probability", tuple(chance))

    def check(self, posterior: Any) -> None:
        """Refuse a posterior without draws, and one of clicks or counts."""
        super().check(posterior)
        if isinstance(getattr(posterior, "rewards", None), Linked):
            raise ArgumentTypeError("posterior", "Gaussian rewards for contextual IDS", shown(posterior.rewards))

    def choose(self, beliefs: Beliefs, rng: Generator) -> Choice:
        """Minimise the ratio; draw one of the two actions if this context randomises."""
        around, known = beliefs.here if beliefs.around is None else beliefs.around, beliefs.information
        present = None if around is None else around.actions.find(beliefs.features)
        if around is None or (len(around) == 1 and present == 0 and beliefs.here is None):
            regret, gain = known.expected_regret, self._alone(beliefs)
            starts, probability, own = np.array([0, len(regret)]), np.ones(1), 0
        else:
            regret, gain, starts, probability, own = self._all(beliefs, around, present)
        found = minimise_over_maps(regret, gain, probability, starts, self.exponent)
        here = slice(int(starts[own]), int(starts[own + 1]))
        regret, gain = regret[here], gain[here]
        mixed = Minimiser(int(found.first[own]), int(found.second[own]), float(found.probability[own]), found.ratio)
        action, chance, mixture = drawn(mixed, regret, gain, rng)
        priced = regret - gain * (found.price if np.isfinite(found.price) else 0.0)
        columns = {
            "expected regret": regret,
            "information gain": gain,
            "regret less information": priced,
            "P(optimal)": known.optimal_probability,
        }
        notes = {
            "contexts in the ratio": float(len(probability)),
            "ratio minimised": found.ratio,
            "price of information": found.price,
            "effective draws": beliefs.draws.effective_sample_size,
        }
        remarks = (PRIORS,) if beliefs.are_the_priors else ()
        contributions = beliefs.features[action] * known.mean
        reasons = Reasons.top(
            action, known.optimal_probability, columns, contributions, notes, mixture, -priced, remarks
        )
        return Choice(action, chance, reasons)

    def _alone(self, beliefs: Beliefs) -> FloatArray:
        """Return the gain of each action if there is no other context."""
        gains = {"variance": "variance_gain", "total-variance": "variances", "mutual-information": "mutual_information"}
        gain = getattr(beliefs, gains[self.gain])
        if self.gain == "total-variance" and beliefs.differing_noise is not None:
            gain = gain / beliefs.noise_variances
        return beliefs.shown(gain)

    def _all(
        self, beliefs: Beliefs, around: Around, present: int | None
    ) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, int]:
        """Return regret and gain of all actions, where contexts start, their probabilities, and which one is at hand.

        If the context at hand is not among those that may come, it is one more.
        """
        draws, known, mean = beliefs.draws, beliefs.information, beliefs.information.mean
        expected = around.actions.expected(mean)
        optimal = around.optimal(draws, mean, expected)
        regret = around.regret(draws, expected, optimal)
        share = 0.0 if present is not None else 1.0 / (len(around) + 1)
        gain_of = (
            self._mutual_information(beliefs, around, optimal, present)
            if self.gain == "mutual-information"
            else self._quadratic(beliefs, self._spread(beliefs, around, optimal, share))
        )
        gain = around.gain(gain_of)
        if present is not None:
            return regret, gain, around.starts, around.probability, present
        here = beliefs.here
        own = beliefs.shown(gain_of(beliefs.features, beliefs.differing_noise)) if here is None else here.gain(gain_of)
        starts = np.append(around.starts, around.starts[-1] + len(beliefs.features))
        probability = np.append(around.probability * (1.0 - share), share)
        return (
            np.concatenate((regret, known.expected_regret)),
            np.concatenate((gain, own)),
            starts,
            probability,
            len(around),
        )

    def _spread(self, beliefs: Beliefs, around: Around, optimal: Optimal, share: float) -> FloatArray:
        """Return the matrix whose quadratic form is the gain, the context at hand counting by its share."""
        draws, mean = beliefs.draws, beliefs.information.mean
        if self.gain == "total-variance":
            theta = (draws.theta - mean) * np.sqrt(draws.weights)[:, np.newaxis]
            return np.asarray(theta.T @ theta)
        spread = around.spread(draws, mean, optimal)
        if share == 0.0:
            return spread
        apart = (beliefs.best.conditional_mean() - mean) * np.sqrt(beliefs.best.probability)[:, np.newaxis]
        return np.asarray((1.0 - share) * spread + share * (apart.T @ apart))

    @staticmethod
    def _quadratic(beliefs: Beliefs, spread: FloatArray) -> GainOf:
        """Return the variance gain as a function of rows, per unit of their noise variances where those differ."""

        def gain_of(actions: FloatArray | Listed | Products, noise: FloatArray | None) -> FloatArray:
            found = (
                quadratic_forms(actions, spread, beliefs.centre)
                if isinstance(actions, np.ndarray)
                else actions.forms(spread, beliefs.centre)
            )
            return found if noise is None else found / (noise + beliefs.level_variance)

        return gain_of

    @staticmethod
    def _mutual_information(beliefs: Beliefs, around: Around, optimal: Optimal, present: int | None) -> GainOf:
        """Return I(π*; reward) as a function of rows: draws with the same best action in every context are a group."""
        best = optimal.action.T
        if present is None:
            own = Around(Listed(beliefs.features, np.array([0, len(beliefs.features)])), np.ones(1))
            best = np.column_stack((best, own.optimal(beliefs.draws, beliefs.information.mean).action.T))
        group = np.unique(best, axis=0, return_inverse=True)[1].reshape(-1)

        def gain_of(actions: FloatArray | Listed | Products, noise: FloatArray | None) -> FloatArray:
            features = actions if isinstance(actions, np.ndarray) else actions.features
            rows = features if beliefs.centre is None else features - beliefs.centre
            variance = beliefs.posterior.noise_variance if noise is None else noise
            return information_of_groups(beliefs.draws, rows, variance + beliefs.level_variance, group)

        return gain_of


def _several(name: str, value: object, of: str) -> list[Any]:
    """Return the members of a sequence or an array; refuse anything else."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise ArgumentTypeError(name, f"a sequence of {of}", shown(value))
    return list(value)
