import numpy as np
from numpy.random import SeedSequence
from scipy import stats

from sparsebandits.randomness import IndexedNormals, child, stream


def test_a_stream_depends_on_its_key_alone() -> None:
    seed = SeedSequence(5)
    first = stream(seed, 1).random()
    stream(seed, 2).random()
    assert stream(seed, 1).random() == first
    assert seed.n_children_spawned == 0
    assert stream(5, 1).random() == first
    assert stream(child(5, 1)).random() == first
    assert stream(5, 2).random() != first
    assert stream(None).random() != stream(None).random()


def test_normals_depend_on_their_address_alone_and_are_normal() -> None:
    noise = IndexedNormals(0)
    grid = np.array([[noise(t, a) for a in range(60)] for t in range(60)])
    again = IndexedNormals(0)
    assert all(again(t, a) == grid[t, a] for t, a in ((59, 59), (0, 0), (3, 50), (50, 3)))
    assert len(np.unique(grid)) == grid.size
    assert stats.kstest(grid.ravel(), "norm").pvalue > 1e-5
    assert stats.kstest(1.2 * grid.ravel(), "norm").pvalue < 1e-5, "planted: a deviation 20% too large"
    for one, other in ((grid[1:], grid[:-1]), (grid[:, 1:], grid[:, :-1]), (grid, grid.T)):
        off = ~np.eye(60, dtype=bool) if one is grid else np.ones(one.shape, dtype=bool)
        r = stats.pearsonr(one[off].ravel(), other[off].ravel())[0]
        assert abs(r) < 5 / np.sqrt(one.size)
    mixed = grid[1:] + 0.2 * grid[:-1]  # planted: rounds that share noise
    assert abs(stats.pearsonr(mixed[1:].ravel(), mixed[:-1].ravel())[0]) > 5 / np.sqrt(mixed.size)


def test_late_rounds_and_many_actions_have_addresses_too() -> None:
    noise = IndexedNormals(1)
    assert noise(10**9, 10**9) == noise(10**9, 10**9) != noise(10**9, 10**9 + 1)
