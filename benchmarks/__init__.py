"""Measurements against other packages; no part of the package and none of its tests."""
