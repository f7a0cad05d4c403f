"""Policies and advice with clicks and counts: what they choose, explain, refuse, save and recognise."""

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, ArgumentValueError

FAMILIES: list[Any] = [sb.Bernoulli(), sb.Bernoulli("probit"), sb.Poisson()]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=["logit", "probit", "poisson"])
every_rule = pytest.mark.parametrize(
    "settings",
    [{}, {"rule": "information-ratio"}, {"gain": "mutual-information"}, {"selection": "randomised"}],
    ids=["cost-to-go", "ratio", "mutual-information", "randomised"],
)


def world(seed: int = 0, actions: int = 30, features: int = 6) -> tuple[Any, Any]:
    """Return actions, and the chance of a click of each: feature 0 matters."""
    table = np.random.default_rng(seed).standard_normal((actions, features))
    return table, 1.0 / (1.0 + np.exp(1.0 - 2.0 * table[:, 0]))


def play(policy: sb.Policy, chance: Any, rounds: int, seed: int = 1) -> list[int]:
    rng, played = np.random.default_rng(seed), []
    for _ in range(rounds):
        decision = policy.ask()
        policy.tell(decision, float(rng.random() < chance[decision.action]))
        played.append(decision.action)
    return played


@every_family
@every_rule
def test_good_actions_are_found(family: Any, settings: dict[str, Any]) -> None:
    """Planted: the sign of the score in the surrogate; the policy stays with poor actions."""
    actions, chance = world()
    policy = sb.SparseIDS(actions, rewards=family, seed=3, n_draws=400, **settings)
    played = play(policy, chance, 150)
    assert np.mean(chance[played[-40:]]) > 0.8 * chance.max()
    # Clicks say little about rates: over 14 seeds, it is 0.39 to 0.89 with Poisson rewards.
    assert policy.posterior.inclusion()[0] > (0.3 if isinstance(family, sb.Poisson) else 0.9)


@every_family
def test_saved_policies_continue_bit_for_bit(family: Any, tmp_path: Path) -> None:
    actions, chance = world()
    for make in (sb.SparseIDS, sb.SparseTS):
        policy = make(actions, rewards=family, seed=4, n_draws=200)
        play(policy, chance, 25)
        pending = policy.ask()
        policy.save(tmp_path / "policy")
        other = sb.load(tmp_path / "policy")
        for one in (policy, other):
            one.tell(pending.id, 1.0)
        assert play(policy, chance, 25, 2) == play(other, chance, 25, 2)
        assert np.array_equal(policy.posterior.draws().theta, other.posterior.draws().theta)
        intercepts = policy.posterior.draws().intercepts
        assert intercepts is not None
        assert np.array_equal(intercepts, other.posterior.draws().intercepts)


@pytest.mark.parametrize("make", [sb.SparseIDS, sb.LinearIDS], ids=lambda make: make.__name__)
def test_a_shallow_copy_learns_for_itself(make: Any) -> None:
    """Planted: both append rows of features to the same array; what one has learnt changes with the other."""
    actions, chance = world(actions=6, features=3)
    policy = make(actions, rewards=sb.Bernoulli(), seed=0, n_draws=100)
    play(policy, chance, 3)
    other, alone = copy.copy(policy), copy.deepcopy(policy)
    for seed in range(1, 5):
        offered = np.random.default_rng(seed).standard_normal((3, 3))
        for one in (policy, alone):
            one.tell(one.ask(offered), 1)
        other.tell(other.ask(-offered), 0)
    assert np.array_equal(policy.posterior.evidence.rows, alone.posterior.evidence.rows)
    assert np.array_equal(policy.predict().mean, alone.predict().mean)


def test_shifts_and_units_of_features_change_nothing() -> None:
    """Planted: no origin, so that the prior of the intercept is about features of zero; decisions differ."""
    actions, chance = world()
    plain = play(sb.SparseIDS(actions, rewards=sb.Bernoulli(), seed=5, n_draws=300), chance, 60)
    scaled = play(sb.SparseIDS(actions * 2.0**10, rewards=sb.Bernoulli(), seed=5, n_draws=300), chance, 60)
    shifted = play(sb.SparseIDS(actions + 2.0**10, rewards=sb.Bernoulli(), seed=5, n_draws=300), chance, 60)
    assert plain == scaled
    assert np.mean(np.array(plain) == np.array(shifted)) > 0.9, "up to rounding"


def test_the_order_of_rows_changes_no_belief() -> None:
    actions, chance = world()
    policy = sb.SparseIDS(actions, rewards=sb.Bernoulli(), seed=6, n_draws=300)
    play(policy, chance, 40)
    order = np.random.default_rng(0).permutation(len(actions))
    there, here = policy.predict(actions[order]), policy.predict()
    assert there.mean == pytest.approx(here.mean[order], rel=1e-6)
    assert there.optimal_probability == pytest.approx(here.optimal_probability[order], abs=1e-12)


def test_probabilities_are_probabilities() -> None:
    """The Gaussian family promised a reward of 1.22 for a click."""
    actions, chance = world()
    policy = sb.SparseIDS(actions, rewards=sb.Bernoulli(), seed=7, n_draws=400)
    play(policy, chance, 200)
    found = policy.predict(np.vstack((actions, 10.0 * actions)))
    assert ((found.mean > 0.0) & (found.mean <= 1.0)).all()
    assert (found.sd <= 0.5).all()


def test_explanations_are_on_a_scale_that_a_person_reads() -> None:
    actions, chance = world()
    table = pd.DataFrame(actions, columns=list("abcdef"))
    policy = sb.SparseIDS(table, rewards=sb.Bernoulli(), seed=8, n_draws=300)
    play(policy, chance, 60)
    text = str(policy.explain(policy.ask()))
    assert "largest parts of its log-odds, compared with the average action: +" in text
    row = policy.posterior.summary()[0]
    assert row["odds ratio"] == pytest.approx(np.exp(row["mean"]))
    counts = sb.SparseIDS(table, rewards=sb.Poisson(), seed=8, n_draws=300)
    play(counts, chance, 10)
    assert "rate ratio" in counts.posterior.summary()[0]
    assert "largest parts of its log rate" in str(counts.explain(counts.ask()))
    tiny = sb.SparseIDS(1e-9 * actions, rewards=sb.Bernoulli(), seed=8, n_draws=300)
    play(tiny, chance, 60)
    assert np.isfinite([row["odds ratio"] for row in tiny.posterior.summary()]).all(), "of a huge coefficient"


@pytest.mark.parametrize("inflation", [1.0, 2.0])
@every_family
def test_sampled_values_are_mean_rewards(family: Any, inflation: float) -> None:
    """Planted: values on the scale of log-odds; some of them are negative."""
    actions, chance = world(features=2)
    prior = sb.SpikeSlab(0.5, 1.0)
    makers = {
        "laplace": sb.LinTS(actions, inflation=inflation, rewards=family, seed=0),
        "enumeration": sb.policies.SparsePolicy(
            actions, sb.rules.Thompson(inflation), prior, engine="enumeration", rewards=family, n_draws=100, seed=0
        ),
    }
    for policy in makers.values():
        play(policy, chance, 3)
        columns = policy.ask().reasons.columns
        assert (columns["sampled value"] > 0.0).all()
        assert (columns["sampled value"] <= family.largest_mean).all()


@every_family
def test_other_rewards_are_refused_and_change_nothing(family: Any) -> None:
    actions, _ = world()
    policy = sb.SparseIDS(actions, rewards=family, seed=9, n_draws=100)
    decision = policy.ask()
    before = policy.state()
    with pytest.raises(ArgumentValueError, match="reward"):
        policy.tell(decision, 0.5)
    assert policy.pending == (decision,)
    assert policy.state()["learnt"]["counts"]["count"] == before["learnt"]["counts"]["count"] == 0
    policy.tell(decision, True)
    with pytest.raises(ArgumentError):
        sb.SparseIDS(actions, rewards=family, noise_variance=1.0)
    with pytest.raises(ArgumentError):
        policy.posterior.update(actions[0], -3.0)


def test_batches_believe_expected_clicks() -> None:
    actions, chance = world()
    policy = sb.SparseIDS(actions, rewards=sb.Bernoulli(), seed=10, n_draws=300)
    play(policy, chance, 20)
    count = policy.posterior.evidence.count
    batch = policy.ask(n=4, distinct=True)
    assert len({one.action for one in batch}) == 4
    assert policy.posterior.evidence.count == count, "nothing was learnt from what was only believed"
    policy.tell(batch, [0, 1, 0, 1])


@pytest.mark.parametrize("make", [sb.SparseIDS, sb.LinearIDS, sb.LinUCB], ids=lambda make: make.__name__)
def test_a_batch_of_counts_can_be_asked_for_before_the_first_reward(make: Any) -> None:
    """Planted: rewards of E exp(η), which a wide prior puts beyond all counts; the engine refuses to believe them."""
    for seed in range(3):
        actions, _ = world(seed, actions=6, features=3)
        assert len(make(10.0 * actions, rewards=sb.Poisson(), seed=seed).ask(n=4)) == 4
        far = make(actions, rewards=sb.Poisson(), seed=seed)
        assert len(far.ask(1e3 * actions, n=4)) == 4


def test_pending_counts_leave_expected_rates_where_they_are() -> None:
    """Planted: the mean of exp(η) as the reward, which is far above most draws; rates rise tenfold."""
    policy = sb.LinUCB(np.eye(3), sb.GaussianPrior(1.0), rewards=sb.Poisson(), seed=0)
    policy.tell(policy.ask(), 3)
    posterior = policy.posterior
    level = float(posterior.draws().intercepts.mean())
    believer = posterior.believer()
    policy._believe(believer, [policy.ask()])
    assert np.abs(believer.mean() - posterior.mean()).max() < 0.1
    assert float(believer.draws().intercepts.mean()) == pytest.approx(level, abs=0.3)


def test_clicks_given_as_numbers_are_noticed_once() -> None:
    actions, chance = world()
    policy = sb.SparseTS(actions, seed=11, n_draws=100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(policy, chance, 60)
    assert [str(one.message) for one in caught if "0 or 1" in str(one.message)] == [
        "all rewards so far are 0 or 1, but the policy takes them as numbers with Gaussian noise; "
        "a policy with rewards=sb.Bernoulli() takes them as clicks"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(sb.SparseTS(actions, rewards=sb.Bernoulli(), seed=11, n_draws=100), chance, 30)
        play(sb.SparseTS(actions, seed=11, n_draws=100), 0.0 * chance, 30)


def test_rare_clicks_given_as_numbers_are_noticed_when_the_first_one_comes(tmp_path: Path) -> None:
    """Planted: looking once, after twenty rewards; with one click in fifty most users would never be told."""
    policy = sb.SparseTS(np.eye(3), seed=1, n_draws=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            policy.tell(policy.ask(), 0.0)
    policy.save(tmp_path / "policy")
    again = sb.load(tmp_path / "policy")
    with pytest.warns(UserWarning, match="0 or 1"):
        again.tell(again.ask(), 1.0)
    policy.tell(policy.ask(), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.tell(policy.ask(), 1.0)
        again.tell(again.ask(), 1.0)


@pytest.mark.parametrize("settings", [{}, {"rule": "information-ratio"}], ids=str)
def test_explanations_show_the_probability_of_a_click(settings: dict[str, Any]) -> None:
    actions, chance = world()
    policy = sb.SparseIDS(actions, rewards=sb.Bernoulli(), seed=3, n_draws=200, **settings)
    play(policy, chance, 20)
    before = policy.predict().mean
    decision = policy.ask()
    for row in policy.explain(decision).table:
        assert row["expected reward"] == pytest.approx(before[int(row["action"])])


def clicks() -> tuple[pd.DataFrame, dict[str, list[float]]]:
    actions, chance = world()
    rng = np.random.default_rng(2)
    table = pd.DataFrame(actions, columns=list("abcdef"), index=[f"ad {i}" for i in range(len(actions))])
    return table, {f"ad {i}": [float(one) for one in rng.random(6) < chance[i]] for i in range(20)}


@pytest.mark.parametrize("policy", ["sparse-ids", "sparse-ts"])
def test_advice_recognises_clicks(policy: str) -> None:
    """Planted: the Gaussian family; expected rewards above one are promised."""
    table, rewards = clicks()
    advice = sb.decide(table, rewards, seed=1, n_draws=400, policy=policy)
    assert advice.about["family"] == "bernoulli"
    assert advice.about["noise_variance"] is None
    assert any("taken as clicks" in note for note in advice.notes)
    assert 0.0 < (advice.recommendations[0].expected_reward or 0.0) < 1.0
    assert "on the log-odds of a reward of 1" in str(advice)
    assert advice.features[0].name == "a"
    numbers = sb.decide(table, rewards, seed=1, n_draws=400, policy=policy, family="gaussian")
    assert numbers.about["family"] == "gaussian"
    assert not any("clicks" in note for note in numbers.notes)
    counts = sb.decide(table, rewards, seed=1, n_draws=400, policy=policy, family="poisson")
    assert "logarithm of the reward's mean" in str(counts)
    with pytest.raises(ArgumentValueError, match="noise_variance"):
        sb.decide(table, rewards, family="bernoulli", noise_variance=1.0)
    assert sb.decide(table, {"ad 0": 1.0}, seed=1, n_draws=100).about["family"] == "gaussian", "one is not enough"


def test_exposures_of_counts(tmp_path: Path) -> None:
    """Counts of 100 hours at once say what counts of single hours do; planted: the count itself as the rate."""
    actions, _ = world(actions=5, features=2)
    engines = [sb.Particles(sb.SpikeSlab(0.5, 1.0), 2, rewards=sb.Poisson(), seed=0) for _ in range(2)]
    engines[0].update(actions[0], 230.0, exposure=100.0)
    engines[1].update(np.tile(actions[0], (100, 1)), np.full(100, 2.3).round() + np.repeat([0.0, 1.0], [70, 30]))
    rates = [np.exp(engine.draws().theta @ actions[0]) @ engine.draws().weights for engine in engines]
    assert rates[0] == pytest.approx(2.3, abs=0.3)
    assert rates[0] == pytest.approx(rates[1], abs=0.1)
    journal = sb.journal.JsonLines(tmp_path / "log.jsonl")
    policy = sb.SparseIDS(actions, rewards=sb.Poisson(), seed=0, n_draws=500, journal=journal)
    for _ in range(8):
        policy.tell(policy.ask(exposure=100.0), 230.0)
    assert policy.posterior.evidence.trials.sum() == pytest.approx(800.0)
    assert policy.predict().mean[policy.ask().action] == pytest.approx(2.3, abs=0.5)
    assert next(iter(journal.records())).extra["exposure"] == 100.0
    pending = policy.ask(exposure=3.0)
    policy.save(tmp_path / "policy")
    other = sb.load(tmp_path / "policy")
    for one in (policy, other):
        one.tell(pending.id, 4.0)
    assert policy.ask().action == other.ask().action
    with pytest.raises(ArgumentValueError, match="exposure"):
        sb.SparseIDS(actions, rewards=sb.Bernoulli()).ask(exposure=2.0)
    with pytest.raises(ArgumentValueError, match="exposure"):
        policy.ask(exposure=0.0)
