"""Worlds with a feedback graph: what is shown is what playing a neighbour would have brought, and it helps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError
from sparsebandits.experiments.plan import read_plan
from sparsebandits.randomness import NOISE_STREAM, IndexedNormals, child

K = 6


def test_side_observations_help_thompson_sampling() -> None:
    """With the complete graph every reward is seen in every round: paired regret is lower in most of 12 trials.

    Planted: if neighbours' rewards were not learnt, regret would be the same in all of them.
    """
    environment = sb.environments.GaussianActions(dimension=6, sparsity=2, n_actions=12, noise_variance=1.0)
    lower, total = 0, np.zeros(2)
    for seed in range(12):
        instance = environment.sample(seed)
        full = sb.environments.GraphInstance(instance, np.ones((12, 12)))
        regret = [sb.simulate(sb.LinTS, world, 60, seed).regret[-1] for world in (instance, full)]
        lower += regret[1] < regret[0]
        total += regret
    assert lower >= 10  # at most 2 of 12 by chance if there were no difference: probability 0.019
    assert total[1] < total[0] / 2


def test_simulated_rewards_of_neighbours_are_their_own() -> None:
    """What a neighbour shows in a round is what playing it would have brought. Planted: noise of the chosen row."""
    graph: Any = sb.environments.GraphInstance(
        sb.environments.GaussianActions(dimension=3, sparsity=1, n_actions=K).sample(0),
        np.random.default_rng(7).random((K, K)) < 0.4,
    )
    made: list[sb.Policy] = []

    def make(problem: Any) -> sb.Policy:
        made.append(sb.maker(sb.LinTS)(problem))
        return made[-1]

    trace = sb.simulate(make, graph, 30, seed=1)
    noise = IndexedNormals(child(1, NOISE_STREAM))
    for t in range(30):
        expected = {
            row: graph.instance.means[row] + np.sqrt(graph.noise_variance) * noise(t, row)
            for row in np.flatnonzero(graph.feedback[trace.actions[t]]).tolist()
        }
        assert made[0].shown(t) == pytest.approx(expected, rel=1e-12)
    kept: Any = made[0].actions.feedback
    np.testing.assert_array_equal(kept, graph.feedback)


def test_an_environment_with_a_graph() -> None:
    environment = sb.environments.GraphFeedback(sb.environments.GaussianActions(4, 2, n_actions=3), np.ones((3, 3)))
    assert environment == sb.environments.GraphFeedback(environment.environment, [[1] * 3] * 3)
    result = sb.Experiment(
        environment, {"TS": sb.LinTS, "IDS": sb.maker(sb.LinearIDS, n_draws=100)}, horizon=10, trials=2
    ).run()
    assert set(result.regret) == {"TS", "IDS"}
    changing = sb.environments.ChangingActions(sb.environments.GaussianActions(4, 2, n_actions=3))
    sb.simulate(sb.LinTS, sb.environments.GraphFeedback(changing, np.ones((3, 3))).sample(0), 5)
    for wrong in (np.ones((2, 3)), np.ones(3), 2 * np.eye(3)):
        with pytest.raises(ArgumentError, match=r"^graph"):
            sb.environments.GraphFeedback(environment.environment, wrong)
    with pytest.raises(ArgumentError, match=r"^graph"):
        sb.environments.GraphFeedback(environment.environment, np.eye(2)).sample(0)
    with pytest.raises(ArgumentError, match=r"^instance"):
        sb.environments.GraphInstance(sb.environments.Hypercube(3, 1).sample(0), np.eye(3))


def test_an_experiment_file_has_a_graph(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(
        """
        horizon = 10
        trials = 2

        [environment]
        kind = "GraphFeedback"
        graph = [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
        environment = {kind = "GaussianActions", dimension = 4, sparsity = 1, n_actions = 3}

        [policies.LinTS]
        """
    )
    plan = read_plan(file)
    assert plan.environment == sb.environments.GraphFeedback(
        sb.environments.GaussianActions(4, 1, n_actions=3), [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
    )
    found = plan.run(tmp_path / "out").regret["LinTS"]
    np.testing.assert_array_equal(
        found, sb.Experiment(plan.environment, {"LinTS": sb.LinTS}, 10, 2).run().regret["LinTS"]
    )


def test_policies_without_an_argument_for_the_graph_are_not_told_what_it_hides() -> None:
    """Planted: with hidden rewards, regret of SquareCB was that of a bandit that shows them."""
    instance = sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=4).sample(0)
    blind = sb.environments.GraphInstance(instance, np.zeros((4, 4)))
    made: list[sb.Policy] = []

    def make(problem: Any) -> sb.Policy:
        made.append(sb.maker(sb.rivals.SquareCB)(problem))
        return made[-1]

    trace = sb.simulate(make, blind, horizon=40, seed=0)
    assert np.isnan(made[0].told).all()
    np.testing.assert_allclose(trace.probabilities, 0.25)
    full = sb.environments.GraphInstance(instance, np.ones((4, 4)))
    sb.simulate(make, full, horizon=3, seed=0)
    assert sorted(made[1].shown(2)) == [0, 1, 2, 3]
    with pytest.raises(ArgumentError, match="feedback graph"):
        sb.simulate(sb.rivals.LassoBandit, blind, horizon=3)


def test_a_policy_that_has_to_be_told_hidden_rewards_is_refused() -> None:
    instance = sb.environments.GaussianActions(dimension=4, sparsity=2, n_actions=3).sample(0)
    hiding = sb.environments.GraphInstance(instance, [[1, 0, 0], [0, 1, 0], [1, 1, 0]])
    alone = sb.environments.GraphInstance(instance, np.eye(3))

    def without_graph(problem: Any) -> sb.Policy:
        return sb.LinTS(problem.actions, seed=problem.seed)

    sb.simulate(without_graph, alone, horizon=3)
    with pytest.raises(ArgumentError, match=r"^make_policy: .* reward of action 2 when 2 is played, which is hidden"):
        sb.simulate(without_graph, hiding, horizon=3)
    for world in (instance, alone, hiding):
        with pytest.raises(ArgumentError, match=r"^make_policy"):
            sb.simulate(sb.maker(sb.LinTS, feedback=np.ones((3, 3))), world, horizon=3)


def test_the_contexts_of_an_instance_are_those_with_a_graph() -> None:
    environment = sb.environments.ContextualActions(4, 3, 5, 2)
    instance, plain = sb.environments.GraphFeedback(environment, np.ones((5, 5))).sample(0), environment.sample(0)
    problem = sb.experiments.Problem.of(instance, 10, np.random.SeedSequence(0))
    without = sb.experiments.Problem.of(plain, 10, np.random.SeedSequence(0))
    np.testing.assert_array_equal(problem.items, without.items)
    np.testing.assert_array_equal(problem.users, without.users)
    made: list[sb.Policy] = []

    def by_context(given: sb.experiments.Problem) -> sb.Policy:
        policy = sb.LinTS(given.items, contexts=given.users, feedback=given.feedback, seed=given.seed)
        made.append(policy)
        return policy

    sb.simulate(by_context, instance, horizon=3)
    assert sorted(made[0].shown(2)) == [0, 1, 2, 3, 4]
    fixed = sb.environments.GaussianActions(4, 2, n_actions=3).sample(0)
    assert not hasattr(sb.environments.GraphInstance(fixed, np.eye(3)), "contexts")
