"""What a posterior says about the available actions: all that a rule may know when it chooses.

Every quantity is computed when a rule first asks for it, and once per decision. Rules stay stateless: what is worth
remembering from one decision to the next (the best action under each draw) is in the ``memory`` that the policy keeps.
"""

import math
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np

from sparsebandits.arguments import BoolArray, FloatArray, IntArray
from sparsebandits.model.features import Level
from sparsebandits.posteriors.draws import Draws
from sparsebandits.posteriors.rows import Rows
from sparsebandits.rules.around import Around
from sparsebandits.rules.best import Best
from sparsebandits.rules.information import Information, information
from sparsebandits.rules.learnt_noise import mutual_information_of_learnt_noise
from sparsebandits.rules.mutual_information import mutual_information
from sparsebandits.rules.optima import OptimaMemory
from sparsebandits.rules.wins import Wins, WinsMemory


class Beliefs:
    """A posterior and a set of actions, with the quantities that rules compute from the two.

    Parameters
    ----------
    posterior : Engine or other learner
        The posterior. Rules of whole algorithms (``policies/rivals``) find their own kind of learner here.
    features : array of shape (K, d)
        The available actions, one per row; read-only.
    noise_variances : array of shape (K,), optional
        Noise variance of each action's reward, where they differ and are known.
    decisions : int, default=0
        Number of decisions that the policy has made before this one, those of its batch included.
    memory : OptimaMemory, optional
        Remembers the best actions under the last draws.
    origin : array of shape (d,), optional
        What ``features`` are relative to, if rewards have an intercept; zero by default.
    wins : WinsMemory, optional
        Remembers under which of the last draws an action is the best.
    feedback : bool array of shape (K, K), optional
        Whether playing the action of the row shows the reward of the action of the column; by default each action shows
        its own reward.

    Attributes
    ----------
    around : Around or None
        What may be offered in the rounds to come, for rules that ask for it.
    here : Around or None
        The actions, for the same rules, if these show rewards of actions that are not available.
    rows : int array of shape (K,) or None
        Which of the policy's own actions are on offer; None if all are, or others.

    Examples
    --------
    >>> from sparsebandits import Conjugate, GaussianPrior
    >>> beliefs = Beliefs(Conjugate(GaussianPrior(4.0), dimension=2, seed=0), np.eye(2))
    >>> beliefs.means, beliefs.deviations
    (array([0., 0.]), array([2., 2.]))
    """

    def __init__(
        self,
        posterior: Any,
        features: FloatArray,
        noise_variances: FloatArray | None = None,
        decisions: int = 0,
        memory: OptimaMemory | None = None,
        origin: FloatArray | None = None,
        wins: WinsMemory | None = None,
        feedback: BoolArray | None = None,
    ) -> None:
        self.around: Around | None = None
        self.here: Around | None = None
        self.rows: IntArray | None = None
        self.posterior = posterior
        self.features = features
        self.decisions = decisions
        self.differing_noise = noise_variances
        self.feedback = feedback
        self._memory = OptimaMemory() if memory is None else memory
        self._origin = origin
        self._wins = WinsMemory() if wins is None else wins
        self._found: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.features)

    @property
    def are_the_priors(self) -> bool:
        """Whether nothing has been learnt yet, since no reward has come, or none that differs from the others."""
        count = getattr(getattr(self.posterior, "evidence", None), "count", None)
        return count == 0 or getattr(self.posterior, "unit", 1.0) == 0.0

    @cached_property
    def draws(self) -> Draws:
        """Weighted draws of θ."""
        drawn: Draws = self.posterior.draws()
        return drawn

    @cached_property
    def coefficients(self) -> FloatArray:
        """E θ, shape ``(d,)``."""
        mean: FloatArray = self.posterior.mean()
        return mean

    @property
    def level(self) -> Level | None:
        """The level of rewards, if they have an intercept."""
        return getattr(self.posterior, "level", None)

    @cached_property
    def centre(self) -> FloatArray | None:
        """x̄, the mean features of past rewards, shape ``(d,)``; of the actions before the first; None if α is zero.

        The first reward says nothing about θ. It is chosen as if rewards of all actions had been seen.
        """
        if self.level is None:
            return None
        if self.level.weight == 0.0:
            return np.asarray(self.features.mean(axis=0))
        return self.level.features if self._origin is None else self.level.features - self._origin

    def rewards_under(self, theta: FloatArray) -> FloatArray:
        """Return the mean reward of each action under coefficients θ, ȳ + ⟨a − x̄, θ⟩.

        Parameters
        ----------
        theta : array of shape (d,) or (M, d)
            Coefficients, or several of them.

        Returns
        -------
        array of shape (K,) or (K, M)
            Mean reward of each action.
        """
        return self.at_level(self.features @ theta.T, theta)

    def at_level(self, products: FloatArray, theta: FloatArray) -> FloatArray:
        """Return mean rewards ȳ + ⟨a − x̄, θ⟩ from products ⟨a, θ⟩, of all actions or of some.

        Parameters
        ----------
        products : array of shape (n,) or (n, M)
            ⟨a, θ⟩ of some actions.
        theta : array of shape (d,) or (M, d)
            Coefficients, or several of them.

        Returns
        -------
        array of the shape of ``products``
            Mean rewards; ``products`` itself if rewards have no intercept.
        """
        if self.level is None or self.centre is None:
            return products
        return np.asarray(products + (self.level.reward - self.centre @ theta.T))

    @cached_property
    def means(self) -> FloatArray:
        """Expected reward of each action, shape ``(K,)``."""
        return self.at_level(self.differences, self.coefficients)

    @property
    def believed(self) -> FloatArray:
        """Reward of each action that a batch counts with before it has come, shape ``(K,)``: the expected one."""
        return self.means

    def means_of(self, rows: IntArray) -> FloatArray:
        """Return the expected reward of some of the actions.

        Parameters
        ----------
        rows : int array of shape (n,)
            The actions.

        Returns
        -------
        array of shape (n,)
            Expected reward of each.
        """
        return self.at_level(self.features[rows] @ self.coefficients, self.coefficients)

    @cached_property
    def differences(self) -> FloatArray:
        """⟨a, E θ⟩ of each action, shape ``(K,)``: to compare actions, since in ``means`` a high level takes digits."""
        return np.asarray(self.features @ self.coefficients)

    @cached_property
    def variances(self) -> FloatArray:
        """Var⟨a − x̄, θ⟩ of each action, shape ``(K,)``; the level of rewards adds σ²/W for all of them."""
        variances: FloatArray = self.posterior.variances(self.features)
        if self.centre is None:
            return variances
        # Var⟨a, θ⟩ − 2 Cov(⟨a, θ⟩, ⟨x̄, θ⟩) + Var⟨x̄, θ⟩: engines keep the first up to date for actions that stay.
        along: FloatArray = self.posterior.covariance_times(self.centre)
        return np.maximum(variances - 2.0 * (self.features @ along) + float(self.centre @ along), 0.0)

    @property
    def deviations(self) -> FloatArray:
        """Standard deviation of ⟨a − x̄, θ⟩ of each action, shape ``(K,)``."""
        return np.sqrt(self.variances)

    def rewards_under_draw(self, draw: int, products: FloatArray) -> FloatArray:
        """Return the mean reward of each action under one of the draws, from products ⟨a, θ⟩.

        Parameters
        ----------
        draw : int
            Number of the draw.
        products : array of shape (K,)
            ⟨a, θ⟩ of each action.

        Returns
        -------
        array of shape (K,)
        """
        return self.at_level(products, self.draws.theta[draw])

    @cached_property
    def predictions(self) -> FloatArray:
        """Mean reward of each action under each draw, shape ``(K, M)``; the weights are ``draws.weights``."""
        return self.rewards_under(self.draws.theta)

    @cached_property
    def noise_variances(self) -> FloatArray:
        """Variance of each action's reward given θ, or its posterior mean where it is learnt, shape ``(K,)``."""
        noise = self.posterior.noise_variance if self.differing_noise is None else self.differing_noise
        return np.full(len(self.features), noise + self.level_variance, dtype=np.float64)

    @property
    def level_variance(self) -> float:
        """Variance σ²/W of the level of rewards given θ; zero before the first reward, and if there is no intercept."""
        if self.level is None or self.level.weight == 0.0:
            return 0.0
        return float(self.posterior.noise_variance) / self.level.weight

    @cached_property
    def best(self) -> Best:
        """x* under the draws."""
        return self.best_under(self.draws)

    def best_under(self, draws: Draws) -> Best:
        """Return x* under some draws.

        Parameters
        ----------
        draws : Draws
            Draws of θ, not necessarily the posterior's.

        Returns
        -------
        Best
            Its distribution. Actions that tie are compared by the posterior mean: an exact one, or that of the draws up
            to its Monte Carlo error.
        """
        optima = self._memory.of(draws.source, self.features, getattr(self.posterior, "threads", 1), draws.exact)
        if draws.exact:
            return Best(optima, draws.weights, exact=True)
        if getattr(self.posterior, "picks_from_draws", True):
            return Best(optima, draws.weights, sampled=True)
        return Best(optima, draws.weights, exact_mean=self.coefficients)

    @property
    def own(self) -> FloatArray | None:
        """The actions of the policy, as ``features`` are, of which some or others may be on offer; None if unknown."""
        return self._wins.own

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what a rule computes from these beliefs, and compute it when it is first asked for.

        Parameters
        ----------
        key : hashable
            What it belongs to, such as the rule.
        compute : function
            Computes it.

        Returns
        -------
        object
            What ``compute`` returned.
        """
        if key not in self._found:
            self._found[key] = compute()
        return self._found[key]

    @property
    def reach(self) -> FloatArray:
        """Largest absolute value of each feature, shape ``(d,)``."""
        return self._wins.arranged(self.features).reach

    def products(self, theta: FloatArray) -> FloatArray:
        """Return ⟨a, θ⟩ of each action; the actions of a policy are arranged for it.

        Parameters
        ----------
        theta : array of shape (d,)
            Coefficients.

        Returns
        -------
        array of shape (K,)
        """
        return theta @ self._wins.arranged(self.features).columns

    def may_tie(self, draws: Draws) -> bool:
        """Return whether different actions may tie under a draw: if the draws are sparse, or a coefficient is zero.

        Parameters
        ----------
        draws : Draws
            Draws of θ, not necessarily the posterior's.

        Returns
        -------
        bool
        """
        return self._wins_under(draws) is None

    def _wins_under(self, draws: Draws) -> Wins | None:
        """Return under which draws an action is the best, found out when it is asked for; None if some may tie."""
        if isinstance(draws.source, Rows):
            return None
        return self._wins.of(draws.source, self.features, self.coefficients)

    def probability_under(self, draws: Draws, rows: IntArray) -> float:
        """Return P(x* = a) under some draws for a single action, for which few products are enough.

        Parameters
        ----------
        draws : Draws
            Draws of θ, not necessarily the posterior's.
        rows : int array
            All rows that have the features of the action; they share its probability.

        Returns
        -------
        float
            Probability of one of these rows; exactly 1 if there is no other action that is ever the best.
        """
        known = self._wins_under(draws)
        if known is None:  # different actions may tie
            probability = self.best_under(draws).row_probability()
            return 1.0 if np.count_nonzero(probability) == 1 else float(probability[rows[0]])
        wins = known.under(rows)
        share = float(draws.weights[wins].sum()) / len(rows)
        alone = share > 0.5 and len(rows) == 1 and not draws.weights[~wins].any()  # weights sum to one
        return 1.0 if alone else share

    @cached_property
    def information(self) -> Information:
        """Δ, v, P(x* = ·) and E[θ | x* = ·], by Algorithm 3."""
        return information(self.draws, self.features, self.best, self.centre)

    @property
    def expected_regret(self) -> FloatArray:
        """Δ of each action, shape ``(K,)``."""
        return self.information.expected_regret

    @property
    def variance_gain(self) -> FloatArray:
        """Var(E[⟨a, θ⟩ | x*]) of each action, per unit of its noise variance where those differ, shape ``(K,)``.

        A noise variance that all actions share would not change the order of information ratios, and is left out.
        """
        gain = self.information.gain
        return gain if self.differing_noise is None else gain / self.noise_variances

    @property
    def unbiased_variance_gain(self) -> FloatArray:
        """The same, without what the noise of the draws adds to it (``information.py``)."""
        gain = self.information.unbiased_gain
        return gain if self.differing_noise is None else gain / self.noise_variances

    @property
    def unbiased_mutual_information(self) -> FloatArray:
        """I(x*; reward of a) without what the noise of the draws adds to it, shape ``(K,)``.

        That is about the information in a normal variable whose variance is the noise in v.
        """
        known = self.information
        extra = 0.5 * np.log1p((known.gain - known.unbiased_gain) / (self.noise_variances + known.unbiased_gain))
        return np.maximum(self.mutual_information - extra, 0.0)

    @cached_property
    def mutual_information(self) -> FloatArray:
        """I(x*; reward of a) of each action in nats, with a noise that is learnt integrated out, shape ``(K,)``."""
        return self.mutual_information_of(np.arange(len(self.features)))

    def mutual_information_of(self, rows: IntArray) -> FloatArray:
        """Return I(x*; reward of a) of some of the actions.

        Parameters
        ----------
        rows : int array of shape (n,)
            The actions.

        Returns
        -------
        array of shape (n,)
            Mutual information of each, in nats.
        """
        features = self.features[rows] if self.centre is None else self.features[rows] - self.centre
        if self.differing_noise is None:
            learnt = self.posterior.learnt() if hasattr(self.posterior, "learnt") else {}
            if "noise_variance" in learnt:
                noise = learnt["noise_variance"]
                if self.level is not None and self.level.weight > 0.0:  # the level of rewards is not certain
                    noise = noise * (1.0 + 1.0 / self.level.weight)
                return mutual_information_of_learnt_noise(self.draws, features, noise, self.best)
        return mutual_information(self.draws, features, self.noise_variances[rows], self.best)

    def shown(self, gain: FloatArray) -> FloatArray:
        """Return the gain of all rewards that playing an action shows, from the gain of each action's own reward.

        That is their sum over the actions that are on offer, as in Liu, Buccapatnam and Shroff (2018).

        Parameters
        ----------
        gain : array of shape (K,)
            Gain of one reward of each action.

        Returns
        -------
        array of shape (K,)
            The same array if there is no feedback graph.
        """
        return gain if self.feedback is None else np.asarray(self.feedback @ gain)

    @property
    def shown_first(self) -> dict[str, FloatArray]:
        """Columns that an explanation begins with; clicks and counts have the expected reward."""
        return {}

    @property
    def memory(self) -> float:
        """Number of rounds that what is learnt now counts, Σ γ^k, if rewards are discounted by decisions; else inf."""
        forgetting = getattr(self.posterior, "forgetting", None)
        if forgetting is None or forgetting.unit != "decisions":
            return math.inf
        return max(1.0, float(forgetting.half_life) / math.log(2.0))

    @property
    def pace(self) -> float:
        """Number of rewards that say as much as one of the usual kind, which is one."""
        return 1.0

    def informed(self, of: Any, share: float) -> tuple[FloatArray, FloatArray]:
        """Return the information that one reward of each action brings about x*, and a little of that about θ.

        Parameters
        ----------
        of : Information or Screen
            Gain v and variance T of the mean reward of each action.
        share : float
            κ, the share of T that counts beside v.

        Returns
        -------
        information, unbiased : arrays of shape (K,)
            ½ log(1 + (v + κ T) / σ²) of each action in nats, and v, both without the noise of the draws.
        """
        from sparsebandits.posteriors.kernels.choosing import informations  # compiled code, which not all rules need

        best, noise = self.information.best, self.noise_variances
        shares = (best.noise_share, best.square) if len(best.support) > 1 else (0.0, 0.0)
        found: tuple[FloatArray, FloatArray] = informations(of.gain, of.reward_variance, noise, *shares, share)
        return found

    @property
    def optimal_probability(self) -> FloatArray:
        """P(x* = a) of each action, shape ``(K,)``."""
        return self.information.optimal_probability

    @property
    def entropy(self) -> float:
        """H(x*), in nats."""
        return self.information.entropy
