"""Named policies with a Gaussian prior: a rule on the Gaussian posterior, which is exact for Gaussian rewards.

For clicks and counts it is Laplace's approximation.

The same rules on a spike-and-slab posterior are in ``sparse.py``; this file needs no compiled code.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sparsebandits.arguments import MOST_DRAWS, ArgumentValueError, check_array, check_count, check_flag, shown
from sparsebandits.model.families import Linked
from sparsebandits.model.forgetting import Discount
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.model.rewards import TAILS, Rewards, rewards_of
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.items import Features, with_contexts
from sparsebandits.policies.policy import Policy, Recorder
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.engine import LEAST_DRAWS
from sparsebandits.posteriors.laplace import Laplace
from sparsebandits.randomness import ENGINE_STREAM, Seed, child
from sparsebandits.rules.ids import InformationDirected
from sparsebandits.rules.optimism import Optimism, Width
from sparsebandits.rules.rule import Rule
from sparsebandits.rules.thompson import Thompson


def with_rewards(
    actions: ActionSet,
    rewards: Rewards | None,
    noise_variance: object,
    default: Any,
    intercept: bool,
    forgetting: Discount | None = None,
) -> tuple[ActionSet, Rewards]:
    """Return actions and rewards for the arguments of a policy that are about rewards.

    With one noise variance per action, the variance of the rewards is their median, and the weight of an observation is
    that median over its own noise variance. Rewards far out of line count less where the noise is learnt, unless
    ``rewards`` is given. Clicks and counts have no noise variance.

    Parameters
    ----------
    actions : ActionSet
        The policy's actions.
    rewards : Gaussian, Bernoulli, Poisson or None
        The argument ``rewards``.
    noise_variance : float, array of shape (K,), InverseGammaNoise or None
        The argument ``noise_variance``.
    default : float or InverseGammaNoise
        Noise variance if neither is given.
    intercept : bool
        The argument ``intercept``, which counts even if ``rewards`` says otherwise.
    forgetting : Discount, optional
        The argument ``forgetting``; by default ``rewards`` says.

    Returns
    -------
    actions, rewards : ActionSet and Gaussian, Bernoulli or Poisson
        The actions, with their noise variances if those differ, and the rewards.

    Raises
    ------
    ArgumentError
        If an argument is not of its kind, or given beside ``rewards`` that say it too, or if there is a noise variance
        beside clicks or counts.
    """
    if isinstance(noise_variance, list | tuple):
        noise_variance = check_array("noise_variance", noise_variance)
    if rewards is None and noise_variance is not None and np.ndim(noise_variance) > 0:  # type: ignore[arg-type]
        actions, noise_variance = actions.with_noise(noise_variance), None
    if noise_variance is None and rewards is None and actions.noise_variances is not None:
        noise_variance = float(np.median(actions.noise_variances))
    found = rewards_of(rewards, noise_variance, default)
    if forgetting is not None:
        if found.forgetting is not None:
            raise ArgumentValueError("forgetting", "none beside rewards that have it", shown(forgetting))
        found = replace(found, forgetting=forgetting)
    if isinstance(found, Linked):
        if actions.noise_variances is not None:
            raise ArgumentValueError("actions", f"none with noise variances beside {shown(found)}", str(actions))
        return actions, replace(found, intercept=check_flag("intercept", intercept))
    tails = TAILS if rewards is None and not found.known else found.tails
    return actions, replace(found, intercept=check_flag("intercept", intercept), tails=tails)


class LinearPolicy(Policy):
    """Policy with any rule and a Gaussian prior.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    rule : Rule
        The decision rule.
    prior : GaussianPrior, optional
        Prior of θ; by default N(0, 1/d) for each coordinate, so that ‖θ‖ is about one.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of a reward, or one per action. Short form of ``rewards``.
    n_draws : int, optional
        Posterior draws from which regret and information are computed; by default 10,000, or 1,000 for clicks and
        counts.
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ. The variance of Gaussian rewards has to be known; the posterior of clicks and counts
        is approximated (:class:`~sparsebandits.Laplace`).
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.
    """

    def __init__(
        self,
        actions: object,
        rule: Rule,
        prior: GaussianPrior | None = None,
        noise_variance: object = None,
        n_draws: int | None = None,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        available, known = with_rewards(
            with_contexts(actions, contexts, features, feedback), rewards, noise_variance, 1.0, intercept, forgetting
        )
        prior = GaussianPrior(1.0 / available.dimension) if prior is None else prior
        engine_seed = child(seed, ENGINE_STREAM)
        engine: Any = Laplace if isinstance(known, Linked) else Conjugate
        given = {} if n_draws is None else {"n_draws": n_draws}
        posterior = engine(prior, available.dimension, seed=engine_seed, rewards=known, **given)
        super().__init__(available, posterior, rule, seed, journal)


class LinearIDS(LinearPolicy):
    """Information-directed sampling with a Gaussian prior.

    Russo and Van Roy (2018), Algorithm 6.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : GaussianPrior, optional
        Prior of θ; by default N(0, 1/d) for each coordinate, so that ‖θ‖ is about one.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of a reward, or one per action. Short form of ``rewards``.
    n_draws : int, optional
        Posterior draws from which regret and information are computed; by default 10,000, or 1,000 for clicks and
        counts.
    exponent : float, default=2.0
        λ of the information ratio, at least 2.
    selection : {"deterministic", "randomised"}, default="deterministic"
        Minimise the ratio over actions, as Hao et al. do, or over distributions, as Russo and Van Roy do. The default
        has the smaller measured regret (docs/measurements.md).
    gain : {"variance", "mutual-information"}, default="variance"
        The information gain.
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ. The variance of Gaussian rewards has to be known; the posterior of clicks and counts
        is approximated (:class:`~sparsebandits.Laplace`).
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.

    Examples
    --------
    >>> policy = LinearIDS(np.eye(3), noise_variance=0.1, n_draws=1000, seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: object = None,
        n_draws: int | None = None,
        exponent: float = 2.0,
        selection: str = "deterministic",
        gain: str = "variance",
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        rule = InformationDirected(exponent, selection, gain)
        super().__init__(
            actions,
            rule,
            prior,
            noise_variance,
            n_draws,
            seed,
            rewards,
            journal,
            intercept,
            forgetting,
            contexts,
            features,
            feedback,
        )


class LinTS(LinearPolicy):
    """Thompson sampling with a Gaussian prior.

    Agrawal and Goyal (2013), by default without their inflation of the variance.

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : GaussianPrior, optional
        Prior of θ; by default N(0, 1/d) for each coordinate, so that ‖θ‖ is about one.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of a reward, or one per action. Short form of ``rewards``.
    inflation : float, default=1.0
        Factor on the posterior's variance when sampling; 1 is the posterior itself.
    probability_draws : int, default=100
        Standing posterior draws from which the probability of each decision is estimated. For clicks and counts, the
        played draw is one of them.
    seed : int, SeedSequence or None
        Seed of all random choices.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ. The variance of Gaussian rewards has to be known; the posterior of clicks and counts
        is approximated (:class:`~sparsebandits.Laplace`).
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.

    Examples
    --------
    >>> policy = LinTS(np.eye(3), noise_variance=0.1, seed=1)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)

    With rewards of 0 and 1, such as clicks:

    >>> from sparsebandits import Bernoulli
    >>> policy = LinTS(np.eye(3), rewards=Bernoulli(), seed=1)
    >>> policy.tell(policy.ask(), 1)
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: object = None,
        inflation: float = 1.0,
        probability_draws: int = 100,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        draws = check_count("probability_draws", probability_draws, LEAST_DRAWS, MOST_DRAWS)
        rule = Thompson(inflation)
        super().__init__(
            actions,
            rule,
            prior,
            noise_variance,
            draws,
            seed,
            rewards,
            journal,
            intercept,
            forgetting,
            contexts,
            features,
            feedback,
        )


class LinUCB(LinearPolicy):
    """Optimism with a fixed width or with a confidence radius.

    Abbasi-Yadkori, Pál and Szepesvári (2011) for the radius; with a given width it has the index of Chu, Li, Reyzin and
    Schapire (2011).

    Parameters
    ----------
    actions : array or DataFrame of shape (K, d)
        One row per action.
    prior : GaussianPrior, optional
        Prior of θ; by default N(0, 1/d) for each coordinate.
    noise_variance : float or array of shape (K,), default=1.0
        Noise variance of a reward, or one per action. Short form of ``rewards``.
    width : float or ConfidenceRadius, default=2.0
        Posterior standard deviations added to the mean.
    seed : int, SeedSequence or None
        Seed of ``posterior.draws()``, and of the choice among actions that tie.
    rewards : Gaussian, Bernoulli or Poisson, optional
        How a reward arises from θ. The variance of Gaussian rewards has to be known; the posterior of clicks and counts
        is approximated (:class:`~sparsebandits.Laplace`).
    journal : Recorder, optional
        Where decisions and rewards are recorded.
    intercept : bool, default=True
        Whether rewards have an unknown level, which is integrated out; False if the mean reward is ⟨a, θ⟩.
    forgetting : Discount, optional
        How old rewards are discounted, such as ``sb.Discount(half_life=500)``; by default they are not.
    contexts, features : optional
        Contexts that may come, and how features are made of a context and an action; see
        :meth:`sparsebandits.policies.Items.of`. Then ``ask`` takes a ``context``.
    feedback : array or DataFrame of shape (K, K), or mapping, optional
        Feedback graph: whose rewards are shown when an action is played; see
        :meth:`sparsebandits.policies.ActionSet.with_feedback`. Then ``tell`` takes all of these rewards.

    Examples
    --------
    >>> policy = LinUCB(np.eye(3), seed=0)
    >>> round(policy.ask().probability, 3)  # all three tie
    0.333
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: object = None,
        width: Width = 2.0,
        seed: Seed = None,
        rewards: Rewards | None = None,
        journal: Recorder | None = None,
        intercept: bool = True,
        forgetting: Discount | None = None,
        contexts: object = None,
        features: Features = None,
        feedback: object = None,
    ) -> None:
        super().__init__(
            actions,
            Optimism(width),
            prior,
            noise_variance,
            seed=seed,
            rewards=rewards,
            journal=journal,
            intercept=intercept,
            forgetting=forgetting,
            contexts=contexts,
            features=features,
            feedback=feedback,
        )
