"""Worked examples on real data; docs/real_data.md shows what they find."""
