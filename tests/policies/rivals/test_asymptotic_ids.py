"""AsymptoticIDS: alternatives by quadratic programs, and all else from the definitions, in every round."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import sparsebandits as sb
from sparsebandits.arguments import ArgumentError, FloatArray
from sparsebandits.policies.rivals import asymptotic_ids
from tests.policies.rivals.test_frequentist_ids import best_mixture
from tests.policies.table import share_of_guessing, some_actions

NOISE, PENALTY, BOUND = 0.4, 0.7, 0.5


def alternative(theta: FloatArray, v: FloatArray, constraints: FloatArray) -> FloatArray:
    """Return the ν with constraints ν ≥ 0 that is nearest to θ in V, by sequential quadratic programming."""
    found: Any = minimize(  # type: ignore[call-overload]
        lambda nu: (nu - theta) @ v @ (nu - theta),
        theta,
        jac=lambda nu: 2 * v @ (nu - theta),
        constraints={"type": "ineq", "fun": lambda nu: constraints @ nu, "jac": lambda nu: constraints},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert (constraints @ found.x >= -1e-7).all()  # it may stop where no step improves within rounding
    return np.asarray(found.x)


class Textbook:
    """The algorithm from its definitions, on V = λI + X'X and β with σ in it, as in the authors' program."""

    def __init__(self, actions: FloatArray, cells: bool) -> None:
        self.actions, self.cells, self.farthest = actions, cells, 1.0
        self.x, self.y = np.empty((0, actions.shape[1])), np.empty(0)

    def beta(self, v: FloatArray, count: int) -> float:
        n, d = max(count, 2), len(v)
        log_det = np.linalg.slogdet(v)[1] - d * math.log(PENALTY)
        root = math.sqrt(NOISE) * math.sqrt(log_det + 2 * math.log(n * math.log(n))) + math.sqrt(PENALTY) * BOUND
        return root**2

    def round(self, t: int) -> tuple[FloatArray, FloatArray | None, FloatArray]:
        """Return evidence, gains (None if it exploits) and gaps."""
        v = PENALTY * np.eye(self.actions.shape[1]) + self.x.T @ self.x
        inverse = np.linalg.inv(v)
        theta = inverse @ self.x.T @ self.y
        best = int((self.actions @ theta).argmax())
        found = {}
        for row, y in enumerate(self.actions):
            if row != best:
                constraints = y - self.actions if self.cells else (y - self.actions[best])[np.newaxis]
                found[row] = alternative(theta, v, constraints)
        evidence = np.array(
            [
                (found[k] - theta) @ v @ (found[k] - theta) / NOISE if k in found else np.inf
                for k in range(len(self.actions))
            ]
        )
        width = math.sqrt(self.beta(v, len(self.y) + 1))
        bonus = np.array([width * math.sqrt(a @ inverse @ a) for a in self.actions])
        gap = (self.actions @ theta + bonus).max() - self.actions @ theta
        if evidence.min() >= self.beta(v, t) / NOISE:
            return evidence, None, gap
        self.farthest = max(self.farthest, evidence.min())
        weights = {row: math.exp(-evidence[row] / math.sqrt(self.farthest)) for row in found}
        gain = np.zeros(len(self.actions))
        for row, nu in found.items():
            gain += weights[row] / sum(weights.values()) * (np.abs(self.actions @ (nu - theta)) + bonus) ** 2
        return evidence, gain, gap


def run(cells: bool, rounds: int = 40, actions: FloatArray | None = None) -> int:
    """Compare the policy with the textbook; return in how many rounds it exploited."""
    rows = some_actions(7, 3) if actions is None else actions
    kind = "cells" if cells else "half-spaces"
    policy = sb.rivals.AsymptoticIDS(rows, NOISE, PENALTY, BOUND, kind, seed=1)
    slow, exploited = Textbook(rows, cells), 0
    theta = np.array([2.0, 0.5, -1.0])
    for t, noise in enumerate(np.random.default_rng(0).standard_normal(rounds), start=1):
        decision = policy.ask()
        columns, candidates = decision.reasons.columns, decision.reasons.candidates
        if t > 1:  # all estimates tie in the first round
            evidence, gain, gap = slow.round(t)
            np.testing.assert_allclose(columns["evidence against"], evidence[candidates], rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(columns["gap estimate"], gap[candidates], rtol=1e-9)
            if gain is None:
                exploited += 1
                assert (decision.action, decision.probability) == (int(evidence.argmax()), 1.0)
            else:
                np.testing.assert_allclose(columns["information gain"], gain[candidates], rtol=1e-5)
                best, found = best_mixture(gap, gain), decision.reasons.notes["ratio minimised"]
                assert best * (1 - 1e-3) < found < best * (1 + 1e-5)
        reward = float(decision.features @ theta + math.sqrt(NOISE) * noise)
        policy.tell(decision, reward)
        if "ratio minimised" in decision.reasons.notes:
            slow.x, slow.y = np.vstack((slow.x, decision.features)), np.append(slow.y, reward)
    return exploited


@pytest.mark.parametrize("cells", [False, True], ids=["half-spaces", "cells"])
def test_evidence_gains_and_gaps(cells: bool) -> None:
    exploited = run(cells)
    assert 5 <= exploited <= 35, "both kinds of rounds are compared"


SLOW = np.random.default_rng(2).standard_normal((7, 3))
"""Actions among which the least evidence rises and falls while the policy explores."""


def test_the_weights_follow_the_largest_evidence_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: that of the round at hand, since what was stored is forgotten once it has been read."""
    run(cells=False, rounds=60, actions=SLOW)
    stored = [1.0]

    def read(_: Any) -> float:
        value, stored[0] = stored[0], 1.0
        return value

    def write(_: Any, value: float) -> None:
        stored[0] = value

    monkeypatch.setattr(sb.rivals.ExplorationPosterior, "farthest", property(read, write))
    with pytest.raises(AssertionError):
        run(cells=False, rounds=60, actions=SLOW)


@pytest.mark.parametrize(
    "planted", ["half the step", "counts from zero", "exploits learn", "the farthest is forgotten", "cells"]
)
def test_planted_bugs_are_caught(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = sb.rivals.ExplorationPosterior
    if planted == "cells":
        monkeypatch.setitem(asymptotic_ids.ALTERNATIVES, "half-spaces", asymptotic_ids.cells)
    elif planted == "exploits learn":
        rule = sb.rivals.AsymptoticInformationDirected
        right = rule.choose

        def keeps(self: Any, beliefs: Any, rng: Any) -> Any:
            object.__setattr__(self, "discard", False)
            return right(self, beliefs, rng)

        monkeypatch.setattr(rule, "choose", keeps)
    elif planted == "the farthest is forgotten":
        monkeypatch.setattr(learner, "farthest", property(lambda self: 1.0, lambda self, value: None))
    elif planted == "counts from zero":
        radius = sb.rivals.AsymptoticInformationDirected.radius
        monkeypatch.setattr(
            sb.rivals.AsymptoticInformationDirected, "radius", lambda self, found, count: radius(self, found, count - 1)
        )
    else:
        half = asymptotic_ids.half_spaces
        monkeypatch.setitem(asymptotic_ids.ALTERNATIVES, "half-spaces", lambda *given: half(*given) / 2)
    with pytest.raises(AssertionError):
        run(cells=False)


def test_cells_are_within_half_spaces_and_the_least_evidence_is_the_same() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        projections, centre = rng.standard_normal((8, 3)), rng.standard_normal(3)
        mean = projections @ centre
        best = int(mean.argmax())
        lengths = []
        for kind in (asymptotic_ids.half_spaces, asymptotic_ids.cells):
            steps = kind(mean, projections, best)
            lengths.append(np.delete(np.linalg.norm(steps, axis=1), best))
            flipped = (projections @ (centre + steps).T).T  # reward of each action under each alternative
            own = flipped[np.arange(8), np.arange(8)]
            rival = flipped.max(axis=1) if kind is asymptotic_ids.cells else flipped[:, best]
            assert (own >= rival - 1e-9).all()
        assert (lengths[1] >= lengths[0] - 1e-9).all()
        assert lengths[0].min() == pytest.approx(lengths[1].min(), rel=1e-9)


END_OF_OPTIMISM = np.array([[1.0, 0.0], [0.9, 0.2], [0.0, 1.0]])
"""The example of Lattimore and Szepesvári (2017), as in the authors' program, with ε = 0.1 and α = 1/4."""


def growth(make: Any, seed: int) -> tuple[float, int]:
    """Return the regret of rounds 201 to 1500, and how often the second action was played in them."""
    instance = sb.environments.Instance(END_OF_OPTIMISM, [1.0, 0.0], noise_variance=0.02)
    trace = sb.simulate(make, instance, 1500, seed)
    return float(trace.regret[-1] - trace.regret[199]), int(np.count_nonzero(trace.actions[200:] == 1))


def test_regret_at_the_end_of_optimism() -> None:
    """The program of the lower bound plays the third action, which is bad and informative, and never the second.

    Optimism never plays the third one again, and pays 2σ² log(n) / ε for the second in place of 8σ² log(n). Planted:
    never exploiting; a gain without the alternatives; a threshold that does not depend on the round.
    """
    ours = [growth(sb.rivals.AsymptoticIDS, seed) for seed in range(3)]
    radius = sb.rules.ConfidenceRadius(1 / 1500)
    optimism = sb.maker(sb.LinUCB, width=radius, prior=sb.GaussianPrior(0.02), intercept=False)
    theirs = [growth(optimism, seed) for seed in range(3)]
    assert all(second == 0 for _, second in ours)
    assert all(second > 30 for _, second in theirs)
    assert max(regret for regret, _ in ours) < min(regret for regret, _ in theirs) / 2


def test_equal_rows_are_one_action() -> None:
    """Planted: if a copy of the best row were an alternative, there would be no evidence against it, ever."""
    policy = sb.rivals.AsymptoticIDS(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 0.01, seed=0)
    for _ in range(60):
        decision = policy.ask()
        policy.tell(decision, float(2 * decision.features[0]))
    assert decision.probability == 0.5
    assert "The evidence suffices" in str(policy.explain(decision))
    assert policy.posterior.explored < 60
    alone = sb.rivals.AsymptoticIDS(np.ones((2, 2)), seed=0).ask()
    assert (alone.probability, alone.diagnostics["least evidence"]) == (0.5, math.inf)


@pytest.mark.parametrize("kind", ["half-spaces", "cells"])
def test_a_row_that_is_there_again_is_no_further_alternative(kind: str) -> None:
    """The gains and the ratio are those of the rows without copies; planted: one weight q(y) per row."""
    rows, theta = some_actions(7, 3), np.array([1.0, -0.5, 0.2])
    found = []
    for actions in (rows, np.vstack((rows, rows[[1, 1, 5, 0]]))):
        policy = sb.rivals.AsymptoticIDS(actions, 0.5, alternatives=kind, discard=False, seed=0)
        for row, noise in enumerate(np.random.default_rng(1).standard_normal(7)):
            policy.tell(policy.ask(available=[row]), float(rows[row] @ theta + noise))
        reasons = policy.ask().reasons
        of_each = dict(zip(reasons.candidates.tolist(), reasons.columns["information gain"].tolist(), strict=True))
        found.append((of_each, reasons.notes["ratio minimised"]))
    shared = found[0][0].keys() & found[1][0].keys()
    assert len(shared) > 1
    for row in shared:
        assert found[1][0][row] == pytest.approx(found[0][0][row], rel=1e-9)
    assert found[1][1] == pytest.approx(found[0][1], rel=1e-9)


def test_what_does_not_fit_is_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"noise_variance": [1.0, 2.0]},
        {"noise_variance": 0.0},
        {"penalty": -1.0},
        {"bound": 0.0},
        {"alternatives": "balls"},
        {"discard": 2},
    ]
    for settings in wrong:
        with pytest.raises(ArgumentError, match=rf"^{next(iter(settings))}: expected"):
            sb.rivals.AsymptoticIDS(np.eye(2), **settings)
    with pytest.raises(ArgumentError, match=r"^posterior: expected ExplorationPosterior"):
        sb.Policy(np.eye(2), sb.Conjugate(sb.GaussianPrior(1.0), 2), sb.rivals.AsymptoticInformationDirected())


def test_regret_on_an_easy_instance() -> None:
    """With 99% confidence its mean regret is below half of guessing's; planted: rewards of the wrong sign."""
    environment = sb.environments.GaussianActions(5, 2, n_actions=10, noise_variance=0.1)

    def make(instance: sb.environments.Instance, seed: int) -> sb.Policy:
        return sb.rivals.AsymptoticIDS(instance.actions, noise_variance=0.1, seed=seed)

    assert share_of_guessing(make, environment) < 1 / 2
    assert share_of_guessing(make, environment, sign=-1.0) > 1 / 2
