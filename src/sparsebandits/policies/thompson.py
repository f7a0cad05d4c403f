"""Thompson sampling: play the action that is best under one draw of θ from the posterior.

Agrawal and Goyal (2013) for linear bandits; as in Hao, Lattimore and Deng (2021), without a factor that blows up
the posterior's variance (``inflation`` is there for who wants one).
"""

import numpy as np
from numpy.random import Generator

from sparsebandits.arguments import check_count, check_positive
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Reasons
from sparsebandits.policies.policy import ENGINE_STREAM, Policy, PosteriorRule
from sparsebandits.posteriors.conjugate import LEAST_DRAWS, Conjugate
from sparsebandits.posteriors.draws import Draws, Posterior
from sparsebandits.randomness import Seed, child
from sparsebandits.rules.information import OptimaMemory


class Thompson(PosteriorRule):
    """The rule.

    How probable the played action was is estimated from the posterior's standing draws, which cost little to
    reweight. They come from a stream of their own, so that their number does not change what is played. Where the draw
    that is played is picked from the standing ones, the probability is exact; then its best action is looked up, not
    computed anew, because rounding may break a tie differently.
    """

    def __init__(self, posterior: Posterior, inflation: float) -> None:
        super().__init__(posterior)
        self.inflation = check_positive("inflation", inflation)
        self._optima = OptimaMemory()

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Play the best action under one draw."""
        standing = self.posterior.draws()
        picks = self.posterior.picks_from_draws and self.inflation == 1.0
        row = int(rng.choice(len(standing), p=standing.weights)) if picks else 0
        theta = standing.theta[row] if picks else self.posterior.sample(rng, 1)[0]
        if self.inflation != 1.0:
            scale, mean = np.sqrt(self.inflation), self.posterior.mean()
            theta = mean + scale * (theta - mean)
            standing = Draws.trusted(mean + scale * (standing.theta - mean), standing.weights)
        sampled = actions.features @ theta
        optima = self._optima.of(standing.theta, actions.features)
        action = int(optima.best[row] if picks else optima.actions.first_equal[sampled.argmax()])
        hits = optima.draws_of(action)
        share = 1.0 if len(hits) == len(standing) else float(standing.weights[hits].sum())  # all, without rounding
        size = standing.effective_sample_size
        mean = self.posterior.mean()
        columns = {"sampled value": sampled, "posterior mean": actions.features @ mean}
        reasons = Reasons.top(action, sampled, columns, actions.features[action] * mean)
        if picks:
            return Choice(action, share, reasons)
        # The draw that was played counts as one more, so that the estimate is never zero.
        return Choice(action, (1.0 + size * share) / (1.0 + size), reasons, probability_draws=1 + int(size))


class LinTS(Policy):
    """Thompson sampling with a Gaussian prior.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    prior : of θ; by default N(0, 1/d) for each coordinate, so that ‖θ‖ is about one
    noise_variance : variance of a reward around its mean
    inflation : factor on the posterior's variance when sampling; 1 is the posterior itself
    probability_draws : standing posterior draws from which the probability of each decision is estimated
    seed : integer, SeedSequence, or None for fresh entropy

    >>> import numpy as np
    >>> policy = LinTS(np.eye(3), noise_variance=0.1, seed=1)
    >>> decision = policy.ask()
    >>> policy.tell(decision, 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: float = 1.0,
        inflation: float = 1.0,
        probability_draws: int = 100,
        seed: Seed = None,
    ) -> None:
        available = ActionSet.of(actions)
        prior = GaussianPrior(1.0 / available.dimension) if prior is None else prior
        draws = check_count("probability_draws", probability_draws, least=LEAST_DRAWS)
        posterior = Conjugate(prior, available.dimension, noise_variance, draws, child(seed, ENGINE_STREAM))
        rule = Thompson(posterior, inflation)
        arguments = {
            "prior": prior,
            "noise_variance": posterior.noise_variance,
            "inflation": rule.inflation,
            "probability_draws": draws,
        }
        super().__init__(available, rule, arguments, seed)
        posterior.feature_names = available.feature_names
        self.posterior = posterior
