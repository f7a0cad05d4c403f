import numpy as np

import sparsebandits as sb
from sparsebandits.experiments.simulate import NOISE_STREAM
from sparsebandits.randomness import IndexedNormals, child

environment = sb.GaussianActions(dimension=6, sparsity=2, n_actions=15)


def lin_ts(problem: sb.Problem) -> sb.Policy:
    return sb.LinTS(problem.actions, noise_variance=problem.noise_variance, seed=problem.seed)


def lin_ucb(problem: sb.Problem) -> sb.Policy:
    return sb.LinUCB(problem.actions, noise_variance=problem.noise_variance)


def test_regret_comes_from_true_means() -> None:
    instance = environment.sample(0)
    trace = sb.simulate(lin_ts, instance, 50, seed=1)
    means = instance.actions @ instance.theta
    np.testing.assert_allclose(trace.regret, np.cumsum(means.max() - means[trace.actions]))
    assert (trace.seconds > 0).all()
    assert ((trace.probabilities > 0) & (trace.probabilities <= 1)).all()


def test_all_policies_face_the_same_world() -> None:
    instance = environment.sample(0)
    one, other = (sb.simulate(make, instance, 200, seed=1) for make in (lin_ts, lin_ucb))
    together = one.actions == other.actions
    assert 5 < together.sum() < 200
    np.testing.assert_array_equal(one.rewards[together], other.rewards[together])
    noise = IndexedNormals(child(1, NOISE_STREAM))
    expected = [instance.means[a] + np.sqrt(2.0) * noise(t, int(a)) for t, a in enumerate(one.actions)]
    np.testing.assert_array_equal(one.rewards, expected)


def test_same_seed_same_bytes_other_seed_others() -> None:
    instance = environment.sample(0)
    first, again, other = (sb.simulate(lin_ts, instance, 30, seed=s) for s in (1, 1, 2))
    assert first.rewards.tobytes() == again.rewards.tobytes()
    assert first.rewards.tobytes() != other.rewards.tobytes()


def test_a_policy_is_not_shown_the_truth() -> None:
    seen: list[sb.Problem] = []

    def spy(problem: sb.Problem) -> sb.Policy:
        seen.append(problem)
        return lin_ucb(problem)

    sb.simulate(spy, environment.sample(0), 3)
    assert set(vars(seen[0])) == {"actions", "noise_variance", "horizon", "seed"}
