"""Compiled functions: pure, on arrays, with their random state as an argument."""
