"""Posterior engines: one a file, all with the same constructor, all giving ``Draws``.

Nothing is imported here: an engine that needs a compiler is loaded only by who uses it.
"""
