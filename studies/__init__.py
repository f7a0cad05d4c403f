"""Applications of the package to real data, one folder each."""
