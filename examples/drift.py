"""Forget old rewards in a world that changes, and see when it did.

After 200 decisions other features matter. A policy that counts all rewards alike keeps trusting what was true before.
With ``forgetting=sb.Discount(half_life=50)`` a reward of 50 decisions ago counts half.
A figure is written if a path is given: ``python drift.py drift.png``.
"""

import sys

import numpy as np

import sparsebandits as sb

ROUNDS, CHANGE = 400, 200
actions = np.random.default_rng(0).standard_normal((50, 12))
before, after = np.zeros((2, 12))
before[[2, 5]], after[[4, 9]] = (1.0, -1.0), (-1.0, 1.0)


def played(forgetting: sb.Discount | None) -> tuple[sb.SparseIDS, list[float]]:
    """Return a policy that has played, and the regret of each round."""
    rng = np.random.default_rng(1)
    policy = sb.SparseIDS(actions, forgetting=forgetting, n_draws=1000, seed=0)
    regret = []
    for t in range(ROUNDS):
        decision = policy.ask()
        means = actions @ (before if t < CHANGE else after)
        policy.tell(decision, means[decision.action] + 0.5 * rng.standard_normal())
        regret.append(float(means.max() - means[decision.action]))
    return policy, regret


policies = {"all rewards count alike": None, "half-life of 50": sb.Discount(half_life=50)}
found = {name: played(forgetting) for name, forgetting in policies.items()}
for name, (policy, regret) in found.items():
    matter = np.flatnonzero(policy.posterior.inclusion() > 0.5).tolist()
    print(f"{name}: regret {sum(regret[:CHANGE]):.0f} before the change, {sum(regret[CHANGE:]):.0f} after it")
    print(f"  features that matter at the end (truth: 4 and 9): {matter}")

evidence = found["half-life of 50"][0].log_evidence
print(f"mean log evidence of a reward, rounds 150 to 199: {np.mean(evidence[150:200]):.2f},", end=" ")
print(f"200 to 219: {np.mean(evidence[200:220]):.2f}, 350 to 399: {np.mean(evidence[350:]):.2f}")

if len(sys.argv) > 1:
    figure = sb.plots.drift(found["half-life of 50"][0])
    figure.axes[0].axvline(CHANGE, color="0.4", linestyle="--", linewidth=1)
    sb.plots.write(figure, sys.argv[1])
