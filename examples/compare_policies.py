"""Compare policies on random problems, with the same actions and the same noise for each, and plot their regret.

Each trial draws 200 actions with 40 features, of which four matter. All policies know the noise variance; the sparse
ones also know that about four features matter. They play the same trials, so that differences are paired.
``sparsebandits demo`` does the same on a larger scale.
A figure is written if a path is given: ``python compare_policies.py regret.png``.
"""

import sys

import sparsebandits as sb

DIMENSION, SPARSITY = 40, 4
environment = sb.environments.GaussianActions(DIMENSION, SPARSITY, n_actions=200)
known = {"noise_variance": environment.noise_variance}
prior = sb.SpikeSlab(inclusion=SPARSITY / DIMENSION, slab_variance=1 / SPARSITY)

experiment = sb.Experiment(
    environment,
    {
        "SparseIDS": sb.maker(sb.SparseIDS, prior=prior, n_draws=1000, **known),
        "SparseTS": sb.maker(sb.SparseTS, prior=prior, n_draws=1000, **known),
        "LinTS": sb.maker(sb.LinTS, **known),
        "LinUCB": sb.maker(sb.LinUCB, **known),
    },
    horizon=200,
    trials=5,
    seed=0,
)
result = experiment.run()  # workers=4 uses four processes

print("Regret after 200 rounds, mean over 5 trials with a 95% interval:\n")
print(result.table())
print("\nPaired differences from SparseIDS:\n")
print(result.compare("SparseIDS"))

if len(sys.argv) > 1:
    result.plot(sys.argv[1], title="200 actions, 4 of 40 features matter")
