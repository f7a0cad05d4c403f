"""Settings for the whole test run: property tests are the same on every run and have no deadline."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")
