import numpy as np

import sparsebandits as sb
from sparsebandits.experiments.simulate import NOISE_STREAM
from sparsebandits.randomness import IndexedNormals, child

environment = sb.GaussianActions(dimension=6, sparsity=2, n_actions=15)


lin_ts, lin_ucb = sb.maker(sb.LinTS), sb.maker(sb.LinUCB)


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


def test_a_maker_passes_what_may_be_known_and_settings_win() -> None:
    problem = sb.Problem(np.eye(3), 0.7, 10, np.random.SeedSequence(0))
    assert sb.maker(sb.LinTS)(problem).arguments["noise_variance"] == 0.7
    told = sb.maker(sb.LinUCB, noise_variance=2.0, width=0.5)(problem)
    assert (told.arguments["noise_variance"], told.arguments["width"]) == (2.0, 0.5)


def test_a_policy_is_not_shown_the_truth() -> None:
    seen: list[sb.Problem] = []

    def spy(problem: sb.Problem) -> sb.Policy:
        seen.append(problem)
        return lin_ucb(problem)

    sb.simulate(spy, environment.sample(0), 3)
    assert set(vars(seen[0])) == {"actions", "noise_variance", "horizon", "seed"}
