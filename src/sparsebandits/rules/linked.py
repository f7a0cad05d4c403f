"""Beliefs about clicks and counts: mean rewards are functions of α + ⟨a, θ⟩, so they are averaged over draws.

Symbols as in ``information.py``, with the mean reward μ_a = μ(α + ⟨a, θ⟩) in place of ⟨a, θ⟩:

- Δ(a) = E[max_b μ_b] − E μ_a
- v(a) = Var(E[μ_a | x*]), per unit of E Var(Y_a | θ), since that differs between actions
- I(x*; Y_a), which for rewards of 0 and 1 is Σ_g P(x* = g) φ(E[μ_a | x* = g]) − φ(E μ_a) with φ the negative entropy
  of a coin, and for counts a sum over counts

μ is increasing and α is the same for all actions, so the best action under each draw is that of ``optima.py``. Mean
rewards of all draws are kept in single precision for as long as only weights change: O(M K) functions after a move, and
O(M K) products per decision. Where they are too many to keep, both are computed in each decision.
"""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.arguments import FloatArray, IntArray
from sparsebandits.model.families import TINY, Bernoulli, Linked
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.best import Best
from sparsebandits.rules.information import unbiased
from sparsebandits.rules.optima import MOST_KEPT, Optima

AT_ONCE = 2**20
"""Number of mean rewards that are computed at a time."""

OF_THETA = 4.0
"""Factor on the share of the information about θ that counts beside that about x*, for clicks and counts. Where clicks
are rare, so is information about x*, and a rule that looks for nothing else may stay for long with what it has."""

MOST_BELIEVED = 1e6
"""Largest count that a batch counts with before it has come: engines refuse counts that are much larger."""

MOST_COUNTS = 2000
"""Largest count that the mutual information of counts is summed up to."""


class LinkedBest(Best):
    """x* under weighted draws, and how much mean rewards depend on it, where these are functions of α + ⟨a, θ⟩.

    Parameters
    ----------
    optima : Optima
        The best actions under each draw.
    draws : Draws
        The draws and their weights.
    family : Linked
        Family of the rewards.
    """

    @property
    def from_predictions(self) -> bool:
        """Always: variances of mean rewards do not follow from those of coefficients."""
        return True

    def __init__(self, optima: Optima, draws: Draws, family: Linked) -> None:
        super().__init__(optima, draws.weights, sampled=True, exact=draws.exact)
        self._family, self._intercepts = family, draws.intercepts
        value = optima.remembered("mean of the best", lambda: family.mean(_shifted(optima.value, draws.intercepts)))
        self.expected_value = float(draws.weights @ value)
        self._single = draws.weights[optima.order].astype(np.float32)
        self._kept = draws.weights.size * len(optima.actions.distinct) <= MOST_KEPT
        self.predictions = self._single @ self.rewards if self._kept else self._in_blocks[0]
        self.predictions = np.minimum(self.predictions.astype(np.float64), family.largest_mean)  # sums are rounded

    @property
    def rewards(self) -> Any:
        """Mean reward of each distinct action under each draw, in the order of the cells, shape ``(M, U)``."""
        return self.optima.remembered("mean rewards", lambda: self._rewards_of(slice(None)))

    def _rewards_of(self, columns: slice) -> Any:
        """Return mean rewards of some actions, in single precision."""
        some, source, order = self.optima.actions.distinct[columns], self.optima.source, self.optima.order
        found = np.empty((len(order), len(some)), np.float32)
        step = max(1, AT_ONCE // max(len(some), 1))
        for start in range(0, len(order), step):
            part = order[start : start + step]
            eta = source.take(part).many_products(some) if isinstance(source, Rows) else source[part] @ some.T
            if self._intercepts is not None:
                eta += self._intercepts[part, np.newaxis]
            found[start : start + step] = self._family.mean(eta.astype(np.float32))
        return found

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield mean rewards of all distinct actions, as many at a time as are kept."""
        count = len(self.optima.actions.distinct)
        step = max(1, MOST_KEPT // (4 * len(self.weights)))
        for start in range(0, count, step):
            columns = slice(start, min(start + step, count))
            yield columns, self._rewards_of(columns)

    @cached_property
    def _in_blocks(self) -> FloatArray:
        """E μ_a, Var(E[μ_a | x*]) and Var μ_a of each distinct action, where mean rewards are too many to keep."""
        found = np.empty((3, len(self.optima.actions.distinct)))
        for columns, rewards in self._blocks():
            mean = self._single @ rewards
            found[:, columns] = mean, *self._moments_of(rewards, mean)
        return found

    def _moments_of(self, rewards: Any, mean: Any) -> tuple[FloatArray, FloatArray]:
        from sparsebandits.posteriors.kernels.panels import moments_of_predictions

        found: tuple[FloatArray, FloatArray] = moments_of_predictions(
            rewards,
            np.zeros(len(rewards), np.float32),
            self._single,
            self.optima.starts,
            *self._pairs,
            self.probability,
            mean.astype(np.float32),
        )
        return found

    def moments(self, centre: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return Var(E[μ_a | x*]) and Var μ_a of each distinct action, each of shape ``(U,)``.

        Parameters
        ----------
        centre : array of shape (d,), optional
            Not used: the intercept is in μ.

        Returns
        -------
        between, total : arrays of shape (U,)
        """
        if not self._kept:
            return self._in_blocks[1], self._in_blocks[2]
        return self._moments_of(self.rewards, self.predictions)

    @cached_property
    def informations(self) -> tuple[FloatArray, FloatArray]:
        """I(x*; Y_a) and I(θ; Y_a) of each distinct action in nats, each of shape ``(U,)``; for counts approximately.

        With φ the potential of the family, D = Σ_g P(g) φ(E[μ_a | x* = g]) − φ(E μ_a) is the mean divergence of rewards
        given x* from those of their common mean, and E φ(μ_a) − φ(E μ_a) that of rewards given θ. For rewards of 0 and
        1 these are the mutual informations exactly. For counts I(θ; Y_a) is about ½ log(1 + 2D), since it is so for
        Gaussian rewards, and so is what is left of it when x* is known; I(x*; Y_a) is the difference.
        """
        potential, count = self._family.potential, len(self.optima.actions.distinct)
        between, total = np.empty(count), np.empty(count)
        whole = [(slice(None), self.rewards)] if self._kept else self._blocks()
        for columns, rewards in whole:
            mean = self.predictions[columns]
            of_groups = self._group_means(rewards).astype(np.float32)
            apart = potential(of_groups) - potential(mean.astype(np.float32))
            between[columns] = np.maximum(self.probability @ apart, 0.0)
            of_draws = self._potentials if self._kept else potential(rewards)
            total[columns] = self._single @ of_draws - potential(mean)
        total = np.maximum(total, between)
        everything, left = self._family.information(total), self._family.information(total - between)
        return np.maximum(everything - left, 0.0), everything

    @property
    def unbiased_information(self) -> FloatArray:
        """The first of :attr:`informations` without what the noise of the draws adds to it, shape ``(U,)``.

        Information within a group, E[φ(μ_a) | x* = g] − φ(E[μ_a | x* = g]), is what variance within a group is to v: so
        it is the correction of ``information.py``, in nats.
        """
        between, total = self.informations
        if len(self.support) == 1:
            return between
        return unbiased(between, total, self.noise_share, self.square)

    @property
    def _potentials(self) -> Any:
        """φ(μ_a) under each draw, in the order of the cells, shape ``(M, U)``."""
        return self.optima.remembered("potentials", lambda: self._family.potential(self.rewards))

    def _group_means(self, rewards: Any) -> FloatArray:
        """Return E[μ_a | x* = g] from mean rewards of some actions, shape ``(G, n)``."""
        from sparsebandits.posteriors.kernels.groups import sums_of_groups

        pairs, groups = self._pairs, len(self.support)
        sums: FloatArray = sums_of_groups(rewards, self._single, self.optima.starts, *pairs, groups)
        return sums / self.probability[:, np.newaxis]

    def information_of_counts(self, actions: IntArray) -> FloatArray:
        """Return I(x*; Y_a) of some distinct actions where rewards are counts, in nats, shape ``(n,)``.

        Where counts may be above ``MOST_COUNTS``, that of :attr:`informations` takes its place.

        Parameters
        ----------
        actions : int array of shape (n,)
            The actions.

        Returns
        -------
        array of shape (n,)
        """
        rates = np.concatenate([self._rewards_of(slice(a, a + 1)) for a in actions.tolist()], axis=1)
        most = float(rates.max(initial=0.0))
        last = most + 10.0 * np.sqrt(most) + 20.0
        if last > MOST_COUNTS:
            return self.informations[0][actions]
        total, logs = np.zeros(len(actions)), np.log(np.maximum(rates, np.float32(TINY)))
        for count in range(int(last) + 1):
            given = self._group_means(np.exp(count * logs - rates - np.float32(math.lgamma(count + 1.0))))
            marginal = self.probability @ given
            positive = np.maximum(given, TINY)
            total += self.probability @ (positive * (np.log(positive) - np.log(np.maximum(marginal, TINY))))
        return np.maximum(total, 0.0)


def _shifted(values: FloatArray, intercepts: FloatArray | None) -> FloatArray:
    return values if intercepts is None else values + intercepts


class LinkedBeliefs(Beliefs):
    """A posterior of clicks or counts and a set of actions; parameters are those of :class:`Beliefs`."""

    @property
    def level(self) -> None:
        """None: the intercept is a number of each draw."""
        return None

    @cached_property
    def _best(self) -> LinkedBest:
        return self.best_under(self.draws)

    @property
    def best(self) -> LinkedBest:
        """x* under the draws."""
        return self._best

    def best_under(self, draws: Draws) -> LinkedBest:
        """Return x* under some draws."""
        optima = self._memory.of(draws.source, self.features, getattr(self.posterior, "threads", 1), draws.exact)
        return LinkedBest(optima, draws, self.posterior.rewards)

    @cached_property
    def means(self) -> FloatArray:
        """E μ_a of each action, shape ``(K,)``."""
        return self.best.optima.actions.of_rows(self.best.predictions)

    @property
    def believed(self) -> FloatArray:
        """Reward of each action that a batch counts with before it has come, shape ``(K,)``.

        Of counts it is exp(E η): where η varies much, E exp(η) is beyond nearly all draws, and would move them all.
        """
        if isinstance(self.posterior.rewards, Bernoulli):
            return self.means
        return np.minimum(self.rewards_under(self.coefficients), MOST_BELIEVED)

    def at_level(self, products: FloatArray, theta: FloatArray) -> FloatArray:
        """Return mean rewards μ(α + ⟨a, θ⟩) from products ⟨a, θ⟩, with α at its mean."""
        draws = self.draws
        level = 0.0 if draws.intercepts is None else float(draws.weights @ draws.intercepts)
        return np.asarray(self.posterior.rewards.mean(products + level))

    def means_of(self, rows: IntArray) -> FloatArray:
        """Return E μ_a of some of the actions."""
        return self.means[rows]

    @property
    def differences(self) -> FloatArray:
        """E μ_a of each action, by which actions are compared, shape ``(K,)``."""
        return self.means

    @property
    def variances(self) -> FloatArray:
        """Var μ_a of each action, shape ``(K,)``."""
        return self.information.reward_variance

    def rewards_under_draw(self, draw: int, products: FloatArray) -> FloatArray:
        """Return the mean reward of each action under one of the draws, from products ⟨a, θ⟩."""
        intercepts = self.draws.intercepts
        eta = products if intercepts is None else products + intercepts[draw]
        return np.asarray(self.posterior.rewards.mean(eta))

    @cached_property
    def predictions(self) -> FloatArray:
        """Mean reward of each action under each draw, shape ``(K, M)``."""
        draws = self.draws
        eta = self.features @ draws.theta.T
        return np.asarray(self.posterior.rewards.mean(eta if draws.intercepts is None else eta + draws.intercepts))

    @cached_property
    def noise_variances(self) -> FloatArray:
        """E Var(Y_a | θ) of each action, shape ``(K,)``."""
        found: FloatArray = self.posterior.rewards.noise_variances(self.means, self.variances)
        return found

    @property
    def variance_gain(self) -> FloatArray:
        """Var(E[μ_a | x*]) / E Var(Y_a | θ) of each action, shape ``(K,)``."""
        return self.information.gain / self.noise_variances

    @property
    def unbiased_variance_gain(self) -> FloatArray:
        """The same, without what the noise of the draws adds to it (``information.py``)."""
        return self.information.unbiased_gain / self.noise_variances

    def mutual_information_of(self, rows: IntArray) -> FloatArray:
        """Return I(x*; reward of a) of some of the actions, in nats, exact for the draws."""
        number = self.best.optima.actions.number[rows]
        if isinstance(self.posterior.rewards, Bernoulli):
            return self.best.informations[0][number]
        some, place = np.unique(number, return_inverse=True)
        return self.best.information_of_counts(some)[place]

    @property
    def unbiased_mutual_information(self) -> FloatArray:
        """I(x*; reward of a) without what the noise of the draws adds to it, shape ``(K,)``."""
        between, corrected = self.best.informations[0], self.best.unbiased_information
        noise = self.best.optima.actions.of_rows(between - corrected)
        return np.maximum(self.mutual_information - noise, 0.0)

    @property
    def shown_first(self) -> dict[str, FloatArray]:
        """The probability of a click, or the expected count, of each action."""
        return {"expected reward": self.means}

    @property
    def pace(self) -> float:
        """Number of rewards at the mean rate of the actions that say as much as one of a fair coin.

        A click at the rate p says 4 p (1 − p) of what a fair coin says about log-odds. Who has rare clicks has many
        rounds to come.
        """
        return max(1.0, 0.25 / max(float(self.posterior.rewards.variance_at(self.means.mean())), TINY))

    def informed(self, of: Any, share: float) -> tuple[FloatArray, FloatArray]:
        """Return I(x*; Y_a) + 4 κ I(θ; Y_a) of each action, and v, both without the noise of the draws."""
        best = self.best
        found = best.unbiased_information + OF_THETA * share * best.informations[1]
        return best.optima.actions.of_rows(found), self.information.unbiased_gain


def beliefs_about(posterior: Any, features: FloatArray, *arguments: Any, **named: Any) -> Beliefs:
    """Return the beliefs of a posterior about actions, through the link of its rewards if they have one.

    Parameters
    ----------
    posterior : Engine or other learner
        The posterior.
    features : array of shape (K, d)
        The actions.
    *arguments, **named
        Further arguments of :class:`Beliefs`.

    Returns
    -------
    Beliefs
    """
    linked = isinstance(getattr(posterior, "rewards", None), Linked)
    return (LinkedBeliefs if linked else Beliefs)(posterior, features, *arguments, **named)
