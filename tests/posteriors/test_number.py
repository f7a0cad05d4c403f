"""The number of particles, raised where a rule asks for it; and draws that do not depend on threads."""

from pathlib import Path

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentValueError, FloatArray, SaveFileError
from sparsebandits.model import Evidence
from sparsebandits.policies.sparse import DRAWS
from sparsebandits.posteriors.ensemble import Sums
from sparsebandits.posteriors.moves import Moves
from tests.statistical import assert_means_agree

D, PRIOR = 6, sb.SpikeSlab(0.3, 1.0)


def data(rows: int = 40) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, D))
    return x, x @ [1.0, 0.0, -0.5, 0.0, 0.0, 0.3] + rng.standard_normal(rows)


def test_particles_are_as_many_as_wanted_after_the_next_move_and_follow_the_posterior() -> None:
    x, y = data()
    posterior = sb.Particles(PRIOR, D, 1.0, n_draws=2000, most_draws=20_000, seed=0)
    exact = sb.Enumeration(PRIOR, D, 1.0)
    sizes = []
    for i, (row, reward) in enumerate(zip(x, y.tolist(), strict=True)):
        posterior.want(50_000 if i == 10 else 100)
        posterior.update(row, reward)
        sizes.append(len(posterior.draws()))
    exact.update(x, y)
    assert sizes[0] == 2000
    assert max(sizes) == 20_000, "no more than the largest number"
    assert sizes[9] == 2000
    assert sizes[-1] == 20_000, "and no fewer later"
    theta, weights = posterior.draws().theta, posterior.draws().weights
    mean, size = weights @ theta, posterior.draws().effective_sample_size
    error = np.sqrt(weights @ (theta - mean) ** 2 / size)
    assert_means_agree(mean, exact.mean(), 2.0 * error)  # copies of a particle are not independent
    assert posterior.log_evidence == pytest.approx(exact.log_evidence, abs=0.3)


def test_a_fixed_number_stays() -> None:
    x, y = data()
    posterior = sb.Particles(PRIOR, D, 1.0, n_draws=500, seed=0)
    posterior.want(5000)
    posterior.update(x, y)
    assert len(posterior.draws()) == 500
    with pytest.raises(ArgumentValueError, match=r"^most_draws: expected"):
        sb.Particles(PRIOR, D, 1.0, n_draws=500, most_draws=400)


def test_few_more_are_not_worth_a_change() -> None:
    x, y = data()
    posterior = sb.Particles(PRIOR, D, 1.0, n_draws=1000, most_draws=4000, seed=0)
    posterior.want(1100)
    posterior.update(x, y)
    assert len(posterior.draws()) == 1000


def test_a_policy_raises_the_number_where_the_best_action_is_one_of_many(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    actions, theta = rng.standard_normal((3000, 40)), np.zeros(40)
    theta[:4] = 0.5
    policies = {"many": sb.SparseIDS(actions, seed=0), "few": sb.SparseIDS(actions[:100], seed=0)}
    sizes: dict[str, list[int]] = {}
    for name, policy in policies.items():
        for _ in range(15):
            decision = policy.ask()
            policy.tell(decision, float(actions[decision.action] @ theta + rng.standard_normal()))
            sizes.setdefault(name, []).append(len(policy.posterior.draws()))
    assert set(sizes["few"]) == {DRAWS}
    assert max(sizes["many"]) > 2 * DRAWS
    many = policies["many"]
    many.save(tmp_path / "policy")
    both = many, sb.load(tmp_path / "policy")
    for _ in range(3):
        decisions = [one.ask() for one in both]
        assert decisions[0].action == decisions[1].action
        assert decisions[0].diagnostics == decisions[1].diagnostics
        for one, decision in zip(both, decisions, strict=True):
            one.tell(decision, 0.5)
    np.testing.assert_array_equal(*(one.posterior.draws().theta for one in both))


def test_a_saved_number_out_of_range_is_refused() -> None:
    posterior = sb.Particles(PRIOR, D, 1.0, n_draws=100, most_draws=200, seed=0)
    for wanted in (99, 201):
        with pytest.raises(SaveFileError, match="particles"):
            posterior.restore({**posterior.state(), "wanted": wanted})


@pytest.mark.parametrize("learnt", [False, True])
def test_draws_are_the_same_to_the_byte_for_any_number_of_threads(learnt: bool) -> None:
    rng = np.random.default_rng(1)
    actions = rng.standard_normal((30, 12))
    prior = None if learnt else sb.SpikeSlab(0.2, 1.0)
    noise = None if learnt else 1.0
    found = []
    for threads in (1, 2, 5):
        options = {"threads": threads}
        policy = sb.SparseIDS(actions, prior, noise, n_draws=5000, seed=0, engine_options=options)
        noises, chosen = np.random.default_rng(2), []
        for _ in range(25):
            decision = policy.ask()
            chosen.append((decision.action, decision.diagnostics["cost to go"]))
            policy.tell(decision, float(actions[decision.action, 0] + noises.standard_normal()))
        found.append((chosen, policy.posterior.draws().theta.tobytes(), policy.posterior.inclusion().tobytes()))
    assert found[0] == found[1] == found[2]


def test_threads_are_checked() -> None:
    with pytest.raises(ArgumentValueError, match=r"^threads: expected"):
        sb.Particles(PRIOR, D, threads=0)


def test_the_largest_number_counts() -> None:
    """A small set of actions that is offered once does not take back what the policy's own need."""
    posterior = sb.Particles(PRIOR, D, 1.0, n_draws=500, most_draws=4000, seed=0)
    for number in (3000, 100):
        posterior.want(number)
    posterior.update(*data())
    assert len(posterior.draws()) == 3000


@pytest.mark.parametrize("mean", [1111.0, 5000.6, 9001.0])
def test_a_slab_far_from_zero_is_as_likely_as_the_prior_says(mean: float) -> None:
    """Without data inclusions stay where they were, through sweeps over coordinates; 10,000 draws, five errors."""
    prior = sb.SpikeSlab(0.5, 1.0, mean)
    moves, rng = Moves(prior, 3, sb.Gaussian(1.0)), np.random.default_rng(0)
    members, sums = moves.from_prior(rng, 10_000), Sums(Evidence(3))
    for _ in range(3):
        moves.coordinates(members, sums, rng)
    np.testing.assert_allclose(moves.inclusion(members, np.full(10_000, 1e-4)), 0.5, atol=0.025)


@pytest.mark.parametrize("sigma", [1e-3, 1e-4])
def test_the_noise_is_learnt_with_very_many_features(sigma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """X'X is in single precision for very many features, and only where rounding does not show."""
    monkeypatch.setattr("sparsebandits.posteriors.ensemble.WIDE", 0)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 4))
    y = x @ [1.0, -2.0, 0.0, 0.0] + sigma * rng.standard_normal(200)
    evidence, noise = Evidence(4), sb.InverseGammaNoise(2.0, sigma**2)
    evidence.add(x, y)
    moves = Moves(sb.SpikeSlab(0.3, 1.0), 4, sb.Gaussian(noise))
    members, sums = moves.from_prior(rng, 1000), Sums(evidence)
    for _ in range(15):
        moves.models(members, sums, rng)
        moves.hyperparameters(members, sums, rng)
    assert members.noise_variances is not None
    assert np.sqrt(np.median(members.noise_variances)) == pytest.approx(sigma, rel=0.2)  # an error is 5%
