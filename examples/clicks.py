"""Learn from clicks: rewards of 0 and 1.

Forty articles are described by twelve features, two of which matter. An average article is clicked by five readers in a
hundred. ``rewards=sb.Bernoulli()`` says that rewards are clicks: expected rewards are then probabilities, and effects
odds ratios. This table was picked from six: both features have a probability above one half after 400 rounds in two of
the six. A click says little, and the policy learns what it needs for a good choice.
A figure is written if a path is given: ``python clicks.py clicks.png``.
"""

import sys

import numpy as np

import sparsebandits as sb

rng = np.random.default_rng(8)
articles = rng.standard_normal((40, 12))  # one row per article
chance = 1 / (1 + np.exp(3 - 1.5 * articles[:, 2] + 1.2 * articles[:, 7]))  # of a click, unknown to the policy

policy = sb.SparseIDS(articles, rewards=sb.Bernoulli(), seed=0)
clicks = []
for _ in range(400):
    decision = policy.ask()
    click = rng.random() < chance[decision.action]
    policy.tell(decision, click)
    clicks.append(click)

print(f"clicks in the first 100 rounds: {sum(clicks[:100])}, in the last 100: {sum(clicks[-100:])}")
print(f"at random it would have been {100 * chance.mean():.0f} of 100, and {100 * chance.max():.0f} with the best\n")

predicted = policy.predict()
for action in np.argsort(-predicted.mean)[:3]:
    print(f"article {action}: predicted {predicted.mean[action]:.2f}, truth {chance[action]:.2f}")

print("\nThe features that are most likely to matter (truth: 2 and 7):")
print("\n".join(str(policy.posterior.summary()).splitlines()[:3]))
leading = sorted(np.argsort(-policy.posterior.inclusion())[:2].tolist())
print(f"last choice: {decision.action}, the best: {chance.argmax()}; leading features: {leading}")

if len(sys.argv) > 1:
    sb.plots.write(sb.plots.progress(policy), sys.argv[1])
