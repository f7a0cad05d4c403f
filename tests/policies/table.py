"""Every policy, made alike: the one table that drives the tests which all of them have to pass."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import sparsebandits as sb
from sparsebandits.files import pack
from sparsebandits.model.rewards import rewards_of
from sparsebandits.policies.actions import ActionSet
from sparsebandits.policies.policy import KIND, VERSION
from sparsebandits.randomness import child

Maker = Callable[..., sb.Policy]

PAPER = sb.SpikeSlab.from_paper(beta=0.3, lambda0=0.1, lambda1=1.0, noise_variance=1.0)
LEARNT = sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), sb.InverseGammaSlab(2.0, 1.0))
SHORT = sb.rivals.EMVS(
    sb.SpikeSlab(sb.BetaInclusion(1.0, 2.0), 1.0, spike=sb.GaussianSpike(0.01)), sb.InverseGammaNoise(), rungs=3
)


def sparse(policy: Maker, slab: sb.SpikeSlab | None, **settings: Any) -> Maker:
    """Make a sparse policy where a dense one would be made: a Gaussian prior that fits becomes ``slab``."""

    def make(actions: Any, prior: Any = None, **given: Any) -> sb.Policy:
        if "noise_variance" in settings and "noise_variance" in given:
            rewards_of(None, given["noise_variance"])  # which is not used, but may be wrong
        if prior is None or (
            isinstance(prior, sb.GaussianPrior) and np.size(prior.variance) in (1, np.shape(actions)[-1])
        ):
            prior = slab
        return policy(actions, **{"prior": prior, "n_draws": 300, "noise_variance": 1.0, **given, **settings})

    return make


def of_hypotheses(policy: Maker, **settings: Any) -> Maker:
    """Make a policy with a table of hypotheses where one with a Gaussian prior would be made."""

    def make(actions: Any, prior: Any = None, **given: Any) -> sb.Policy:
        dimension = ActionSet.of(actions).dimension
        if prior is not None:
            sb.Conjugate(prior, dimension)  # which is not used, but may be wrong
        table = sb.Hypotheses(np.random.default_rng(0).standard_normal((300, dimension)))
        return policy(actions, **{"prior": table, "noise_variance": 1.0, **given, **settings})

    return make


def without_prior(policy: Maker, **settings: Any) -> Maker:
    """Make a policy that knows no prior where one with a Gaussian prior would be made."""

    def make(actions: Any, prior: Any = None, **given: Any) -> sb.Policy:
        if prior is not None:
            sb.Conjugate(prior, np.shape(actions)[-1])  # which is not used, but may be wrong
        return policy(actions, **{**settings, **given})

    return make


POLICIES: dict[str, Maker] = {
    "FrequentistIDS": sb.rivals.FrequentistIDS,
    "FrequentistIDS, full gain": lambda actions, **given: sb.rivals.FrequentistIDS(
        actions, gain="full", selection="deterministic", width=sb.rules.ConfidenceRadius(), **given
    ),
    "PartialMonitoringIDS": sb.rivals.PartialMonitoringIDS,
    "PartialMonitoringIDS, full gain": lambda actions, **given: sb.rivals.PartialMonitoringIDS(
        actions,
        gain="full",
        differences="best",
        selection="deterministic",
        width=sb.rules.ConfidenceRadius(),
        **given,
    ),
    "AsymptoticIDS": without_prior(sb.rivals.AsymptoticIDS),
    "AsymptoticIDS, cells": without_prior(
        sb.rivals.AsymptoticIDS, alternatives="cells", penalty=20.0, bound=0.1, discard=False
    ),
    "ESTC": without_prior(sb.rivals.ESTC, exploration=30),
    "ESTC, cross-validation": without_prior(sb.rivals.ESTC, exploration=20, penalty="cross-validation"),
    "ESTC, the theorem's length": without_prior(sb.rivals.ESTC, horizon=400, sparsity=1, bound=10.0),
    "DLinUCB": without_prior(sb.rivals.DLinUCB, forgetting=sb.Discount(50)),
    "LinTS": sb.LinTS,
    "LinTS, inflated": lambda actions, **given: sb.LinTS(actions, inflation=2.0, **given),
    "LinUCB": sb.LinUCB,
    "LinUCB, radius": lambda actions, **given: sb.LinUCB(
        actions, width=sb.rules.ConfidenceRadius(), intercept=False, **given
    ),
    "LinearIDS": lambda actions, **given: sb.LinearIDS(actions, n_draws=300, **given),
    "LinearIDS, randomised": lambda actions, **given: sb.LinearIDS(
        actions, n_draws=300, selection="randomised", **given
    ),
    "LinearIDS, mutual information": lambda actions, **given: sb.LinearIDS(
        actions, n_draws=100, gain="mutual-information", exponent=3.0, **given
    ),
    "OnlineToConfidence": sparse(sb.rivals.OnlineToConfidence, sb.SpikeSlab(0.4, 0.5)),
    "OnlineToConfidence, realised regret": sparse(sb.rivals.OnlineToConfidence, LEARNT, regret="realised"),
    "OnlineToConfidence, enumeration": sparse(
        sb.rivals.OnlineToConfidence,
        sb.SpikeSlab(0.4, 0.5),
        engine="enumeration",
        engine_options={"max_size": 3},
        sparsity=1,
    ),
    "SparseIDS": sparse(sb.SparseIDS, sb.SpikeSlab(0.4, 0.5)),
    "SparseIDS, all learnt": sparse(sb.SparseIDS, LEARNT, noise_variance=sb.InverseGammaNoise(2.0, 2.0)),
    "SparseIDS, default prior": sparse(sb.SparseIDS, None, noise_variance=sb.Gaussian().variance),
    "SparseIDS, randomised": sparse(sb.SparseIDS, sb.SpikeSlab(0.5, 0.5, 0.1), selection="randomised"),
    "SparseIDS, mutual information": sparse(
        sb.SparseIDS, sb.SpikeSlab(0.4, 0.5), gain="mutual-information", n_draws=50
    ),
    "SparseIDS, cost to go": sparse(sb.SparseIDS, sb.SpikeSlab(0.4, 0.5), rule="cost-to-go", horizon=40),
    "SparseIDS, the paper's": sparse(sb.SparseIDS, PAPER, engine="langevin"),
    "SparseIDS, warm chains": sparse(
        sb.SparseIDS, PAPER, engine="langevin", engine_options={"chains": 64, "warm_start": True}, n_draws=256
    ),
    "SparseIDS, minibatches": sparse(
        sb.SparseIDS, PAPER, engine="langevin", engine_options={"batch_size": 20, "warm_start": True}
    ),
    "SparseIDS, Gibbs": sparse(
        sb.SparseIDS, PAPER, engine="gibbs", engine_options={"burn_in": 5, "chains": 2}, n_draws=40
    ),
    "SparseIDS, enumeration": sparse(
        sb.SparseIDS, sb.SpikeSlab(0.4, 0.5), engine="enumeration", engine_options={"max_size": 3}
    ),
    "SparseTS": sparse(sb.SparseTS, sb.SpikeSlab(0.4, 0.5)),
    "SparseTS, Gaussian spike": sparse(sb.SparseTS, sb.SpikeSlab(0.4, 0.5, spike=sb.GaussianSpike(0.01))),
    "SparseTS, enumeration": sparse(
        sb.SparseTS, sb.SpikeSlab(0.4, 0.5), engine="enumeration", engine_options={"max_size": 3}, n_draws=50
    ),
    "SparseIDS, hypotheses": of_hypotheses(sb.SparseIDS),
    "SparseIDS, hypotheses, randomised": of_hypotheses(
        sb.SparseIDS, selection="randomised", gain="mutual-information", intercept=False
    ),
    "SparseTS, hypotheses": of_hypotheses(sb.SparseTS),
    "FeelGoodTS": sparse(sb.rivals.FeelGoodTS, sb.SpikeSlab(0.4, 0.5)),
    "FeelGoodTS, intercept and cap": sparse(
        sb.rivals.FeelGoodTS, sb.SpikeSlab(0.4, 0.5), intercept=True, cap=3.0, optimism=0.2
    ),
    "FeelGoodTS, default prior": sparse(sb.rivals.FeelGoodTS, None, noise_variance=sb.Gaussian().variance),
    "SOIDS": sparse(sb.rivals.SOIDS, sb.SpikeSlab(0.4, 0.5)),
    "SOIDS, deterministic": sparse(sb.rivals.SOIDS, LEARNT, selection="deterministic", exponent=3.0, optimism=0.05),
    "SOIDS, default prior": sparse(sb.rivals.SOIDS, None, noise_variance=sb.Gaussian().variance, intercept=True),
    "LassoGreedy": without_prior(sb.rivals.LassoGreedy, exploration=20),
    "LassoGreedy, cross-validated": without_prior(
        sb.rivals.LassoGreedy, penalty="cross-validation", exploration=20, refit_growth=0.5
    ),
    "ThresholdedLasso": without_prior(sb.rivals.ThresholdedLasso, penalty=0.3),
    "SALasso": without_prior(sb.rivals.SALasso),
    "LassoBandit": without_prior(sb.rivals.LassoBandit),
    "LassoBandit, shared": without_prior(sb.rivals.LassoBandit, parameters="shared", forced_samples=5),
    "DRLasso": without_prior(sb.rivals.DRLasso),
    "SquareCB": without_prior(sb.rivals.SquareCB),
    "SquareCB, L1 penalty": without_prior(sb.rivals.SquareCB, regressor="lasso", exponent=0.7, refit_growth=0.2),
    "SquareCB, spike and slab": without_prior(sb.rivals.SquareCB, regressor="spike-and-slab"),
    "FALCON": without_prior(sb.rivals.FALCON, scale=3.0),
    "FALCON, L1 penalty, all rewards": without_prior(
        sb.rivals.FALCON, regressor="lasso", window="all", sparsity=1, scale=4.0, delta=0.1
    ),
    "FALCON, spike and slab": without_prior(
        sb.rivals.FALCON, regressor=sb.rivals.SpikeSlabMean(LEARNT, 0.1, 100), scale=3.0
    ),
    "VariationalTS": without_prior(sb.rivals.VariationalTS),
    "VariationalTS, Gaussian slab": without_prior(
        sb.rivals.VariationalTS, slab="gaussian", rate=0.8, exponent=0.5, restart=7, probability_draws=20
    ),
    "VariationalTS, growing rate": without_prior(
        sb.rivals.VariationalTS, growing=True, rate=0.2, exponent=0.3, uniform_rounds=8
    ),
    "DynamicBatch": without_prior(sb.rivals.DynamicBatch, horizon=400, sparsity=1),
    "DynamicBatch, all rewards": without_prior(
        sb.rivals.DynamicBatch, horizon=300, sparsity=1, batches=5, penalty=0.01, split=False
    ),
    "MCPBandit": without_prior(sb.rivals.MCPBandit, forced_samples=5),
    "MCPBandit, disjoint": without_prior(sb.rivals.MCPBandit, parameters="disjoint", concavity=1.5),
    "BestSubset": without_prior(
        lambda actions, **given: sb.rivals.BestSubset(actions, sparsity=ActionSet.of(actions).dimension, **given)
    ),
    "BestSubset, splicing": without_prior(
        lambda actions, **given: sb.rivals.BestSubset(
            actions,
            sparsity=max(ActionSet.of(actions).dimension - 1, 1),
            most_subsets=1,
            window="last",
            width=2.0,
            **given,
        )
    ),
    "RegressionGreedy": without_prior(sb.rivals.RegressionGreedy, regressor=SHORT, exploration=20, refit_growth=0.1),
    "RegressionGreedy, Laplace": without_prior(
        sb.rivals.RegressionGreedy, regressor=sb.rivals.SpikeSlabLasso(0.1, rungs=5), exploration=20
    ),
    "SquareCB, EMVS": without_prior(sb.rivals.SquareCB, regressor=SHORT, refit_growth=0.2),
    "FALCON, Laplace spike and slab": without_prior(
        sb.rivals.FALCON, regressor="spike-and-slab lasso", window="all", scale=4.0
    ),
    "OnlineToConfidence, Laplace": without_prior(
        sb.rivals.OnlineToConfidence, forecaster=sb.rivals.SpikeSlabLasso(0.1, rungs=5), regret=0.5, scale=0.1
    ),
    "ILTCB": without_prior(sb.rivals.ILTCB, exploration=0.1, psi=0.5),
    "ILTCB, L1 penalty": without_prior(
        sb.rivals.ILTCB, regressor="lasso", sparsity=1, exploration=0.05, psi=0.8, delta=0.1, most_steps=20
    ),
}

CANNOT_LEARN_A_FIXED_SET = {"DRLasso"}
"""Of those it is said in their files, and shown in test_lasso_policies.py."""


def on_cube(policy: Maker, **settings: Any) -> Maker:
    """Make a policy that plays a region where others are made with actions: with their features, and no prior."""

    def make(actions: Any, prior: Any = None, **given: Any) -> sb.Policy:
        rows = ActionSet.of(actions)
        return policy(list(rows.feature_names or ()) or rows.dimension, **{**given, **settings})

    return make


CUBES: dict[str, Maker] = {
    "HypercubeElimination": on_cube(sb.rivals.HypercubeElimination, horizon=2),
    "HypercubeElimination, wide": on_cube(sb.rivals.HypercubeElimination, horizon=1000, mean_bound=3.0),
    "SLUCB": on_cube(sb.rivals.SLUCB, horizon=1000),
    "SLUCB, short search": on_cube(sb.rivals.SLUCB, horizon=2, threshold=0.01, width=0.5, sparsity=2, penalty=0.5),
}
"""Policies whose actions are not enumerated: they pass all tests but those about rows."""

ALL = POLICIES | CUBES


def some_actions(n_actions: int = 6, dimension: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n_actions, dimension))


def played(decision: sb.Decision) -> int:
    """A number for what was played: its row, or a negative number for the corner of a cube."""
    if decision.action >= 0:
        return decision.action
    return -1 - int("".join("1" if value > 0 else "0" for value in decision.features), 2)


def play(policy: sb.Policy, rounds: int, seed: int = 0) -> list[tuple[int, float]]:
    """Ask and tell; the rewards depend on seed, round and action alone."""
    rng = np.random.default_rng(seed)
    decisions = []
    for _ in range(rounds):
        decision = policy.ask()
        policy.tell(decision, float(decision.features.sum()) + rng.standard_normal())
        decisions.append((played(decision), decision.probability))
    return decisions


def share_of_guessing(
    make: Callable[[sb.environments.Instance, int], sb.Policy],
    environment: sb.environments.GaussianActions,
    sign: float = 1.0,
) -> float:
    """Return what its mean regret, as a share of that of guessing, is below with 99% confidence: 8 trials, 150 rounds.

    ``sign`` is that of the rewards it is told: −1 is the planted bug.
    """
    shares = []
    for seed in range(8):
        instance = environment.sample(child(seed, 0))
        policy, rng, total = make(instance, seed), np.random.default_rng(seed), 0.0
        for _ in range(150):
            decision = policy.ask()
            total += instance.gaps[decision.action]
            noise = np.sqrt(instance.noise_variance) * rng.standard_normal()
            policy.tell(decision, sign * float(instance.means[decision.action] + noise))
        shares.append(total / (150 * instance.gaps.mean()))
    return float(np.mean(shares) + stats.t.ppf(0.99, 7) * np.std(shares, ddof=1) / np.sqrt(8))


def fingerprint(policy: sb.Policy) -> bytes:
    """Everything that the policy's future depends on."""
    return pack(KIND, VERSION, policy.state())
