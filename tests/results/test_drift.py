"""The log evidence of each reward, and its figure."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import sparsebandits as sb
from sparsebandits.arguments import ArgumentValueError
from sparsebandits.environments import Drifting, GaussianActions


def played(rounds: int = 260, **settings: object) -> sb.Policy:
    instance = Drifting(GaussianActions(8, 2, 20, noise_variance=0.2), every=130).sample(3)
    policy = sb.SparseIDS(instance.actions, seed=0, n_draws=300, **settings)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for t in range(rounds):
        decision = policy.ask()
        policy.tell(decision, float(instance.at(t).means[decision.action] + 0.45 * rng.standard_normal()))
    return policy


def test_evidence_of_each_reward(tmp_path: Path) -> None:
    """Planted: the evidence of a batch is given to each of its rewards; the sum is not that of the posterior."""
    policy = played()
    found = policy.log_evidence
    assert found.shape == (260,)
    assert np.isnan(found[0]), "the first reward sets the level"
    assert np.isfinite(found[1:]).all()
    assert found[1:].sum() == pytest.approx(policy.posterior.log_evidence)
    assert found[131:160].mean() < found[60:130].mean() - 0.5, "the world has changed"
    batch = policy.ask(n=3)
    policy.tell(batch, [0.0, 0.1, 0.2])
    waiting = policy.ask()
    assert np.isnan(policy.log_evidence[waiting.id])
    assert policy.log_evidence[1:-1].sum() == pytest.approx(policy.posterior.log_evidence)
    policy.save(tmp_path / "policy")
    assert np.array_equal(sb.load(tmp_path / "policy").log_evidence, policy.log_evidence, equal_nan=True)


def test_with_forgetting_it_is_that_of_the_next_reward() -> None:
    """Planted: what forgetting itself adds to the evidence counts too; the mean is off by more than one."""
    policy = played(forgetting=sb.Discount(40))
    found = policy.log_evidence[60:130].mean()
    assert found == pytest.approx(played(130).log_evidence[60:].mean(), abs=0.3)


def test_the_figure() -> None:
    policy = played(60)
    figure = sb.plots.drift(policy, window=20)
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    points, mean = axes.lines
    assert np.asarray(points.get_xdata()).shape == (59,)
    assert float(np.asarray(mean.get_ydata())[0]) == pytest.approx(policy.log_evidence[1:21].mean())
    other = Figure()
    assert sb.plots.drift(policy, ax=other.subplots()) is other
    with pytest.raises(ArgumentValueError, match="Particles"):
        sb.plots.drift(sb.SparseIDS(np.eye(3)))
