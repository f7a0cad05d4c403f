"""Getting it right (Geweke 2004) for clicks and counts: prior → data → moves leave the joint law as it is.

Parameters are drawn from the prior and rewards given them. Given the rewards, further parameters are drawn from the
posterior by rejection, exactly: many members to one data set. Then some moves are made. Compared are the means of θ, α,
γ, all products of coefficients, β, V and the log likelihood before and after; differences are paired.

A surrogate is made from other members than those that it moves. They are prior draws: that makes it a bad one, and an
error in what is accepted the easier to see. Whether sweeps are reversible shows where features are correlated and the
surrogate is worse still: there, members are drawn from the nodes of a quadrature, which are as good as exact.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.random import Generator
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.model.counts import Counts
from sparsebandits.posteriors import moves as moves_module
from sparsebandits.posteriors.ensemble import Ensemble, Sums, joined
from sparsebandits.posteriors.kernels import reversible_jump
from sparsebandits.posteriors.moves import Moves, Sweep
from sparsebandits.posteriors.rows import Rows
from sparsebandits.posteriors.surrogate import Surrogate
from tests.statistical import FAMILY_WISE

D, TRIALS = 3, 3
X = np.random.default_rng(0).standard_normal((4, D)) @ np.linalg.cholesky(0.3 * np.eye(D) + 0.7).T
DATA_SETS, MEMBERS, AT_ONCE = 12, 800, 20_000
Family: TypeAlias = sb.Bernoulli | sb.Poisson
FAMILIES: dict[str, Family] = {
    "logit": sb.Bernoulli(intercept=True),
    "probit": sb.Bernoulli("probit", intercept=True),
    "Poisson": sb.Poisson(),
}
BETA, SLAB = sb.BetaInclusion(2.0, 3.0), sb.InverseGammaSlab(4.0, 3.0)
SLAB_OF_TOTAL = sb.InverseGammaSlab(20.0, 40.0, of_noise=True, relative=(0.5, 1.0, 3.0), of_total=True)
SOME = [0.2, 0.5, 0.7]
PRIORS: dict[str, sb.SpikeSlab] = {
    "known": sb.SpikeSlab(SOME, 0.8, 0.3),
    "learnt": sb.SpikeSlab(BETA, SLAB, 0.2),
    "of the total": sb.SpikeSlab(BETA, SLAB_OF_TOTAL),
    "one or two, learnt": sb.SpikeSlab(BETA, SLAB, size=(1, 2)),
    "Gaussian spike": sb.SpikeSlab(BETA, SLAB, 0.2, sb.GaussianSpike(0.05)),
    "Laplace spike": sb.SpikeSlab(SOME, 0.8, 0.3, sb.LaplaceSpike(0.2)),
}
Step = Callable[[Moves, Ensemble, Family, Counts, Generator], None]


def log_likelihood(members: Ensemble, family: Family, counts: Counts) -> FloatArray:
    eta = members.etas(counts.rows)
    return np.asarray(family.log_likelihood(eta, counts.successes, counts.trials).sum(axis=1))


def told(members: Ensemble, family: Family, rng: Generator) -> Counts:
    """Return rewards given one member, TRIALS of each row; from milder means, of which rejection accepts more."""
    counts, mean = Counts(D), family.mean(np.clip(members.etas(X)[0], -2.0, 1.0))
    y = [family.drawn(float(p), float(rng.random())) for p in np.repeat(mean, TRIALS)]
    counts.absorb(np.repeat(X, TRIALS, axis=0), np.array(y))
    return counts


def from_posterior(moves: Moves, family: Family, counts: Counts, size: int, rng: Generator) -> Ensemble:
    """Return members by rejection: prior draws are accepted in proportion to their likelihood."""
    share = np.clip(counts.successes / counts.trials, 1e-12, None if isinstance(family, sb.Poisson) else 1.0 - 1e-12)
    eta = np.log(share) if isinstance(family, sb.Poisson) else stats.logistic.ppf(share)
    saturated: Family = sb.Poisson() if isinstance(family, sb.Poisson) else sb.Bernoulli()
    largest = float(saturated.log_likelihood(eta, counts.successes, counts.trials).sum()) + 1e-6
    parts, found = [], 0
    while found < size:
        some = moves.from_prior(rng, AT_ONCE)
        accept = np.log(rng.random(AT_ONCE)) < log_likelihood(some, family, counts) - largest
        parts.append(some.take(np.flatnonzero(accept)))
        found += len(parts[-1])
    return joined(parts).take(np.arange(size))


def described(members: Ensemble, family: Family, counts: Counts) -> FloatArray:
    """What is compared, one row per member."""
    b = members.theta if members.intercepts is None else np.column_stack((members.theta, members.intercepts))
    one, other = np.triu_indices(b.shape[1])
    learnt = [np.log(v) for v in (members.beta, members.slab_variances) if v is not None]
    fit = log_likelihood(members, family, counts)
    products = [members.inside.sum(axis=1) * column for column in (*learnt, fit)]
    return np.column_stack((b, b[:, one] * b[:, other], members.inside, *learnt, fit, *products))


def excess(differences: FloatArray) -> float:
    """Return the largest paired z-score, less the one that chance allows: positive is a failure."""
    found = differences[:, differences.std(axis=0) > 0]
    z = np.abs(found.mean(axis=0)) / (found.std(axis=0) / np.sqrt(len(found)))
    return float(z.max() - stats.norm.isf(FAMILY_WISE / (2 * len(z))))


def surrogate_steps(over_models: bool) -> Step:
    def run(moves: Moves, members: Ensemble, family: Family, counts: Counts, rng: Generator) -> None:
        surrogate = Surrogate(family, counts, moves.from_prior(rng, 300))
        surrogate._fit = surrogate._misfits(members)
        for _ in range(2):
            surrogate.step(moves.reversible(over_models, rng), members, rng)
            moves.hyperparameters(members, surrogate.sums, rng)

    return run


def jumps(first: int = 0, factor: float = 1.0) -> Step:
    def run(moves: Moves, members: Ensemble, family: Family, counts: Counts, rng: Generator) -> None:
        sums = Sums.of_counts(counts)
        for _ in range(2):
            passed = np.empty((len(members), 1, D)), np.empty((len(members), 1))
            moves.jumps(members, counts.scaled(factor), sums, rng, *passed, first=first)
            moves.hyperparameters(members, sums, rng)

    return run


STEPS = {"coordinates": surrogate_steps(False), "models": surrogate_steps(True), "jumps": jumps()}


def z_score(step: Step, name: str, prior: str, data_sets: int = DATA_SETS, members: int = MEMBERS) -> float:
    """Return the largest z-score over some data sets, less the one that chance allows."""
    family = FAMILIES[name]
    moves, rng, differences = Moves(PRIORS[prior], D, family), np.random.default_rng(data_sets), []
    for _ in range(data_sets):
        counts = told(moves.from_prior(rng, 1), family, rng)
        some = from_posterior(moves, family, counts, members, rng)
        before = described(some, family, counts)
        step(moves, some, family, counts, rng)
        differences.append(described(some, family, counts) - before)
    return excess(np.concatenate(differences))


CASES = [
    *((step, name, prior) for step in STEPS for name in FAMILIES for prior in ("known", "learnt")),
    *((step, "logit", "of the total") for step in STEPS),
    ("models", "probit", "one or two, learnt"),
    ("coordinates", "logit", "Gaussian spike"),
    ("coordinates", "Poisson", "Laplace spike"),
]


@pytest.mark.parametrize(("step", "name", "prior"), CASES)
def test_moves_leave_the_joint_law(step: str, name: str, prior: str) -> None:
    if z_score(STEPS[step], name, prior) > 0:  # a second chance, with four times as many
        assert z_score(STEPS[step], name, prior, 4 * DATA_SETS) < 0


@pytest.mark.parametrize("over_models", [False, True])
@pytest.mark.parametrize("planted", ["all are accepted", "the intercept is pulled the other way"])
def test_wrong_surrogate_steps_are_caught(over_models: bool, planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if planted == "all are accepted":
        monkeypatch.setattr(Surrogate, "_misfits", lambda self, members: np.zeros(len(members)))
    else:
        right = Surrogate.__init__

        def wrong(self: Surrogate, *given: Any) -> None:
            right(self, *given)
            self._pull = -self._pull

        monkeypatch.setattr(Surrogate, "__init__", wrong)
    assert z_score(surrogate_steps(over_models), "logit", "known") > 0


@pytest.mark.parametrize("name", ["logit", "probit"])
def test_fitted_densities_are_not_taken_for_exact(name: str) -> None:
    """Planted: coefficients are drawn from the fitted normal densities, as in the first sweeps of a chain."""
    assert z_score(jumps(first=1), name, "known") > 0


@pytest.mark.parametrize("name", FAMILIES)
def test_jumps_that_are_told_too_much_are_caught(name: str) -> None:
    """Planted: the data count 1.5 times."""
    assert z_score(jumps(factor=1.5), name, "known") > 0


@pytest.mark.parametrize("planted", ["nothing", "Jacobian", "swap", "slide"])
def test_wrong_jumps_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted, in Python code that is not compiled: R without the width of the proposal, swaps that are always
    accepted, and slides for which the prior of the other coefficient is too narrow."""
    for name in ("_visit", "_slide", "_swap"):
        monkeypatch.setattr(reversible_jump, name, getattr(reversible_jump, name).py_func)
    monkeypatch.setattr(moves_module, "jumping_sweeps", reversible_jump.jumping_sweeps.py_func)
    ratio, slide, swap = reversible_jump._log_ratio, reversible_jump._slide, reversible_jump._swap
    if planted == "Jacobian":
        monkeypatch.setattr(reversible_jump, "_log_ratio", lambda *given: ratio(*given) - np.log(given[5][1]))
    elif planted == "swap":
        monkeypatch.setattr(reversible_jump, "_swap", lambda *given: swap(*given[:-2], np.inf, given[-1]))
    elif planted == "slide":
        monkeypatch.setattr(reversible_jump, "_slide", lambda *given: slide(*given[:10], 0.1, *given[11:]))
    found = z_score(STEPS["jumps"], "logit", "known", data_sets=4)
    assert found < 0 if planted == "nothing" else found > 0


def bad_surrogate(sweeps: Callable[[Moves, Generator], tuple[Sweep, Sweep]], size: Any = None) -> float:
    """Return the largest z-score after steps by a surrogate of one member, with highly correlated features."""
    rng, family = np.random.default_rng(3), sb.Bernoulli()
    x = rng.standard_normal((4, D))
    x[:, 1:] = 0.9 * x[:, :1] + np.sqrt(0.19) * x[:, 1:]
    prior = sb.SpikeSlab([0.1, 0.3, 0.2], [2.0, 0.5, 4.0], [0.3, 0.0, 0.5], size=size)
    exact = sb.Enumeration(prior, D, rewards=family)
    actions = np.repeat(x, 10, axis=0)
    exact.update(actions, (rng.random(40) < family.mean(1.5 * actions[:, 0])) * 1.0)
    moves, counts = Moves(prior, D, family), exact.evidence
    reference, members = (
        Ensemble(Rows.of(exact.nodes.sample(rng, size)[0]), None, None, None, None) for size in (1, 60_000)
    )
    surrogate = Surrogate(family, counts, reference)
    surrogate._fit = surrogate._misfits(members)
    before = described(members, family, counts)
    for _ in range(6):
        surrogate.step(sweeps(moves, rng), members, rng)
    return excess(described(members, family, counts) - before)


@pytest.mark.parametrize("over_models", [False, True])
@pytest.mark.parametrize("size", [None, (1, 2)])
def test_sweeps_are_reversible(over_models: bool, size: Any) -> None:
    assert bad_surrogate(lambda moves, rng: moves.reversible(over_models, rng), size) < 0


def test_sweeps_that_are_not_reversible_are_caught() -> None:
    """Planted: one order for all members; visits that are followed by swaps, and by exchanges."""

    def one_order(moves: Moves, rng: Generator) -> tuple[Sweep, Sweep]:
        sweep = partial(moves.coordinates, order=rng.permutation(D))
        return sweep, sweep

    def all_in_a_row(moves: Moves, rng: Generator) -> tuple[Sweep, Sweep]:
        order = rng.permutation(D)
        return partial(moves.models, order=order), partial(moves.models, order=order[::-1].copy())

    assert bad_surrogate(one_order) > 0
    assert bad_surrogate(all_in_a_row) > 0
    assert bad_surrogate(all_in_a_row, size=(1, 2)) > 0
