import numpy as np
import pytest

import sparsebandits as sb
from tests.statistical import assert_means_agree

FIXED = sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=30, correlation=0.6)


def test_a_rounds_set_depends_on_seed_and_round_alone() -> None:
    forwards, backwards, other = (sb.environments.ChangingActions(FIXED).sample(seed) for seed in (0, 0, 1))
    sets = {t: forwards.offered(t) for t in range(5)}
    for t in (4, 2, 0, 3, 1):
        assert backwards.offered(t).tobytes() == sets[t].tobytes()
        assert other.offered(t).tobytes() != sets[t].tobytes()
    assert len({one.tobytes() for one in sets.values()}) == 5
    assert forwards.theta.tobytes() == backwards.theta.tobytes()


def test_a_fresh_seed_is_drawn_once() -> None:
    instance = sb.environments.ChangingActions(FIXED).sample(None)
    first = instance.offered(1).tobytes()
    instance.offered(2)
    assert instance.offered(1).tobytes() == first


def test_theta_and_the_first_set_are_those_of_the_fixed_instance() -> None:
    changing, fixed = sb.environments.ChangingActions(FIXED).sample(5), FIXED.sample(5)
    np.testing.assert_array_equal(changing.theta, fixed.theta)
    np.testing.assert_array_equal(changing.actions, fixed.actions)
    np.testing.assert_array_equal(changing.offered(0), fixed.actions)


def test_sets_are_independent_draws_of_the_stated_distribution() -> None:
    instance = sb.environments.ChangingActions(FIXED).sample(0)
    rows = np.array([instance.offered(t) for t in range(800)])
    expected = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    flat = rows.reshape(-1, 4)
    assert_means_agree(flat.T @ flat / len(flat), expected, np.sqrt((1 + expected**2) / len(flat)))
    follows = (rows[1:] * rows[:-1]).mean(axis=(1, 2))  # zero on average if a set is independent of the one before
    error = follows.std() / np.sqrt(len(follows))
    assert_means_agree(follows.mean(), np.zeros(()), error)
    shared = follows + 0.1 * (rows[:-1] ** 2).mean(
        axis=(1, 2)
    )  # planted: a set that contains a tenth of the one before
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(shared.mean(), np.zeros(()), error)


def test_the_sparse_contextual_setting_of_a_thousand_features() -> None:
    """Chakraborty, Roy and Tewari (2023): d = 1000, s = 5, ten arms, fresh contexts with autocorrelation 0.3.

    The standard error of the correlation is about 0.002 and the limit under five of them, so a correlation of 0.28 in
    place of 0.3 is found.
    """
    fixed = sb.environments.GaussianActions(1000, 5, n_actions=10, correlation=0.3, noise_variance=1.0)
    instance = sb.environments.ChangingActions(fixed).sample(0)
    assert instance.offered(1).shape == (10, 1000)
    assert np.count_nonzero(instance.theta) == 5
    rows = np.concatenate([instance.offered(t) for t in range(40)])
    lags = [(rows[:, lag:] * rows[:, : 1000 - lag]).mean(axis=1) for lag in range(4)]
    found, error = (np.array([f(one) for one in lags]) for f in (np.mean, lambda one: one.std() / np.sqrt(len(one))))
    assert_means_agree(found, np.array([0.3**lag for lag in range(4)]), error)
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(found, np.array([0.28**lag for lag in range(4)]), error)


def test_outcomes_are_against_the_rounds_own_rows() -> None:
    instance = sb.environments.ChangingActions(FIXED).sample(2)
    for t in (0, 3, 7):
        means = instance.offered(t) @ instance.theta
        for row in (0, 11, 29):
            found = instance.outcome(t, row, instance.offered(t)[row])
            assert found.mean == pytest.approx(means[row])
            assert found.regret == pytest.approx(means.max() - means[row])
            assert found.noise_index == row
    with pytest.raises(ValueError, match="action: expected a row of the actions, got a decision without one"):
        instance.outcome(0, -1, np.ones(4))


def test_what_it_says_of_itself_and_of_a_cube() -> None:
    instance = sb.environments.ChangingActions(FIXED).sample(0)
    text = "Instance(30 actions of 4 features of which 2 matter, noise variance 2), new actions in each round)"
    assert repr(instance) == f"ChangingInstance({text}"
    with pytest.raises(
        TypeError, match=r"environment: expected an environment whose .* rows of actions, got one that samples CubeInst"
    ):
        sb.environments.ChangingActions(sb.environments.Hypercube(5, 2)).sample(0)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"instance: expected an Instance, got .*; pass what its sample\(seed\) returns"
    ):
        sb.simulate(sb.LinTS, sb.environments.ChangingActions(FIXED), 5)  # type: ignore[arg-type]
