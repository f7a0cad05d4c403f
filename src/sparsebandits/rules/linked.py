"""Beliefs about clicks and counts: mean rewards are functions of α + ⟨a, θ⟩, so they are averaged over draws.

Symbols as in ``information.py``, with the mean reward μ_a = μ(α + ⟨a, θ⟩) in place of ⟨a, θ⟩:

- Δ(a) = E[max_b μ_b] − E μ_a
- v(a) = Var(E[μ_a | x*]), per unit of E Var(Y_a | θ), since that differs between actions
- I(x*; Y_a), which for rewards of 0 and 1 is H(E μ_a) − Σ_g P(x* = g) H(E[μ_a | x* = g]) with H the entropy of a coin,
  and for counts a sum over counts

μ is increasing and α is the same for all actions, so the best action under each draw is that of ``optima.py``. Mean
rewards of all draws are kept in single precision for as long as only weights change: O(M K) functions after a move, and
O(M K) products per decision. Where they are too many to keep, both are computed in each decision.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # scipy.sparse and scipy.special, which are slow to import, are loaded on first use

from sparsebandits.arguments import ArgumentValueError, FloatArray, IntArray
from sparsebandits.model.families import Bernoulli, Linked
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.beliefs import Beliefs
from sparsebandits.rules.best import Best
from sparsebandits.rules.optima import MOST_KEPT, Optima

AT_ONCE = 2**20
"""Number of mean rewards that are computed at a time."""

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
        super().__init__(optima, draws.weights, sampled=True)
        self._family, self._intercepts = family, draws.intercepts
        value = optima.remembered("mean of the best", lambda: family.mean(_shifted(optima.value, draws.intercepts)))
        self.expected_value = float(draws.weights @ value)
        self._single = draws.weights[optima.order].astype(np.float32)
        self._kept = draws.weights.size * len(optima.actions.distinct) <= MOST_KEPT
        self.predictions = self._single @ self.rewards if self._kept else self._in_blocks[0]
        self.predictions = self.predictions.astype(np.float64, copy=False)

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

    def group_means(self, actions: IntArray) -> FloatArray:
        """Return E[μ_a | x* = g] of some distinct actions, shape ``(G, n)``.

        Parameters
        ----------
        actions : int array of shape (n,)
            The actions.

        Returns
        -------
        array of shape (G, n)
        """
        return self.averaged(self._columns(actions).astype(np.float64))

    def averaged(self, values: FloatArray) -> FloatArray:
        """Return the mean given x* = g of a number of each draw, which are in the order of the cells.

        Parameters
        ----------
        values : array of shape (M, n)
            One row per draw.

        Returns
        -------
        array of shape (G, n)
        """
        return np.asarray((self._shares @ values) / self.probability[:, np.newaxis])

    @cached_property
    def _shares(self) -> Any:
        """Weight of each draw in each group, a sparse matrix of shape ``(G, M)``."""
        draw, weights, group = self.draws()
        place = np.empty(len(self.weights), dtype=np.intp)
        place[self.optima.order] = np.arange(len(self.weights))
        return scipy.sparse.csr_array((weights, (group, place[draw])), shape=(len(self.support), len(self.weights)))

    def _columns(self, actions: IntArray) -> Any:
        if self._kept:
            return self.rewards[:, actions]
        return np.concatenate([self._rewards_of(slice(a, a + 1)) for a in actions.tolist()], axis=1)

    def bernoulli_information(self, actions: IntArray) -> FloatArray:
        """Return I(x*; Y_a) of some distinct actions where rewards are 0 and 1, in nats, shape ``(n,)``."""
        inside = _coin(self.group_means(actions))
        return np.asarray(np.maximum(_coin(self.predictions[actions]) - self.probability @ inside, 0.0))

    def count_information(self, actions: IntArray) -> FloatArray:
        """Return I(x*; Y_a) of some distinct actions where rewards are counts, in nats, shape ``(n,)``."""
        rates = self._columns(actions).astype(np.float64)
        most = float(rates.max(initial=0.0))
        last = int(most + 10.0 * np.sqrt(most) + 20.0)
        if last > MOST_COUNTS:
            expected = f"one that is computed from variances, since counts above {MOST_COUNTS} may come"
            raise ArgumentValueError("gain", expected, "mutual information")
        total = np.zeros(len(actions))
        for count in range(last + 1):
            log_mass = scipy.special.xlogy(count, rates) - rates - scipy.special.gammaln(count + 1.0)
            given = self.averaged(np.exp(log_mass))  # P(Y = count | x* = g)
            marginal = self.probability @ given
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(given > 0.0, given * np.log(given / marginal), 0.0)
            total += self.probability @ part
        return np.maximum(total, 0.0)


def _shifted(values: FloatArray, intercepts: FloatArray | None) -> FloatArray:
    return values if intercepts is None else values + intercepts


def _coin(probability: FloatArray) -> FloatArray:
    """Return the entropy of a coin, in nats."""
    return np.asarray(scipy.special.entr(probability) + scipy.special.entr(1.0 - probability))


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
    def best(self) -> LinkedBest:  # type: ignore[override]
        """x* under the draws."""
        return self._best

    def best_under(self, draws: Draws) -> LinkedBest:
        """Return x* under some draws."""
        optima = self._memory.of(draws.source, self.features, getattr(self.posterior, "threads", 1))
        return LinkedBest(optima, draws, self.posterior.rewards)

    @cached_property
    def means(self) -> FloatArray:
        """E μ_a of each action, shape ``(K,)``."""
        return self.best.optima.actions.of_rows(self.best.predictions)

    def means_of(self, rows: IntArray) -> FloatArray:
        """Return E μ_a of some of the actions."""
        return self.means[rows]

    @property
    def differences(self) -> FloatArray:  # type: ignore[override]
        """E μ_a of each action, by which actions are compared, shape ``(K,)``."""
        return self.means

    @property
    def variances(self) -> FloatArray:  # type: ignore[override]
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
        best, number = self.best, self.best.optima.actions.number[rows]
        some, place = np.unique(number, return_inverse=True)
        clicks = isinstance(self.posterior.rewards, Bernoulli)
        return (best.bernoulli_information(some) if clicks else best.count_information(some))[place]


def beliefs_about(posterior: Any, features: FloatArray, *arguments: Any) -> Beliefs:
    """Return the beliefs of a posterior about actions, through the link of its rewards if they have one.

    Parameters
    ----------
    posterior : Engine or other learner
        The posterior.
    features : array of shape (K, d)
        The actions.
    *arguments
        Further arguments of :class:`Beliefs`.

    Returns
    -------
    Beliefs
    """
    linked = isinstance(getattr(posterior, "rewards", None), Linked)
    return (LinkedBeliefs if linked else Beliefs)(posterior, features, *arguments)
