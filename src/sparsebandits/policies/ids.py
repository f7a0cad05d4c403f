"""Information-directed sampling: play what costs little regret for the information that it brings.

Russo and Van Roy (2018), Algorithm 6 for linear bandits; Hao, Lattimore and Deng (2021), Algorithm 2. From draws of
θ come the expected regret Δ and the information gain of each action (Algorithm 3); then the ratio Δ^λ / gain is
minimised over actions ("deterministic", the paper's Algorithm 2) or over distributions ("randomised").
"""

from numpy.random import Generator

from sparsebandits.arguments import ArgumentValueError, check_choice, check_number
from sparsebandits.model.priors import GaussianPrior
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.decision import Choice, Mixture, Reasons
from sparsebandits.policies.policy import ENGINE_STREAM, Policy, PosteriorRule
from sparsebandits.posteriors.conjugate import Conjugate
from sparsebandits.posteriors.draws import Posterior
from sparsebandits.randomness import Seed, child
from sparsebandits.rules.information import OptimaMemory, information
from sparsebandits.rules.mutual_information import mutual_information
from sparsebandits.rules.ratio import Minimiser, minimise_over_actions, minimise_over_distributions, ratios

SELECTIONS = {"deterministic": minimise_over_actions, "randomised": minimise_over_distributions}
GAINS = ("variance", "mutual-information")


def flipped(minimiser: Minimiser, rng: Generator) -> tuple[int, float]:
    """Return one of a minimiser's actions and its probability; no coin is flipped where there is one action only."""
    if minimiser.first != minimiser.second and rng.random() < minimiser.probability:
        return minimiser.second, minimiser.probability
    return minimiser.first, 1.0 - minimiser.probability


class InformationDirected(PosteriorRule):
    """The rule, on any posterior."""

    def __init__(self, posterior: Posterior, exponent: float, selection: str, gain: str) -> None:
        super().__init__(posterior)
        self.exponent = check_number("exponent", exponent)
        if self.exponent < 2:
            raise ArgumentValueError("exponent", "a number of at least 2", repr(exponent))
        self.selection = check_choice("selection", selection, tuple(SELECTIONS))
        self.gain = check_choice("gain", gain, GAINS)
        self._optima = OptimaMemory()

    def choose(self, actions: ActionSet, rng: Generator) -> Choice:
        """Minimise the ratio; draw one of the two actions if the minimiser has two."""
        draws = self.posterior.draws()
        features = actions.features
        optima = self._optima.of(draws.theta, features)
        known = information(draws, features, optima)
        noise = actions.noise_variances
        if self.gain == "mutual-information":
            gain = mutual_information(
                draws, features, self.posterior.noise_variance if noise is None else noise, optima
            )
        else:  # a common noise variance would not change the minimiser
            gain = known.gain if noise is None else known.gain / noise
        minimiser = SELECTIONS[self.selection](known.expected_regret, gain, self.exponent)
        action, probability = flipped(minimiser, rng)
        columns = {
            "expected regret": known.expected_regret,
            "information gain": gain,
            "ratio": ratios(known.expected_regret, gain, self.exponent),
            "P(optimal)": known.optimal_probability,
        }
        notes = {
            "ratio minimised": minimiser.ratio,
            "entropy of the optimal action (nats)": known.entropy,
            "effective draws": draws.effective_sample_size,
        }
        mixture = Mixture(minimiser.first, minimiser.second, minimiser.probability)
        reasons = Reasons.top(action, known.optimal_probability, columns, features[action] * known.mean, notes, mixture)
        return Choice(action, probability, reasons)


class LinearIDS(Policy):
    """Information-directed sampling with a Gaussian prior.

    Parameters
    ----------
    actions : array or DataFrame ``(K, d)``, one row an action
    prior : of θ; by default N(0, 1/d) for each coordinate, so that ‖θ‖ is about one
    noise_variance : variance of a reward around its mean
    n_draws : posterior draws from which regret and information are computed
    exponent : λ of the information ratio, at least 2
    selection : "deterministic" minimises the ratio over actions, as Hao et al. do, "randomised" over distributions,
        as Russo and Van Roy do; the default has the smaller measured regret (docs/measurements.md)
    gain : "variance" or "mutual-information"
    seed : integer, SeedSequence, or None for fresh entropy

    >>> import numpy as np
    >>> policy = LinearIDS(np.eye(3), noise_variance=0.1, n_draws=1000, seed=1)
    >>> policy.tell(policy.ask(), 1.0)
    """

    def __init__(
        self,
        actions: object,
        prior: GaussianPrior | None = None,
        noise_variance: float = 1.0,
        n_draws: int = 10_000,
        exponent: float = 2.0,
        selection: str = "deterministic",
        gain: str = "variance",
        seed: Seed = None,
    ) -> None:
        available = ActionSet.of(actions)
        prior = GaussianPrior(1.0 / available.dimension) if prior is None else prior
        posterior = Conjugate(prior, available.dimension, noise_variance, n_draws, child(seed, ENGINE_STREAM))
        rule = InformationDirected(posterior, exponent, selection, gain)
        arguments = {
            "prior": prior,
            "noise_variance": posterior.noise_variance,
            "n_draws": posterior.n_draws,
            "exponent": rule.exponent,
            "selection": rule.selection,
            "gain": rule.gain,
        }
        super().__init__(available, rule, arguments, seed)
        posterior.feature_names = available.feature_names
        self.posterior = posterior
