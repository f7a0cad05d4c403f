"""Policies that forget: the times of decisions reach the posterior, and survive saving."""

import math
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, ArgumentTypeError, ArgumentValueError
from sparsebandits.files import pack, write_atomically
from sparsebandits.policies.policy import KIND, VERSION
from tests.policies.table import Maker, fingerprint, play, some_actions, sparse

SLAB = sb.SpikeSlab(0.4, 0.5)
MAKERS: dict[str, Maker] = {
    "LinTS": sb.LinTS,
    "LinUCB": sb.LinUCB,
    "LinearIDS": lambda actions, **given: sb.LinearIDS(actions, n_draws=100, **given),
    "SparseIDS, enumeration": sparse(sb.SparseIDS, SLAB, engine="enumeration", n_draws=50),
    "SparseTS, learnt noise": sparse(
        sb.SparseTS,
        None,
        engine="gibbs",
        engine_options={"chains": 2, "burn_in": 5},
        n_draws=40,
        noise_variance=sb.Gaussian().variance,
    ),
}
every_policy = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@every_policy
def test_an_infinite_half_life_gives_the_bytes_of_no_forgetting(make: Maker) -> None:
    one, other = make(some_actions(), seed=1), make(some_actions(), seed=1, forgetting=sb.Discount(math.inf))
    assert play(one, 12) == play(other, 12)
    for policy in (one, other):
        policy.tell(policy.ask(n=3), [0.1, 0.2, 0.3])
        policy.ask()
    assert fingerprint(one) == fingerprint(other)
    finite = make(some_actions(), seed=1, forgetting=sb.Discount(5.0))
    play(finite, 12)
    assert fingerprint(finite) != fingerprint(one), "planted: forgetting that is not passed on"


@every_policy
@pytest.mark.parametrize("forgetting", [sb.Discount(5), sb.Discount(timedelta(hours=1))], ids=["decisions", "time"])
def test_continues_bit_for_bit(make: Maker, forgetting: sb.Discount, tmp_path: Path) -> None:
    policy = make(some_actions(), seed=1, forgetting=forgetting)
    timed = forgetting.unit == "seconds"
    for t in range(9):
        policy.tell(policy.ask(time=NOON + timedelta(minutes=20 * t) if timed else None), float(t % 3))
    pending = [policy.ask(time=NOON if timed else None) for _ in range(3)]
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    assert repr(loaded) == repr(policy)
    assert fingerprint(loaded) == fingerprint(policy)
    for one in (policy, loaded):
        one.tell([d.id for d in pending[1:]], [0.2, 0.3])
        one.tell(one.ask(time=NOON + timedelta(hours=7) if timed else None), 0.5)
        one.tell(pending[0].id, 0.1)
    assert [d.action for d in loaded.ask(n=3)] == [d.action for d in policy.ask(n=3)]
    np.testing.assert_array_equal(loaded.predict().mean, policy.predict().mean)


def late(order: Any, times: Any = None) -> sb.LinUCB:
    """Return a policy that decided six times, and was told the rewards in some order, with each decision's own."""
    forgetting = sb.Discount(3.0) if times is None else sb.Discount(3.0, "seconds")
    policy = sb.LinUCB(some_actions(), forgetting=forgetting, intercept=False, seed=0)
    decisions = [policy.ask(some_actions(seed=t), time=None if times is None else times[t]) for t in range(6)]
    for number in order:
        policy.tell(decisions[number], float(number))
    return policy


def refitted(powers: Any) -> Any:
    posterior = sb.Conjugate(sb.GaussianPrior(1 / 3), 3, 1.0)
    decisions = [sb.LinUCB(some_actions(), intercept=False, seed=0).ask(some_actions(seed=t)) for t in range(6)]
    for number in range(6):
        posterior.update(decisions[number].features, float(number), powers[number])
    return posterior


def test_rewards_are_weighted_by_when_the_decision_was_made() -> None:
    """Not by when the reward came; planted: the order of arrival."""
    expected = refitted(2.0 ** (-np.arange(5, -1, -1) / 3.0))
    for order in (range(6), [5, 0, 3, 1, 4, 2], [2, 1, 0, 4, 5, 3]):
        found = late(order).posterior
        np.testing.assert_allclose(found.mean(), expected.mean(), rtol=1e-10)
        np.testing.assert_allclose(found.covariance(), expected.covariance(), rtol=1e-10)
    times = np.array([0.0, 0.5, 4.0, 9.0, 9.0, 9.5])
    found, expected = late([5, 0, 3, 1, 4, 2], times).posterior, refitted(2.0 ** ((times - 9.5) / 3.0))
    np.testing.assert_allclose(found.mean(), expected.mean(), rtol=1e-10)
    arrival = refitted(2.0 ** (-np.argsort([5, 0, 3, 1, 4, 2])[::-1] / 3.0))
    assert not np.allclose(late([5, 0, 3, 1, 4, 2]).posterior.mean(), arrival.mean(), rtol=1e-3)


def test_a_decision_has_its_time_if_the_policy_forgets_in_time() -> None:
    policy = sb.LinTS(some_actions(), forgetting=sb.Discount(timedelta(days=1)), seed=0)
    assert policy.ask(time=NOON).time == NOON.timestamp()
    assert policy.ask(time=NOON.timestamp()).time == NOON.timestamp()
    before = datetime.now(UTC).timestamp()
    now = policy.ask().time
    assert now is not None
    assert before <= now <= datetime.now(UTC).timestamp()
    assert {one.time for one in policy.ask(n=3, time=NOON)} == {NOON.timestamp()}
    for time in ("noon", [1.0], timedelta(1), math.nan, 1e30):
        with pytest.raises(ArgumentError, match=r"^time: expected"):
            policy.ask(time=time)
    for other in (sb.LinTS(some_actions()), sb.LinTS(some_actions(), forgetting=sb.Discount(5))):
        assert other.ask().time is None
        with pytest.raises(ArgumentError, match=r"^time: expected none, since the policy does not forget in time"):
            other.ask(time=NOON)


def test_a_time_may_be_a_number_of_any_kind() -> None:
    policy = sb.LinTS(some_actions(), forgetting=sb.Discount(60, unit="seconds"), seed=0)
    for time in (1_700_000_000, np.int64(1_700_000_000), np.float64(1.7e9), datetime.fromtimestamp(1.7e9, UTC)):
        assert policy.ask(time=time).time == 1.7e9
    for wrong in (datetime.min, datetime.max, pd.NaT, np.nan, np.int64(10**15)):
        with pytest.raises(ArgumentValueError, match="time"):
            policy.ask(time=wrong)
    for other in ("2024-01-01", date(2024, 1, 1), True, np.array([1.7e9])):
        with pytest.raises(ArgumentTypeError, match="time"):
            policy.ask(time=other)


def test_a_journal_has_the_time_of_the_decision() -> None:
    log = sb.journal.DecisionLog()
    policy = sb.LinTS(some_actions(), forgetting=sb.Discount(timedelta(days=1)), journal=log, seed=0)
    policy.ask(time=NOON)
    assert log.records()[0].time == "2026-05-01T12:00:00.000+00:00"


def test_decisions_come_after_what_the_posterior_had_learnt_before(tmp_path: Path) -> None:
    """Planted: decisions that count from zero would all be older than the history."""
    posterior = sb.Conjugate(sb.GaussianPrior(1.0), 3, rewards=sb.Gaussian(1.0, forgetting=sb.Discount(5)))
    posterior.update(some_actions(20), np.arange(20.0))
    policy = sb.Policy(some_actions(), posterior, sb.rules.Greedy(), seed=0)
    policy.tell(policy.ask(), 1.0)
    assert policy.posterior.clock == 20.0
    pending = policy.ask()
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    loaded.tell(pending.id, 1.0)
    assert loaded.posterior.clock == 21.0


def test_pending_decisions_count_at_their_time() -> None:
    """A batch believes expected rewards; those of newer decisions discount the others, as they will when they come."""
    policy = sb.LinUCB(np.eye(3), forgetting=sb.Discount(1.0), seed=0)
    for _ in range(6):
        policy.tell(policy.ask(), 1.0)
    assert len({one.action for one in policy.ask(n=3)}) == 3


def test_it_follows_a_change() -> None:
    """The best action changes after 60 rewards; planted: no forgetting, which takes as long again."""

    def last(forgetting: sb.Discount | None) -> int:
        policy = sb.LinUCB(np.eye(2), noise_variance=0.01, forgetting=forgetting, seed=0)
        for t in range(90):
            decision = policy.ask()
            policy.tell(decision, 2.0 * ((decision.action == 0) == (t < 60)))
        return decision.action

    assert last(sb.Discount(5)) == 1
    assert last(None) == 0


def test_files_without_forgetting_still_load(tmp_path: Path) -> None:
    """Those of before there was any have neither the field of rewards nor that of decisions."""
    policy = sb.LinUCB(some_actions(), seed=1)
    play(policy, 5)
    policy.ask()
    state = policy.state()
    del state["posterior"]["fields"]["rewards"]["fields"]["forgetting"]
    del state["pending"]["5"]["fields"]["time"]
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    assert fingerprint(sb.load(tmp_path / "policy")) == fingerprint(policy)


@pytest.mark.parametrize("time", [None, math.inf, "noon"])
def test_a_decision_without_its_time_is_refused(time: Any, tmp_path: Path) -> None:
    policy = sb.LinUCB(some_actions(), forgetting=sb.Discount(timedelta(days=1)), seed=1)
    policy.ask()
    state = policy.state()
    state["pending"]["0"]["fields"]["time"] = time
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError):
        sb.load(tmp_path / "policy")


def test_what_does_not_fit_is_refused() -> None:
    forgetting = sb.Discount(5)
    with pytest.raises(ArgumentError, match=r"^forgetting: expected none beside rewards that have it"):
        sb.LinTS(some_actions(), rewards=sb.Gaussian(1.0, forgetting=forgetting), forgetting=forgetting)
    with pytest.raises(ArgumentError, match=r"^forgetting: expected a Discount"):
        sb.LinTS(some_actions(), forgetting=250)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^forgetting: expected None with a ConfidenceRadius"):
        sb.LinUCB(some_actions(), width=sb.rules.ConfidenceRadius(), intercept=False, forgetting=forgetting)
    assert sb.LinTS(some_actions(), rewards=sb.Gaussian(1.0, forgetting=forgetting)).posterior.forgetting == forgetting
