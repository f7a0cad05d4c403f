"""The instances of Hao, Lattimore and Qin (2022), *Contextual Information-Directed Sampling*, as experiments.

``python -m papers.hao2022`` plays what is missing and writes the tables of README.md.
"""
