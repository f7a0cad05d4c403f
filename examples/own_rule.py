"""Write a decision rule, use it on several posteriors, save it, and compare it.

Top-two Thompson sampling (Russo 2016) draws an action from P(optimal) and plays it with probability ``share``;
otherwise it draws again until a different action comes up. A rule is a frozen dataclass with one method;
docs/tutorials/own_policy.md explains each step.
A figure is written if a path is given: ``python own_rule.py top_two.png``.
"""

import sys
from dataclasses import dataclass

import numpy as np

import sparsebandits as sb
from sparsebandits.rules import Beliefs, Choice, Reasons, Rule


@dataclass(frozen=True)
class TopTwo(Rule):
    """Top-two Thompson sampling."""

    share: float = 0.5

    def choose(self, beliefs: Beliefs, rng: np.random.Generator) -> Choice:
        """Draw from the distribution of the action that is played, which has a closed form."""
        play = best = beliefs.optimal_probability
        if best.max() < 1.0:
            odds = best / (1.0 - best)
            play = self.share * best + (1.0 - self.share) * best * (odds.sum() - odds)
        action = int(rng.choice(len(play), p=play / play.sum()))
        columns = {"probability": play, "P(optimal)": best}  # what explain shows
        contributions = beliefs.features[action] * beliefs.coefficients
        return Choice(action, float(play[action]), Reasons.top(action, play, columns, contributions))


actions = np.random.default_rng(0).standard_normal((20, 8))
policy = sb.policies.SparsePolicy(actions, TopTwo(), n_draws=1000, seed=0)
policy.tell(policy.ask(), 1.0)
print(policy.explain(policy.ask()))

policy.save("top_two.policy")
again = sb.load("top_two.policy", TopTwo)  # files hold no code, so load is given the class
print(f"\nafter loading: {again.rule}, the same decision: {again.ask().action == policy.ask().action}")

prior = sb.SpikeSlab(inclusion=0.25, slab_variance=0.5)
policies = {
    "top two, sparse": sb.maker(sb.policies.SparsePolicy, rule=TopTwo(), prior=prior, n_draws=1000),
    "top two, Gaussian": sb.maker(sb.policies.LinearPolicy, rule=TopTwo(), n_draws=1000),
    "SparseTS": sb.maker(sb.SparseTS, prior=prior, n_draws=1000),
}
environment = sb.environments.GaussianActions(dimension=8, sparsity=2, n_actions=20)
result = sb.Experiment(environment, policies, horizon=60, trials=6).run()
print(f"\n{result.compare(baseline='SparseTS')}")

if len(sys.argv) > 1:
    result.plot(sys.argv[1], title="20 actions, 2 of 8 features matter")
