import json
from collections.abc import Callable

import numpy as np
import pytest

import sparsebandits as sb
from sparsebandits.experiments.tuning import tuning_seed
from sparsebandits.randomness import Seed

environment = sb.environments.GaussianActions(dimension=5, sparsity=2, n_actions=20)


def lin_ucb(width: float) -> Callable[[sb.experiments.Problem], sb.Policy]:
    return sb.maker(sb.LinUCB, width=width)


def test_it_picks_the_better_of_two_widths() -> None:
    """A width of 30 explores for most of 100 rounds. Planted bug: choosing the largest mean regret."""
    tuned = sb.tune(lin_ucb, [30.0, 0.5], environment, horizon=100, trials=15)
    assert tuned.best == 0.5
    rows = tuned.table.to_dicts()
    assert [row["candidate"] for row in rows] == ["30.0", "0.5"]
    assert float(rows[0]["95% from"] or 0) > float(rows[1]["to"] or 0), "the difference is not chance"
    assert sb.tune(lin_ucb, [0.5, 30.0], environment, horizon=100, trials=15).best == 0.5


def test_its_worlds_are_not_those_of_a_comparison() -> None:
    class Spied:
        def __init__(self) -> None:
            self.seen: set[bytes] = set()

        def sample(self, seed: Seed) -> sb.environments.Instance:
            instance = environment.sample(seed)
            self.seen.add(instance.theta.tobytes())
            return instance

    tuning, comparing, again = Spied(), Spied(), Spied()
    sb.tune(lin_ucb, [1.0], tuning, horizon=3, trials=20, seed=7)
    sb.Experiment(comparing, {"LinUCB": sb.LinUCB}, horizon=3, trials=20, seed=7).run()
    sb.Experiment(again, {"LinUCB": sb.LinUCB}, horizon=3, trials=20, seed=7).run()
    assert len(tuning.seen) == 20
    assert not tuning.seen & comparing.seen
    assert comparing.seen == again.seen, "planted bug: seeds of the comparison would be found"
    assert tuning_seed(7) != tuning_seed(8)
    assert tuning_seed(7) > 2**64


def test_all_candidates_meet_the_same_worlds() -> None:
    tuned = sb.tune(lin_ucb, [1.0, 1.0, 2.0], environment, horizon=20, trials=5)
    same = sb.tune(lambda name: sb.maker(sb.LinUCB), ["one", "other"], environment, horizon=5, trials=2)
    assert same.best == "one", "the first of equals"
    first, second, third = ([row[key] for key in ("final regret", "95% from", "to")] for row in tuned.table)
    assert first == second != third


def test_it_can_be_repeated_and_is_recorded() -> None:
    one, other, seeded = (
        sb.tune(lin_ucb, [0.3, 1.0, 30.0], environment, horizon=30, trials=6, seed=seed) for seed in (1, 1, 2)
    )
    assert one == other
    assert one.table != seeded.table
    record = json.loads(json.dumps(one.record()))
    assert (record["horizon"], record["trials"], record["seed"]) == (30, 6, 1)
    assert len(record["candidates"]) == 3
    assert "of 3 candidates, by mean regret over 6 trials of 30 rounds" in str(one)
    assert one.at_edge == (one.best in (0.3, 30.0)) == ("at the edge" in str(one))
    assert not sb.tune(lin_ucb, [1.0], environment, horizon=3, trials=2).at_edge
    with pytest.raises(ValueError, match="candidates: expected a sequence of at least one value"):
        sb.tune(lin_ucb, [], environment, horizon=3, trials=2)


def test_other_things_than_numbers_can_be_candidates() -> None:
    policies = [sb.LinTS, sb.LinUCB]
    assert sb.tune(lambda policy: policy, policies, environment, horizon=20, trials=3).best in policies


def test_candidates_may_be_an_array_and_a_policy_class_is_no_function_of_them() -> None:
    widths = np.geomspace(0.5, 2.0, 3)
    tuned = sb.tune(lin_ucb, widths, environment, horizon=5, trials=2)
    assert tuned == sb.tune(lin_ucb, widths.tolist(), environment, horizon=5, trials=2)
    with pytest.raises(TypeError, match=r"make: expected a function .* such as lambda width: maker"):
        sb.tune(sb.LinUCB, [0.5], environment, horizon=5, trials=2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"make\(0\.5\): expected a policy class or a function of a Problem, got None"):
        sb.tune(lambda width: None, [0.5], environment, horizon=5, trials=2)  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="candidates: expected a sequence"):
        sb.tune(lin_ucb, np.ones((2, 2)), environment, horizon=5, trials=2)


def test_makers_pass_the_horizon_only_where_it_is_an_argument() -> None:
    problem = sb.experiments.Problem(np.eye(3), 0.7, 10, np.random.SeedSequence(0))
    assert sb.maker(sb.rivals.ESTC, sparsity=1)(problem).posterior.exploration == 10  # all rounds
    longer = sb.maker(sb.rivals.ESTC, sparsity=1, horizon=99)(problem)
    assert 10 < longer.posterior.exploration <= 99
    sb.maker(sb.LinUCB)(problem)  # takes none
