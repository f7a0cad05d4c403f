"""Hao, Lattimore and Deng (2021), *Information Directed Sampling for Sparse Linear Bandits*.

One file per experiment; ``python -m papers.hao2021 all`` runs them, and README.md has the verdicts.
"""
