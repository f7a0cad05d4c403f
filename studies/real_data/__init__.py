"""Sequential search on real data; docs/real_data.md shows the results. Run it with ``python -m studies.real_data``."""
