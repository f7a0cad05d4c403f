"""Estimate from a log what another policy would have earned: off-policy evaluation.

Randomised information-directed sampling knows the exact probability of each of its choices, so its log can be
reweighted. Two policies are evaluated on it. The first always plays the action that looked best in an earlier run;
the log has many such rounds, and the estimate is close to the truth. The second plays uniformly at random, and the log
has hardly any rounds for most actions: an ``OverlapWarning`` says that the estimate cannot be trusted.
A figure is written if a path is given: ``python off_policy.py propensities.png``.
"""

import sys
import warnings

import numpy as np

import sparsebandits as sb

rng = np.random.default_rng(3)
offers = rng.standard_normal((10, 6))  # 10 actions, 6 features
means = offers @ [0.8, 0.0, 0.0, -0.5, 0.0, 0.0]  # unknown to the policies


def measure(decision: sb.Decision) -> float:
    """Return the reward of a decision."""
    return float(means[decision.action] + rng.standard_normal())


def run(rounds: int, seed: int) -> tuple[sb.SparseIDS, sb.journal.DecisionLog]:
    """Return a policy that has played, and its log."""
    policy = sb.SparseIDS(offers, selection="randomised", n_draws=2000, seed=seed)
    return policy, sb.play(policy, measure, rounds)


pilot = run(150, seed=0)[0]
looks_best = int(np.argmax(offers @ pilot.posterior.mean()))  # chosen without the log that evaluates it
log = run(400, seed=1)[1]
print(f"The log: {log}\n")

targets = {f"always action {looks_best}": np.eye(10)[looks_best], "uniform at random": np.full(10, 0.1)}
estimates = {}
for name, probabilities in targets.items():
    print(f"{name}; true value {means @ probabilities:.3f}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sb.offpolicy.OverlapWarning)
        estimates[name, "weights"] = sb.offpolicy.inverse_propensity(log, probabilities)
        estimates[name, "doubly robust"] = sb.offpolicy.doubly_robust(log, probabilities)
    print(estimates[name, "weights"])
    print(estimates[name, "doubly robust"])
    for warning in dict.fromkeys(str(one.message) for one in caught):
        print(f"WARNING: {warning}")
    print()

if len(sys.argv) > 1:
    with sb.plots.house_style():
        figure = sb.plots.new_figure(6.4, 2.8)
        axes = figure.subplots()
        for row, ((name, _), one) in enumerate(estimates.items()):
            axes.plot([one.low, one.high], [row, row], color=sb.plots.COLOURS[0])
            axes.plot(one.value, row, "o", color=sb.plots.COLOURS[0])
            axes.plot(means @ targets[name], row, "x", color=sb.plots.COLOURS[1], markersize=9)
        axes.set_yticks(range(len(estimates)), [f"{name}, {method}" for name, method in estimates])
        axes.set(xlabel="value: estimate with 95% interval; the cross is the truth", ylim=(3.5, -0.5))
        sb.plots.dress(axes)
    sb.plots.write(figure, sys.argv[1])
