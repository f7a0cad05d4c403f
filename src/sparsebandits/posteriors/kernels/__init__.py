"""Compiled functions: pure functions of arrays, with the random state as an argument."""
