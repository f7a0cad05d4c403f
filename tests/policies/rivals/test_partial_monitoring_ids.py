"""PartialMonitoringIDS: gaps, gains and minimiser from their definitions, over all pairs, in every round."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.model import Game, dueling, transductive
from sparsebandits.policies.rivals import partial_monitoring_ids
from sparsebandits.policies.rivals.frequentist_ids import log_reduction
from tests.policies.rivals.test_frequentist_ids import best_mixture
from tests.policies.table import fingerprint, some_actions

PRIOR, WIDTH, NOISE = 0.3, 0.8, 0.2
GAMES = {
    "dueling": dueling(some_actions(4, 3)),
    "transductive": transductive(some_actions(6, 3), some_actions(4, 3, seed=1)),
    "any": Game(some_actions(7, 3), some_actions(7, 3, seed=2)),
}
games = pytest.mark.parametrize("name", GAMES)


def textbook(game: Game, x: FloatArray, y: FloatArray, gain: str, differences: str) -> tuple[FloatArray, FloatArray]:
    """Return gap estimates and gains, with loops over pairs and inverses of V before and after each observation."""
    v = np.eye(3) / PRIOR + x.T @ x / NOISE
    inverse = np.linalg.inv(v)
    theta = inverse @ x.T @ y / NOISE

    def bounds(difference: FloatArray) -> tuple[float, float]:
        width = WIDTH * np.sqrt(difference @ inverse @ difference)
        return float(difference @ theta - width), float(difference @ theta + width)

    best = game.actions[int((game.actions @ theta).argmax())]
    if differences == "all":
        gap = np.array([max(bounds(b - a)[1] for b in game.actions) for a in game.actions])
        plausible = [a for a in game.actions if all(bounds(b - a)[0] <= 1e-12 for b in game.actions)]
        directions = [b - a for a in plausible for b in plausible]
    else:
        gap = (best - game.actions) @ theta + max(bounds(b - best)[1] for b in game.actions)
        directions = [a - best for a in game.actions if bounds(best - a)[0] <= 1e-12]
    longest = max(directions, key=lambda u: float(u @ inverse @ u))
    gains = []
    for m in game.observations:
        after = np.linalg.inv(v + np.outer(m, m) / NOISE)
        if gain == "full":
            gains.append(np.log(np.linalg.det(v + np.outer(m, m) / NOISE) / np.linalg.det(v)))
        else:
            gains.append(np.log((longest @ inverse @ longest) / (longest @ after @ longest)) if longest.any() else 0.0)
    return gap, np.where(np.array(gains) < 1e-12, 0.0, gains)  # rounding


def run(name: str, gain: str = "directed", differences: str = "all", selection: str = "randomised") -> None:
    game = GAMES[name]
    policy = sb.rivals.PartialMonitoringIDS(
        game, None, sb.GaussianPrior(PRIOR), NOISE, WIDTH, gain, differences, selection, seed=1
    )
    x, y, theta = np.empty((0, 3)), np.empty(0), np.array([0.2, -0.1, 0.1])
    for t, noise in enumerate(np.random.default_rng(0).standard_normal(30)):
        decision = policy.ask()
        columns, candidates = decision.reasons.columns, decision.reasons.candidates
        if t or differences == "all":  # in the first round any action is the best estimate
            gap, information = textbook(game, x, y, gain, differences)
            np.testing.assert_allclose(columns["gap estimate"], gap[candidates], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(columns["information gain"], information[candidates], rtol=1e-8, atol=1e-9)
            found = decision.reasons.notes["ratio minimised"]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(gap < 1e-9, 0.0, gap**2 / information)
            if gap.min() < 1e-9:
                assert found < 1e-9
            elif selection == "deterministic":
                assert found == pytest.approx(ratio.min(), rel=1e-9)
            else:
                best = best_mixture(gap, information + 1e-300)  # on a grid, which small probabilities fall between
                assert best * (1 - 1e-2) < found < best * (1 + 1e-9)
        row = game.observations[decision.action]
        np.testing.assert_array_equal(decision.observation, row)
        told = float(row @ theta + np.sqrt(NOISE) * noise)
        policy.tell(decision, told)
        x, y = np.vstack((x, row)), np.append(y, told)


@games
@pytest.mark.parametrize("gain", ["full", "directed"])
@pytest.mark.parametrize("differences", ["all", "best"])
@pytest.mark.parametrize("selection", ["randomised", "deterministic"])
def test_gaps_gains_and_minimiser(name: str, gain: str, differences: str, selection: str) -> None:
    run(name, gain, differences, selection)


@pytest.mark.parametrize("planted", ["learns the reward row", "gain without the variance of m", "bounds of rewards"])
def test_planted_bugs_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if planted == "learns the reward row":
        monkeypatch.setattr(sb.Conjugate, "absorb", _absorbing_features(sb.Conjugate.absorb))
    elif planted == "gain without the variance of m":
        monkeypatch.setattr(partial_monitoring_ids, "log_reduction", _without_variance)
    else:
        monkeypatch.setattr(partial_monitoring_ids, "bounds_of_all", _of_rewards)
    with pytest.raises(AssertionError):
        run("dueling")


def _absorbing_features(right: Any) -> Any:
    game = GAMES["dueling"]

    def absorb(self: Any, x: FloatArray, y: FloatArray, weights: Any = None, times: Any = None) -> None:
        row = int(np.flatnonzero((game.observations == x[0]).all(axis=1))[0])
        right(self, game.actions[[row]], y, weights, times)

    return absorb


def _without_variance(covariance: FloatArray, target: float, variance: FloatArray, noise: Any) -> FloatArray:
    return log_reduction(covariance, target, np.zeros_like(variance), noise)


def _of_rewards(mean: FloatArray, projections: FloatArray, width: float, rng: Any) -> Any:
    length = np.linalg.norm(projections, axis=1)
    gap = (mean + width * length).max() - (mean - width * length)
    return partial_monitoring_ids.Bounds(gap, projections[int((mean + width * length).argmax())])


@games
def test_row_order_makes_no_difference(name: str) -> None:
    """The gap, gain and ratio of each row are the same in any order, after the same observations."""
    game, order = GAMES[name], np.random.default_rng(5).permutation(len(GAMES[name]))
    moved = Game(game.actions[order], game.observations[order])
    found = []
    for one, rows in ((game, np.arange(len(game))), (moved, order)):
        policy = sb.rivals.PartialMonitoringIDS(one, noise_variance=NOISE, seed=0)
        for target, value in zip((0, len(game) - 1, 1), (0.3, -0.2, 0.5), strict=True):
            place = int(np.flatnonzero(rows == target)[0])
            policy.tell(policy.ask(available=[place]), value)
        decision = policy.ask()
        columns = {int(rows[a]): k for k, a in enumerate(decision.reasons.candidates.tolist())}
        found.append(
            {
                a: (decision.reasons.columns["gap estimate"][k], decision.reasons.columns["ratio"][k])
                for a, k in columns.items()
            }
        )
    for row in found[0].keys() & found[1].keys():
        assert found[0][row] == pytest.approx(found[1][row], rel=1e-9)


@games
def test_saved_and_loaded(name: str, tmp_path: Path) -> None:
    policy = sb.rivals.PartialMonitoringIDS(GAMES[name], noise_variance=NOISE, seed=0)
    for value in (0.4, -0.3, 0.1):
        policy.tell(policy.ask(), value)
    waiting = policy.ask()
    policy.save(tmp_path / "policy.npz")
    again = sb.load(tmp_path / "policy.npz")
    assert fingerprint(again) == fingerprint(policy)
    assert again.rule == policy.rule
    for one in (policy, again):
        one.tell(waiting.id, 0.7)
        one.tell(one.ask(available=[0, 2]), 0.2)
    assert fingerprint(again) == fingerprint(policy)


def test_a_batch_believes_observations() -> None:
    """The second of a batch knows that the first will show x₀ or x₁; planted: believing that it showed φ = 0."""
    policy = sb.rivals.PartialMonitoringIDS(transductive(np.eye(2), np.eye(2)), noise_variance=0.1, gain="full", seed=0)
    batch = policy.ask(n=2)
    assert {one.label for one in batch} == {"probe 0", "probe 1"}


def test_an_explanation_speaks_of_observations() -> None:
    policy = sb.rivals.PartialMonitoringIDS(dueling(np.eye(2)), noise_variance=0.1, seed=0)
    text = str(policy.explain(policy.ask()))
    for part in ("0 vs 1", "expected observation", partial_monitoring_ids.TOLD):
        assert part in text
    bandit = sb.rivals.PartialMonitoringIDS(np.eye(2), seed=0)
    assert partial_monitoring_ids.TOLD not in str(bandit.explain(bandit.ask()))


def test_it_plays_as_often_as_it_says() -> None:
    policy = sb.rivals.PartialMonitoringIDS(GAMES["transductive"], noise_variance=NOISE, seed=0)
    policy.tell(policy.ask(), 0.5)
    while not 0.1 < policy.ask().probability < 0.9:
        policy.tell(policy.ask(), 0.5)
    decisions = [policy.ask() for _ in range(1000)]
    first = decisions[0]
    count = sum(d.action == first.action for d in decisions)
    assert stats.binomtest(count, 1000, first.probability).pvalue > 1e-5
    assert stats.binomtest(count, 1000, 1 - first.probability).pvalue < 1e-5, "planted: the other one's probability"


def test_a_table_of_observations_is_matched_by_name() -> None:
    """Rows and columns in another order are put in that of the actions; planted: taken by place."""
    actions = pd.DataFrame(some_actions(3, 2), index=["tea", "milk", "rum"], columns=["sweet", "hot"])
    shown = pd.DataFrame(some_actions(3, 2, seed=1), index=actions.index, columns=actions.columns)
    moved = shown.loc[["rum", "tea", "milk"], ["hot", "sweet"]]
    for table in (shown, moved, shown.to_numpy(), moved.loc[actions.index], shown.reset_index(drop=True)):
        policy: Any = sb.rivals.PartialMonitoringIDS(actions, table, seed=0)
        np.testing.assert_array_equal(policy.rule.observations, shown.to_numpy())
    assert not np.array_equal(moved.to_numpy(), shown.to_numpy())
    for wrong in (shown.rename(index={"tea": "gin"}), shown.rename(columns={"hot": "cold"}), shown.iloc[:2]):
        with pytest.raises(ArgumentError, match=r"^observations: expected"):
            sb.rivals.PartialMonitoringIDS(actions, wrong)
    unnamed: Any = sb.rivals.PartialMonitoringIDS(actions.to_numpy(), shown, seed=0)
    np.testing.assert_array_equal(unnamed.rule.observations, shown.to_numpy())


@games
def test_what_does_not_fit_is_refused(name: str) -> None:
    game = GAMES[name]
    policy = sb.rivals.PartialMonitoringIDS(game, seed=0)
    before = fingerprint(policy)
    for other in (game.actions[:2], np.ones((2, 3)), game.actions + 1.0):
        with pytest.raises(ArgumentError, match=r"^actions: expected the \d+ whose observations are known"):
            policy.ask(other)
    assert fingerprint(policy) == before
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (game, {"observations": game.observations}, "observations"),
        (game.actions, {"observations": game.observations[:2]}, "observations"),
        (game.actions, {"observations": game.observations[:, :2]}, "observations"),
        (game, {"differences": "some"}, "differences"),
        (game, {"gain": "none"}, "gain"),
        (game, {"width": -1.0}, "width"),
        (sb.policies.ActionSet.of(np.eye(2)).with_feedback(np.ones((2, 2))), {}, "rule"),
    ]
    for actions, settings, argument in wrong:
        with pytest.raises(ArgumentError, match=rf"^{argument}: expected"):
            sb.rivals.PartialMonitoringIDS(actions, **settings).ask()
    with pytest.raises(ArgumentError, match=r"^actions: expected one row per action that shows its own reward"):
        sb.LinTS(game)
    with pytest.raises(ArgumentError, match=r"^posterior: expected Conjugate"):
        sb.Policy(np.eye(2), sb.Particles(sb.SpikeSlab(0.5, 1.0), 2), sb.rivals.PartialMonitoringInformationDirected())
