"""Choose one action at a time, learn from its reward, and see which features matter.

Sixty offers are described by 20 features, of which three affect the reward. The policy does not know which, how many,
how strongly, or how noisy rewards are. After 80 rewards it has found the three features and plays the best offer. (In
other tables it may miss a weak feature or include one too many: it learns what it needs for a good choice.)
A figure is written if a path is given: ``python ask_and_tell.py inclusion.png``.
"""

import sys

import numpy as np

import sparsebandits as sb

rng = np.random.default_rng(6)
offers = rng.standard_normal((60, 20))  # one row per action; a pandas or polars DataFrame works too
truth = np.zeros(20)
truth[[2, 7, 11]] = [1.0, -0.8, 0.6]  # unknown to the policy
means = offers @ truth

policy = sb.SparseIDS(offers, seed=0)
rewards = []
for _ in range(80):
    decision = policy.ask()
    reward = means[decision.action] + 0.5 * rng.standard_normal()  # here: try the offer
    policy.tell(decision, reward)
    rewards.append(reward)

inclusion = policy.posterior.inclusion()  # probability that each feature matters
coefficients = policy.posterior.mean()
print("feature  P(included)  coefficient  truth")
for j in np.argsort(-inclusion)[:6]:
    print(f"{j:7}  {inclusion[j]:11.2f}  {coefficients[j]:11.2f}  {truth[j]:5.1f}")

found = sorted(np.flatnonzero(inclusion > 0.5).tolist())
print(f"\nfeatures with a probability above one half: {found}")
print(f"last offer: {decision.action}, mean reward {means[decision.action]:.2f}; the best has {means.max():.2f}")
print(
    f"mean reward of the first 20 rounds: {np.mean(rewards[:20]):.2f}, of the last 20: {np.mean(rewards[-20:]):.2f}\n"
)
print(policy.explain(decision))

if len(sys.argv) > 1:
    sb.plots.write(sb.plots.inclusion(policy, most=10), sys.argv[1])
