"""A result survives being written to one file and read back, and files of other kinds are refused."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import sparsebandits as sb
from sparsebandits.arguments import SaveFileError
from tests.results.results import experiment, quick_directory


def results() -> dict[str, sb.Result]:
    """A result from a directory, with a different number of trials per policy; one from memory; one without pulls."""
    with quick_directory() as directory:
        experiment(trials=3, points=7).run(directory)
        more = {"LinTS": sb.LinTS}
        whole = experiment(points=7)
        sb.Experiment(whole.environment, more, whole.horizon, 5, whole.seed, points=7).run(directory)
        uneven = sb.Result.load(directory)
    moving = sb.environments.ChangingActions(sb.environments.GaussianActions(dimension=4, sparsity=1, n_actions=5))
    return {
        "directory": uneven,
        "memory": experiment(trials=2).run(),
        "without pulls": sb.Experiment(moving, {"LinTS": sb.LinTS}, 10, 2).run(),
    }


@pytest.mark.parametrize("kind", ["directory", "memory", "without pulls"])
def test_a_result_survives_writing_and_reading(kind: str, tmp_path: Path) -> None:
    result = results()[kind]
    file, again = tmp_path / "one.parquet", tmp_path / "two.parquet"
    result.write(file)
    back = sb.Result.load(file)
    assert list(back.regret) == list(result.regret)
    for name in result.regret:
        assert back.regret[name].tobytes() == result.regret[name].tobytes()
        assert back.seconds[name].tobytes() == result.seconds[name].tobytes()
    assert (back.pulls is None) == (result.pulls is None) == (kind == "without pulls")
    if result.pulls is not None and back.pulls is not None:
        assert all(np.array_equal(back.pulls[name], result.pulls[name]) for name in result.pulls)
    assert str(back.at([back.horizon])) == str(result.at([result.horizon]))
    assert back.about == result.about
    back.write(again)
    assert file.read_bytes() == again.read_bytes()


def test_uneven_trials_stay_so(tmp_path: Path) -> None:
    result = results()["directory"]
    result.write(tmp_path / "result.parquet")
    assert {n: len(c) for n, c in sb.Result.load(tmp_path / "result.parquet").regret.items()} == {
        "LinTS": 5,
        "LinUCB, 1.5/2": 3,
    }


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "result.parquet"
    file.write_bytes(b"PAR1 but no more")
    with pytest.raises(SaveFileError, match=r"result\.parquet is damaged or was not written by Result\.write"):
        sb.Result.load(file)
    with quick_directory() as directory:
        experiment(trials=1).run(directory)
        trial = next(directory.rglob("*.parquet"))
        with pytest.raises(SaveFileError, match=r"was not written by Result\.write"):
            sb.Result.load(trial)
    results()["memory"].write(file)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SaveFileError, match="is damaged"):
        sb.Result.load(file)


def test_a_flipped_bit_does_not_pass_for_a_result(tmp_path: Path) -> None:
    """Not in a page, and not in the footer, of which Parquet itself has no checksum."""
    file = tmp_path / "result.parquet"
    result = results()["directory"]
    result.write(file)
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for place in (*range(len(whole) - 40, len(whole)), *rng.integers(len(whole), size=100).tolist()):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(bytes(damaged))
        with pytest.raises(SaveFileError, match="is damaged"):
            sb.Result.load(file)


def test_much_in_a_small_file(tmp_path: Path) -> None:
    """What compresses by more than a hundred is written without compression, and refused if it is compressed."""
    file = tmp_path / "result.parquet"
    zeros = sb.Result({"A": np.zeros((20, 200_000))}, {})
    zeros.write(file)
    assert file.stat().st_size > zeros.regret["A"].nbytes / 100
    assert np.array_equal(sb.Result.load(file).regret["A"], zeros.regret["A"])
    table = pq.read_table(file)
    pq.write_table(table, file, compression="zstd")
    assert file.stat().st_size < zeros.regret["A"].nbytes / 1000
    with pytest.raises(SaveFileError, match="it holds too much for its size"):
        sb.Result.load(file)


def test_what_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    curves = np.arange(6.0).reshape(2, 3)
    file = tmp_path / "result.parquet"
    sb.Result({"A": curves, "B": curves}, {"A": np.ones(2)}).write(file)
    assert np.isnan(sb.Result.load(file).seconds["B"]).all()
    for pulls in (
        {"A": np.ones((2, 3), dtype=int)},
        {"A": np.ones((2, 3), dtype=int), "B": np.ones((2, 4), dtype=int)},
    ):
        with pytest.raises(ValueError, match="pulls: expected counts of the same actions for every policy"):
            sb.Result({"A": curves, "B": curves}, {}, pulls=pulls).write(file)


def test_an_earlier_file_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.parquet"
    result = results()["memory"]
    result.write(file)
    before = file.read_bytes()

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="No space left"):
        result.write(file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["result.parquet"]
    with pytest.raises(TypeError, match="path: expected a path, got 7"):
        result.write(7)  # type: ignore[arg-type]
