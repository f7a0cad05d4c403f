"""What the benchmarks of posteriors, limits and the guard of speed are built on; their figures are not judged here."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from benchmarks import guard, limits, posteriors
from benchmarks.plain_particles import PlainParticles
from benchmarks.section import Figures, circumstances, target
from benchmarks.watching import watched

import sparsebandits as sb
from sparsebandits.posteriors.cloud import Weights

RATES = {
    "multiply_adds": 1e9,
    "multiply_adds_single": 2e9,
    "bytes": {"L2": 1e10, "L3": 5e9, "memory": 1e9},
    "bits": 1e9,
    "normals": 1e8,
    "normals_single": 2e8,
}


def test_plain_particles_follow_the_exact_posterior() -> None:
    # 4,000 particles of which at least 2,000 count, deviations of up to 0.3: five standard errors are 0.03. Leaving the
    # prior odds or the slab out of a sweep moves a mean by 0.05 and more.
    rng = np.random.default_rng(0)
    prior, d = sb.SpikeSlab(0.3, 1.0), 5
    x = rng.standard_normal((30, d))
    y = x @ [1.0, 0.0, 0.0, -0.7, 0.0] + rng.standard_normal(30)
    exact = sb.Enumeration(prior, d, 1.0)
    exact.update(x, y)
    plain = PlainParticles(prior, d, 1.0, 4000, rng, sweeps=2)
    for row, reward in zip(x, y.tolist(), strict=True):
        plain.update(row, reward)
    assert plain.moves > 2
    np.testing.assert_allclose(plain.mean(), exact.mean(), atol=0.03)
    inclusion = (plain.theta != 0) @ plain.weights
    np.testing.assert_allclose(inclusion, exact.inclusion(), atol=0.06)  # five errors of a share, √(0.25/2000) each


def test_watched_tells_of_calls_and_restores() -> None:
    kept, sizes = vars(Weights)["of"], list[int]()
    with watched({"sparsebandits.posteriors.cloud:Weights.of": lambda _s, _g, result: sizes.append(len(result.logs))}):
        Weights.of(np.zeros(3))
    Weights.of(np.zeros(4))
    assert sizes == [3]
    assert vars(Weights)["of"] is kept
    with pytest.raises(AttributeError), watched({"sparsebandits.posteriors.cloud:Gone.of": lambda *_: None}):
        pass


def test_the_largest_kind_of_work_is_the_limit() -> None:
    calls = [
        limits.Call("a", 2e-3, limits.Work(multiply_adds=1e6, bytes=1e3, picked=2e6)),
        limits.Call("a", 2e-3, limits.Work(multiply_adds=1.0, normals=2e5)),
        limits.Call("b", 1e-3, limits.Work(bytes=5e6)),
    ]
    a, b = limits.breakdown(calls, RATES)
    assert (a["calls"], a["binding"], b["binding"]) == (2, "random numbers", "bytes")
    assert [a["ms"], a["limit_ms"], b["limit_ms"]] == pytest.approx([4.0, 1.0 + 2.0, 1.0])
    assert a["limit_ms_read"] == pytest.approx(1.6 + 2.0)


def test_facts_of_draws() -> None:
    theta = np.array([[1.0, 0.0, 0.0], [2.0, 0.5, 0.0], [0.0, 0.0, 3.0]])
    facts = limits.Facts.of(theta, np.eye(3))
    assert facts.nonzero == 4
    assert facts.group_nonzero.tolist() == [2, 0, 1]


def test_every_kernel_of_a_run_is_counted() -> None:
    instance = sb.environments.GaussianActions(12, 2, n_actions=20).sample(0)
    policy = sb.SparseIDS(instance.actions, sb.SpikeSlab(0.1, 1.0), 1.0, n_draws=200, seed=0)
    calls = limits.calls_of(policy, instance, 15)
    assert {call.kernel for call in calls} >= set(limits.KERNELS) - {"sweep over models"}
    assert all(max(limits.limits(call.work, RATES).values()) > 0 for call in calls)
    sweep = next(call.work for call in calls if call.kernel == "sweep over coordinates")
    assert sweep.bits == 200 * 12 / 8
    assert 0 < sweep.normals < 200 * 12
    assert limits.outside(policy, 200)


class Clock:
    """A clock that goes on by what kernels say they take."""

    now = 0.0

    def spend(self, seconds: float) -> Callable[[], None]:
        def kernel() -> None:
            self.now += seconds

        return kernel

    def __call__(self) -> float:
        return self.now


def guarded(slower: float, moves: int) -> Figures:
    clock = Clock()
    found = guard.ratios({"sweep": (clock.spend(3.0 * slower), clock.spend(1.5))}, 3, clock)
    return {
        "ratios": {name: {"now": all_[0], "min": min(all_), "max": max(all_)} for name, all_ in found.items()},
        "counts": {"moves": {"now": moves}},
        "recorded": {"ratios": {"sweep": 2.0}, "counts": {"moves": 40}},
    }


@pytest.mark.parametrize(
    ("slower", "moves", "said"),
    [
        (1.0, 40, []),
        (0.5, 30, []),
        (1.29, 46, []),
        (1.31, 40, ["sweep: grown from 2 to 2.62"]),
        (1.0, 47, ["moves: grown from 40 to 47"]),
    ],
)
def test_the_guard_notices_a_planted_slowdown(slower: float, moves: int, said: list[str]) -> None:
    figures = guarded(slower, moves)
    assert guard.grown(figures) == said
    assert (said or ["Nothing has grown"])[0] in guard.page({"circumstances": circumstances(), **figures})


def test_the_guard_notices_what_is_missing() -> None:
    figures = guarded(1.0, 40)
    figures["recorded"] = {"ratios": {}, "counts": {"moves": 40, "gone": 1}}
    assert guard.grown(figures) == ["sweep: not on record", "gone: on record, not measured"]


def test_the_guard_fails_as_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "measure", lambda quick: guarded(2.0, 40))
    with pytest.raises(SystemExit, match="sweep: grown from"):
        guard.main(["--quick"])
    monkeypatch.setattr(guard, "measure", lambda quick: guarded(1.0, 40))
    guard.main(["--quick"])


def test_what_is_counted_is_on_record() -> None:
    # Both ways: a record that is larger than what is counted now would let that much growth pass.
    recorded, now = json.loads(guard.RECORD.read_text())["counts"], guard.counts()
    share, number = guard.TOLERANCES["counts"]
    assert set(recorded) == set(now) == set(guard.COUNTED)
    for name, count in now.items():
        assert count == pytest.approx(recorded[name], rel=share, abs=number), (
            f"{name}: python -m benchmarks.guard --record"
        )


def test_pages() -> None:
    engines = {name: {"20": [1.0, 2.0]} for pair in posteriors.RATIOS for name in pair[:2]}
    goals = [
        goal for ours, theirs, wanted in posteriors.RATIOS for goal in posteriors.goals(engines, ours, theirs, wanted)
    ]
    moves = {"20": {"ours": 3, "sweeps": 4, "plain": 5, "plain_sweeps": 1}}
    around = {"circumstances": circumstances()}
    shown = posteriors.page({**around, "rounds": 9, "repeats": 2, "moves": moves, "engines": engines, "targets": goals})
    assert "Particles moved 3 times" in shown
    row = {"kernel": "a", "calls": 1, "ms": 5.0, "limit_ms": 2.0, "binding": "bytes", "limit_ms_read": 3.0}
    run = {"rates": RATES, "ms": 8.0, "kernels": [row], "outside": [row]}
    goal = target("SparseIDS", [4.0], limits.WANTED, at_most=True)
    shown = limits.page({**around, "rounds": 9, "draws": 10, "runs": [run], "targets": [goal]})
    assert "Python and the rest" in shown
