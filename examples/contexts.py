"""Choose for each user: users have columns, items have columns, and few of their products matter.

Older users like films; nothing else about users matters. The policy is given the items and a table of users such as
those that will come. It builds all products of a user's column and an item's, and finds the one that matters.
A figure is written if a path is given: ``python contexts.py contexts.png``.
"""

import sys
from typing import Any

import numpy as np

import sparsebandits as sb

rng = np.random.default_rng(0)
kinds = ["book", "film", "book", "song"]
items = {"price": [3.0, 5.0, 8.0, 4.0], "kind": kinds}
users: list[dict[str, Any]] = [
    {"age": float(rng.integers(18, 80)), "country": str(rng.choice(["DE", "FR"])), "premium": bool(rng.random() < 0.3)}
    for _ in range(200)
]

policy = sb.SparseIDS(items, contexts=users, seed=0)
for user in users[:120]:
    decision = policy.ask(context=user)
    is_film = kinds[decision.action] == "film"
    policy.tell(decision, reward=(user["age"] - 49) / 18 * is_film + 0.5 * rng.standard_normal())

for age in (20, 70):
    user = {"age": age, "country": "FR", "premium": False}
    decision = policy.ask(context=user)
    expected = policy.predict(context=user).mean
    shown = ", ".join(f"{kind} {reward:.2f}" for kind, reward in zip(kinds, expected, strict=True))
    print(f"for age {age}: {kinds[decision.action]} (expected rewards: {shown})")

print("\nThe features that are most likely to matter, of 24:")
print("\n".join(str(policy.posterior.summary()).splitlines()[:3]))
print(f"\n{policy.explain(decision)}")

if len(sys.argv) > 1:
    ages = np.arange(18, 80)
    people = [{"age": float(age), "country": "FR", "premium": False} for age in ages]
    found = [policy.predict(context=one) for one in people]
    mean, sd = np.array([one.mean for one in found]), np.array([one.sd for one in found])
    with sb.plots.house_style():
        figure = sb.plots.new_figure(6.4, 3.2)
        axes = figure.subplots()
        for row, look in zip((1, 0), sb.plots.COLOURS, strict=False):
            axes.fill_between(
                ages, mean[:, row] - 2 * sd[:, row], mean[:, row] + 2 * sd[:, row], color=look, alpha=0.2, linewidth=0
            )
            axes.plot(ages, mean[:, row], color=look, label=kinds[row])
        axes.set(xlabel="age of the user", ylabel="expected reward of the item")
        axes.legend(frameon=False)
        sb.plots.dress(axes)
    sb.plots.write(figure, sys.argv[1])
