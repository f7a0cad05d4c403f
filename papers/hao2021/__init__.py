"""Hao, Lattimore and Deng (2021), *Information Directed Sampling for Sparse Linear Bandits*: one experiment a file."""
