"""Off-policy estimates against their definitions, and over many logs against the truth."""

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparsebandits as sb
from sparsebandits.arguments import FloatArray
from sparsebandits.journal.offpolicy import Estimate, OverlapWarning, Ridge, doubly_robust, inverse_propensity
from sparsebandits.randomness import stream
from sparsebandits.results.statistics import mean_interval
from tests.statistical import FAMILY_WISE, assert_means_agree

ROWS = np.random.default_rng(3).standard_normal((5, 3))
MEANS = 1.0 + ROWS @ [1.0, -0.5, 0.0]
ignore_overlap = pytest.mark.filterwarnings("ignore::sparsebandits.journal.offpolicy.OverlapWarning")


def softmax(values: FloatArray) -> FloatArray:
    weights = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


PLAYED = np.array([0.1, 0.25, 0.25, 0.15, 0.25])
TARGET = np.array([0.35, 0.1, 0.1, 0.35, 0.1])
VALUE = float(TARGET @ MEANS)


def made_log(seed: int, rounds: int = 300, propensities: FloatArray = PLAYED) -> sb.journal.DecisionLog:
    """A log of a policy that plays ``PLAYED``, and says that it plays ``propensities``."""
    rng = np.random.default_rng(seed)
    action = rng.choice(len(ROWS), size=rounds, p=PLAYED)
    reward = MEANS[action] + rng.standard_normal(rounds)
    columns = {"action": action, "reward": reward, "pscore": propensities[action], "action_context": ROWS}
    return sb.journal.DecisionLog.from_open_bandit(columns)


def contextual_log(seed: int, rounds: int = 90) -> tuple[sb.journal.DecisionLog, FloatArray]:
    """A log whose actions change, and the probabilities of a target in it."""
    rng = np.random.default_rng(seed)
    actions = rng.standard_normal((rounds, 4, 2))
    played, target = softmax(actions @ [0.5, 0.5]), softmax(actions @ [1.0, 0.0])
    action = np.array([rng.choice(4, p=p) for p in played])
    rewards = actions[np.arange(rounds), action] @ [1.0, 1.0] + rng.standard_normal(rounds)
    pscore = played[np.arange(rounds), action]
    return sb.journal.DecisionLog.from_open_bandit(
        {"action": action, "reward": rewards, "pscore": pscore, "actions": actions}
    ), target


def test_estimates_are_their_definitions() -> None:
    log, target = contextual_log(0)
    predictions = np.random.default_rng(1).standard_normal(target.shape)
    weighted, weights, corrected = [], [], []
    for t in range(len(log)):
        a = log.action[t]
        w = target[t, a] / log.pscore[t]
        weights.append(w)
        weighted.append(w * log.reward[t])
        direct = sum(target[t, b] * predictions[t, b] for b in range(4))
        corrected.append(direct + w * (log.reward[t] - predictions[t, a]))
    plain, normalised = (inverse_propensity(log, target, self_normalised) for self_normalised in (False, True))
    robust = doubly_robust(log, target, predictions)
    assert plain.value == pytest.approx(np.mean(weighted))
    assert normalised.value == pytest.approx(np.sum(weighted) / np.sum(weights))
    assert robust.value == pytest.approx(np.mean(corrected))
    assert plain.standard_error == pytest.approx(np.std(weighted, ddof=1) / np.sqrt(90))
    assert robust.standard_error == pytest.approx(np.std(corrected, ddof=1) / np.sqrt(90))
    for one in (plain, normalised, robust):
        assert one.effective_rounds == pytest.approx(np.sum(weights) ** 2 / np.sum(np.square(weights)))
        assert one.largest_weight == pytest.approx(max(weights))
        assert one.mean_weight == pytest.approx(np.mean(weights))
        assert (one.value - one.low) / one.standard_error == pytest.approx(1.959964, abs=1e-6)
        assert (one.high - one.value) / one.standard_error == pytest.approx(1.959964, abs=1e-6)


@ignore_overlap
def test_over_all_logs_there_are_inverse_propensity_and_doubly_robust_have_no_bias() -> None:
    """Every log of three rounds and three actions, with its probability; the rewards are their means."""
    rows, means, played, target = ROWS[:3], MEANS[:3], np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.1, 0.3])
    totals = np.zeros(3)
    for action in product(range(3), repeat=3):
        chosen = np.array(action)
        log = sb.journal.DecisionLog.from_open_bandit(
            {"action": chosen, "reward": means[chosen], "pscore": played[chosen], "action_context": rows}
        )
        one = doubly_robust(log, target, Ridge(), blocks=3)
        other = doubly_robust(log, target, Ridge(), "others", blocks=3)
        chance = float(played[chosen].prod())
        totals += chance * np.array([inverse_propensity(log, target).value, one.value, other.value])
    np.testing.assert_allclose(totals, target @ means, rtol=1e-12)


def assert_covers(estimates: Sequence[Estimate], value: float) -> None:
    """Fail if the intervals hold the value more or less often than 95% allows."""
    held = sum(one.low <= value <= one.high for one in estimates)
    least, most = (stats.binom(len(estimates), 0.95).ppf(q) for q in (FAMILY_WISE / 2, 1 - FAMILY_WISE / 2))
    assert least <= held <= most, f"{held} of {len(estimates)} hold it, not {least:.0f} to {most:.0f}"


METHODS: dict[str, Callable[[sb.journal.DecisionLog], Estimate]] = {
    "inverse propensity": lambda log: inverse_propensity(log, TARGET),
    "self-normalised": lambda log: inverse_propensity(log, TARGET, self_normalised=True),
    "doubly robust": lambda log: doubly_robust(log, TARGET, blocks=5),
    "doubly robust, others": lambda log: doubly_robust(log, TARGET, cross_fitting="others", blocks=5),
}


@ignore_overlap
@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_the_value_in_95_of_100_logs(method: str) -> None:
    """Over 400 logs. Fails on planted weights of one (with a wrong model, if any), and on too short intervals."""
    found = [METHODS[method](made_log(seed)) for seed in range(400)]
    assert_covers(found, VALUE)
    values = np.array([one.value for one in found])
    if method != "self-normalised":
        assert_means_agree(values.mean(), np.asarray(VALUE), np.asarray(values.std() / np.sqrt(len(found))))
    unweighted = [made_log(seed, propensities=TARGET) for seed in range(100)]
    robust = method.startswith("doubly")
    wrong = [doubly_robust(log, TARGET, -MEANS) if robust else METHODS[method](log) for log in unweighted]
    with pytest.raises(AssertionError, match="hold it"):
        assert_covers(wrong, VALUE)
    short = [stats.norm(one.value, one.standard_error * 2 / 3).interval(0.95) for one in found]
    with pytest.raises(AssertionError, match="hold it"):
        assert_covers([_with_ends(one, *ends) for one, ends in zip(found, short, strict=True)], VALUE)


def _with_ends(estimate: Estimate, low: float, high: float) -> Estimate:
    return Estimate(**{**vars(estimate), "low": low, "high": high})


@ignore_overlap
@pytest.mark.parametrize(
    ("propensities", "model"), [(PLAYED, -MEANS), (TARGET, MEANS)], ids=["wrong model", "wrong propensities"]
)
def test_either_the_model_or_the_propensities_may_be_wrong(propensities: FloatArray, model: FloatArray) -> None:
    """Over 400 logs; both wrong is the planted bug of the test above."""
    found = [doubly_robust(made_log(seed, propensities=propensities), TARGET, model) for seed in range(400)]
    assert_covers(found, VALUE)


def test_a_good_model_takes_variance_away() -> None:
    """Over 200 logs, by an F-test. Fails on the planted model whose predictions have the wrong sign."""
    logs = [made_log(seed) for seed in range(200)]
    limit = stats.f(199, 199).ppf(1e-5)

    def spread(estimate: Callable[[sb.journal.DecisionLog], Estimate]) -> float:
        return float(np.var([estimate(log).value for log in logs]))

    plain = spread(METHODS["inverse propensity"])
    assert spread(lambda log: doubly_robust(log, TARGET, MEANS)) / plain < limit
    assert spread(lambda log: doubly_robust(log, TARGET, -MEANS)) / plain > limit
    assert spread(METHODS["doubly robust"]) < plain  # with a model that is learnt on the way


class Memory:
    """A model that knows the rewards it has seen by heart, and expects nothing of other rows."""

    def __init__(self) -> None:
        self.seen: dict[bytes, float] = {}

    def fit(self, features: FloatArray, rewards: FloatArray) -> "Memory":
        self.seen = {row.tobytes(): reward for row, reward in zip(features, rewards, strict=True)}
        return self

    def predict(self, features: FloatArray) -> FloatArray:
        return np.array([self.seen.get(row.tobytes(), 0.0) for row in features])


@pytest.mark.parametrize("cross_fitting", ["past", "others"])
def test_a_round_is_not_predicted_by_a_model_that_has_seen_it(cross_fitting: str) -> None:
    """No two rows are alike, so a model that knows them by heart knows nothing: the estimate is that without one."""
    log, target = contextual_log(0)
    plain = inverse_propensity(log, target)
    assert doubly_robust(log, target, Memory(), cross_fitting).value == pytest.approx(plain.value, rel=1e-12)
    played = log.actions[np.arange(len(log)), log.action]
    leaking = doubly_robust(log, target, _predictor(Memory().fit(played, log.reward)))  # planted: fitted to all rounds
    assert leaking.value != pytest.approx(plain.value, rel=0.1)


def _predictor(model: Any) -> Any:
    class Predictor:
        def predict(self, features: FloatArray) -> FloatArray:
            return np.asarray(model.predict(features))

    return Predictor()


def test_the_past_is_all_that_a_model_is_fitted_to() -> None:
    fits: list[FloatArray] = []

    class Noting(Ridge):
        def fit(self, features: FloatArray, rewards: FloatArray) -> "Noting":
            fits.append(rewards.copy())
            return super().fit(features, rewards)

    log = made_log(0, rounds=200)
    doubly_robust(log, TARGET, Noting(), blocks=4)
    assert [len(rewards) for rewards in fits] == [50, 100, 150]
    for rewards in fits:
        np.testing.assert_array_equal(rewards, log.reward[: len(rewards)])
    fits.clear()
    doubly_robust(log, TARGET, Noting(), "others", blocks=4)
    assert [len(rewards) for rewards in fits] == [150, 150, 150, 150]
    np.testing.assert_array_equal(fits[1], np.delete(log.reward, np.arange(50, 100)))


def test_ridge_is_the_solution_of_its_normal_equations() -> None:
    rng = np.random.default_rng(0)
    features, rewards = np.column_stack((rng.standard_normal((40, 3)) * [1, 10, 0.1], np.ones(40))), rng.random(40)
    columns = features[:, :3] - features[:, :3].mean(axis=0)
    columns /= np.sqrt((columns**2).mean(axis=0))
    padded = np.vstack((columns, np.eye(3)))  # a penalty is an observation of zero
    coefficients = np.linalg.lstsq(padded, np.concatenate((rewards - rewards.mean(), np.zeros(3))))[0]
    found = Ridge().fit(features, rewards).predict(features)
    np.testing.assert_allclose(found, rewards.mean() + columns @ coefficients)


def test_targets_and_models_in_their_forms() -> None:
    log, target = contextual_log(0)
    by_function = inverse_propensity(log, lambda actions: softmax(actions @ [1.0, 0.0]))
    assert by_function == inverse_propensity(log, target)
    fixed = made_log(0)
    assert inverse_propensity(fixed, lambda rows: TARGET) == inverse_propensity(fixed, np.tile(TARGET, (300, 1)))
    assert doubly_robust(fixed, TARGET, _predictor(Ridge().fit(ROWS, MEANS))) == doubly_robust(
        fixed, TARGET, Ridge().fit(ROWS, MEANS).predict(ROWS)
    )
    sparse = doubly_robust(fixed, TARGET, sb.SpikeSlabRegressor(n_draws=200, random_state=0), blocks=3)
    assert abs(sparse.value - VALUE) < 4 * sparse.standard_error


def test_the_bootstrap_suits_the_same_scores() -> None:
    log = made_log(0)
    scores = TARGET[log.action] / log.pscore * log.reward
    plain = inverse_propensity(log, TARGET, interval="bootstrap")
    assert (plain.low, plain.high) == tuple(float(end) for end in mean_interval(scores))
    for estimate in (
        inverse_propensity(log, TARGET, self_normalised=True, interval="bootstrap"),
        doubly_robust(log, TARGET, MEANS, interval="bootstrap", confidence=0.95),
    ):
        for end, normal in ((estimate.low, -1.96), (estimate.high, 1.96)):
            assert (end - estimate.value) / estimate.standard_error == pytest.approx(normal, abs=0.35)


def test_a_deterministic_policy_leaves_no_log_to_learn_from() -> None:
    policy = sb.LinUCB(ROWS)
    log = sb.play(policy, lambda decision: float(MEANS[decision.action]), rounds=60)
    with pytest.raises(ValueError, match=r"^log: expected decisions that could have gone otherwise, got 60 of prop.*%"):
        inverse_propensity(log, np.full(5, 0.2))
    same = np.eye(5)[log.action]  # what it did play can be evaluated
    assert inverse_propensity(log, same).value == pytest.approx(log.reward.mean())


def test_poor_overlap_gives_a_warning() -> None:
    rng = np.random.default_rng(0)
    action = rng.choice(2, size=400)
    two = {"action": action, "reward": rng.random(400), "pscore": np.full(400, 0.5), "n_actions": 5}
    log = sb.journal.DecisionLog.from_open_bandit(two)  # three of five actions are never played
    with pytest.warns(OverlapWarning, match=r"^lack of overlap: the mean weight is 0\.4 instead of one, so the log"):
        inverse_propensity(log, np.full(5, 0.2))
    too_small = sb.journal.DecisionLog.from_open_bandit({**two, "pscore": np.full(400, 0.3)})
    with pytest.warns(OverlapWarning, match=r"^lack of overlap: .* so propensities are too small"):
        doubly_robust(too_small, [0.5, 0.5, 0, 0, 0], np.zeros(5))
    rare = sb.journal.DecisionLog.from_open_bandit(
        {"action": [0] * 99 + [1], "reward": np.ones(100), "pscore": [0.99] * 99 + [0.01]}
    )
    with pytest.warns(OverlapWarning, match=r"^little overlap: 100 rounds are worth 1\.0 of .* largest weight is 100"):
        inverse_propensity(rare, [0.0, 1.0])
    with pytest.raises(ValueError, match=r"^target: expected some probability on actions that were played"):
        inverse_propensity(log, np.eye(5)[4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inverse_propensity(log, [0.3, 0.7, 0, 0, 0])


def test_propensities_estimated_from_draws_have_the_bias_that_docs_interfaces_states() -> None:
    """With n standing draws, an action of probability p gets the weight (1 − (1 − p)^(n+1)) / p on average.

    Over 800 policies; fails on the planted claim that the weight is 1 / p.
    """
    rows, draws = np.array([[1.0, 0.0], [-1.0, 0.3], [0.5, 0.75], [0.92, 0.22]]), 10
    theta = np.random.default_rng(0).standard_normal((300_000, 2))
    shares = np.bincount((theta @ rows.T).argmax(axis=1), minlength=4) / len(theta)
    weights = np.zeros((800, 4))
    for seed in range(len(weights)):
        decision = sb.LinTS(rows, probability_draws=draws, seed=seed).ask()
        weights[seed, decision.action] = 1 / decision.probability
    found, error = weights.mean(axis=0), weights.std(axis=0) / np.sqrt(len(weights))
    assert 0.03 < shares.min() < 0.1
    assert_means_agree(found, 1 - (1 - shares) ** (draws + 1), error)
    with pytest.raises(AssertionError, match="z-score"):
        assert_means_agree(found, np.ones(4), error)


def test_a_model_need_not_return_itself() -> None:
    class Silent(Ridge):
        def fit(self, features: Any, rewards: Any) -> None:  # type: ignore[override]
            super().fit(features, rewards)

    log = made_log(0)
    assert doubly_robust(log, TARGET, Silent()) == doubly_robust(log, TARGET) != inverse_propensity(log, TARGET)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda log: inverse_propensity([], TARGET), r"log: expected a journal, got \[\]"),  # type: ignore[arg-type]
        (lambda log: inverse_propensity(made_log(0, 1), TARGET), "log: expected at least two rounds, got 1"),
        (lambda log: inverse_propensity(log, TARGET[:3]), r"target: expected probabilities of shape \(5,\) or"),
        (lambda log: inverse_propensity(log, 2 * TARGET), "target: expected probabilities that sum to one"),
        (lambda log: inverse_propensity(log, [2.0, -1.0, 0, 0, 0]), "target: expected probabilities that sum"),
        (lambda log: inverse_propensity(log, "best"), "target: expected an array of numbers, got 'best'"),
        (lambda log: inverse_propensity(log, lambda rows: "best"), "target: expected an array of numbers, got 'best'"),
        (lambda log: inverse_propensity(log, TARGET, confidence=95), "confidence: expected a number between 0 and 1"),
        (lambda log: inverse_propensity(log, TARGET, interval="t"), "interval: expected one of 'normal'"),
        (lambda log: doubly_robust(log, TARGET, "ridge"), "model: expected an array of numbers, got 'ridge'"),
        (
            lambda log: doubly_robust(log, TARGET, Ridge),
            "model: expected a model, got the class Ridge; make an instance",
        ),
        (lambda log: doubly_robust(log, TARGET, np.ones(3)), "model: expected a model, or predictions of shape"),
        (lambda log: doubly_robust(log, TARGET, cross_fitting="none"), "cross_fitting: expected one of 'past'"),
        (lambda log: doubly_robust(log, TARGET, blocks=1), "blocks: expected a whole number of at least 2, got 1"),
    ],
)
def test_what_it_cannot_use(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call(made_log(0))


def test_it_prints_what_it_rests_on() -> None:
    text = str(inverse_propensity(made_log(0), TARGET))
    assert text.startswith("inverse propensity: ")
    assert "95% interval from" in text
    assert "300 rounds, worth" in text
    rows = stream(0).standard_normal((3, 2))
    log = sb.play(sb.LinTS(rows, seed=0), lambda decision: 0.0, rounds=80)
    assert "; propensities of 80 are estimates" in str(inverse_propensity(log, np.full(3, 1 / 3)))


@ignore_overlap
@pytest.mark.parametrize("kind", ["fixed", "changing"])
def test_any_journal_gives_the_same_estimates(kind: str, tmp_path: Path) -> None:
    log, target = (made_log(0), np.tile(TARGET, (300, 1))) if kind == "fixed" else contextual_log(0)
    file = sb.journal.JsonLines(tmp_path / "journal")
    file.extend(log.records())
    pending = sb.LinTS(ROWS if kind == "fixed" else ROWS[:4, :2], seed=0)
    file.decided(pending.ask(), pending.actions)  # a decision without its reward is left out
    reopened = sb.journal.JsonLines(tmp_path / "journal")
    assert len(reopened.records()) == len(log) + 1
    assert inverse_propensity(reopened, target) == inverse_propensity(log, target)
    assert doubly_robust(reopened, target, blocks=4) == doubly_robust(log, target, blocks=4)


def test_records_that_cannot_be_compared(tmp_path: Path) -> None:
    policy = sb.LinTS(ROWS, seed=0)
    ragged = sb.journal.JsonLines(tmp_path / "ragged")
    for rows in (ROWS, ROWS[:4]):
        decision = policy.ask(rows)
        ragged.decided(decision, rows)  # type: ignore[arg-type]
        ragged.rewarded(decision, 1.0)
    with pytest.raises(ValueError, match=r"^log: expected sets of actions of one shape, got shapes \[\(4, 3\), \(5, 3"):
        inverse_propensity(ragged, TARGET)
    cube, unknown = sb.rivals.HypercubeElimination(3, horizon=9), sb.journal.JsonLines(tmp_path / "cube")
    with pytest.raises(ValueError, match=r"^log: expected at least one round with its reward, got none"):
        inverse_propensity(unknown, TARGET)
    decision = cube.ask()
    unknown.decided(decision, cube.actions)
    unknown.rewarded(decision, 1.0)
    with pytest.raises(ValueError, match=r"^log: expected decisions with the actions that they were chosen from"):
        inverse_propensity(unknown, TARGET)


def test_actions_that_do_not_show_their_own_reward_are_refused() -> None:
    """Rounds without the reward of the action are the rounds of certain actions; the mean of the others is biased."""
    log = sb.journal.DecisionLog()
    actions = sb.policies.ActionSet.of(np.eye(3)).with_feedback({2: [0, 1]})
    posterior = sb.Table(sb.Hypotheses(np.eye(3)), noise_variance=1e6)
    policy = sb.Policy(actions, posterior, sb.rules.Thompson(), seed=0, journal=log)
    for _ in range(60):
        decision = policy.ask()
        policy.tell(decision, dict.fromkeys(decision.observed or (), 0.5))
    assert 0 < len(log) < 60
    assert log.actions.shape == (3, 3)
    for estimator in (inverse_propensity, doubly_robust):
        with pytest.raises(ValueError, match=r"^log: .* the action that was played, got .* not their own"):
            estimator(log, [1 / 3] * 3)
    with pytest.raises(ValueError, match=r"^log"):
        log.to_open_bandit()
