"""Results in a directory: the same numbers as in memory, reproducible bytes, nothing mixed and nothing lost."""

import errno
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sparsebandits as sb
from sparsebandits.arguments import SaveFileError
from sparsebandits.experiments import store
from sparsebandits.experiments.description import describe
from sparsebandits.experiments.provenance import sources_digest
from sparsebandits.files import write_atomically
from sparsebandits.results.configuration import differences, hashed
from tests.results.results import environment, experiment, files, identities, quick_directory


def assert_same(one: sb.Result, other: sb.Result) -> None:
    assert list(one.regret) == list(other.regret)
    for name in one.regret:
        np.testing.assert_array_equal(one.regret[name], other.regret[name])
        assert one.pulls is not None
        assert other.pulls is not None
        np.testing.assert_array_equal(one.pulls[name], other.pulls[name])
        assert one.recorded[name].keys() == other.recorded[name].keys()
        for column, values in one.recorded[name].items():
            np.testing.assert_array_equal(values, other.recorded[name][column])
    np.testing.assert_array_equal(one.rounds, other.rounds)


@pytest.mark.parametrize("settings", [{}, {"record": True, "points": 7}])
def test_a_directory_holds_what_memory_would(settings: dict[str, Any]) -> None:
    with quick_directory() as directory:
        written = experiment(**settings).run(directory / "new" / "er")
        assert_same(written, experiment(**settings).run())
        assert_same(written, sb.Result.load(directory / "new" / "er"))
        assert written.seconds["LinTS"].shape == (4,)
        assert (written.seconds["LinTS"] > 0).all()


def test_what_is_in_a_file() -> None:
    with quick_directory() as directory:
        result = experiment(trials=2, record=True, points=7).run(directory)
        path = directory / "trials" / "LinUCB, 1%2E5%2F2" / "000001.parquet"
        table = pq.read_table(path)
        header = json.loads(pq.read_metadata(path).metadata[b"sparsebandits"])
    seed = np.random.SeedSequence(3, spawn_key=(1,))
    instance = environment.sample(np.random.SeedSequence(3, spawn_key=(1, 0)))
    trace = sb.simulate(sb.maker(sb.LinUCB, width=1.5), instance, 40, seed, record=True)
    rounds = table["round"].to_numpy()
    assert len(rounds) == 7
    assert rounds[-1] == 40
    np.testing.assert_array_equal(rounds, result.rounds)
    for column, values in (
        ("regret", trace.regret),
        ("action", trace.actions),
        ("reward", trace.rewards),
        ("probability", trace.probabilities),
        ("recorded: bonus", trace.recorded["bonus"]),
    ):
        np.testing.assert_array_equal(table[column].to_numpy(), values[rounds - 1])
    assert result.pulls is not None
    np.testing.assert_array_equal(result.pulls["LinUCB, 1.5/2"][1], np.bincount(trace.actions, minlength=12))
    assert header["policy"] == "LinUCB, 1.5/2"
    assert header["trial"] == 1
    assert header["sources"] == sources_digest()
    assert header["version"] == sb.__version__
    assert header["configuration"]["policy"] == {"kind": "LinUCB", "width": 1.5}
    assert header["configuration"]["environment"]["kind"] == "GaussianActions"
    assert header["hash"] == hashed(header["configuration"])
    assert "trials" not in header["configuration"]


def test_provenance() -> None:
    with quick_directory() as directory:
        experiment(trials=2, notes={"title": "a"}).run(directory)
        about = experiment(trials=3).run(directory).about
        written = json.loads((directory / "provenance.json").read_text())
        before = (directory / "provenance.json").read_bytes()
        experiment(trials=3).run(directory)
        assert (directory / "provenance.json").read_bytes() == before, "nothing was run"
    assert about is not None
    assert about["configuration"]["horizon"] == 40
    assert about["configuration"]["trials"] == {"LinTS": 3, "LinUCB, 1.5/2": 3}
    assert about["configuration"]["policies"]["LinTS"] == {"kind": "LinTS"}
    assert about["provenance"]["notes"] == {"title": "a"}
    assert about["provenance"]["sources"] == {sources_digest(): 6}
    assert about["provenance"]["runs"] == written["runs"]
    assert [(run["found"], run["ran"]) for run in written["runs"]] == [(0, 4), (4, 2)]
    for key in ("started", "seconds", "processor", "python", "libraries", "version", "sources"):
        assert written["runs"][0][key], key


def test_two_runs_at_once_both_leave_an_entry() -> None:
    """The first run ends after the second has begun and ended; each knew nothing of the other's entry."""
    with quick_directory() as directory:
        first, second = experiment(trials=2, notes={"tuned": {"a": 1}}), experiment(trials=3, notes={"tuned": {"b": 2}})

        def meanwhile(done: int, total: int) -> None:
            if done == 1:
                second.run(directory)

        first.run(directory, progress=meanwhile)
        written = json.loads((directory / "provenance.json").read_text())
    assert [run["trials"] for run in written["runs"]] == [2, 3]
    assert all(run["seconds"] for run in written["runs"])
    assert len({run["id"] for run in written["runs"]}) == 2
    assert written["notes"] == {"tuned": {"a": 1, "b": 2}}


def test_a_flipped_bit_in_a_trial_is_refused() -> None:
    """Also in the footer, of which Parquet itself has no checksum."""
    with quick_directory() as directory:
        experiment(trials=1).run(directory)
        path = directory / "trials" / "LinTS" / "000000.parquet"
        whole, rng = path.read_bytes(), np.random.default_rng(0)
        for place in (*range(len(whole) - 40, len(whole)), *rng.integers(len(whole), size=60).tolist()):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << int(rng.integers(8))]) + whole[place + 1 :])
            with pytest.raises(SaveFileError, match=r"000000\.parquet is damaged or not a result"):
                sb.Result.load(directory)


def test_trials_of_an_earlier_release_are_read() -> None:
    """They had no checksum over the whole file."""
    with quick_directory() as directory:
        result = experiment(trials=1).run(directory)
        path = directory / "trials" / "LinTS" / "000000.parquet"
        file = pq.ParquetFile(path)
        header = {**json.loads(file.metadata.metadata[b"sparsebandits"]), "format": 1}
        table = file.read().replace_schema_metadata()
        with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"sparsebandits": json.dumps(header)})
        assert_same(sb.Result.load(directory), result)


def test_any_number_of_workers_and_any_order_give_the_same_bytes() -> None:
    """Existing files are kept: trials and policies are added to them."""
    with quick_directory() as alone, quick_directory() as together:
        experiment().run(alone)
        few = sb.Experiment(environment, {"LinTS": sb.LinTS}, 40, trials=2, seed=3)
        few.run(together)
        before = identities(together)
        reports: list[tuple[int, int]] = []
        experiment().run(together, workers=2, progress=lambda done, total: reports.append((done, total)))
        assert reports == [(k, 8) for k in range(3, 9)], "two of eight were finished before"
        assert files(together) == files(alone)
        assert before.items() <= identities(together).items()


def test_the_bytes_do_not_depend_on_clock_or_process() -> None:
    with quick_directory() as directory:
        code = "from tests.results.results import *; import sys; experiment(2).run(sys.argv[1])"
        subprocess.run([sys.executable, "-c", code, directory / "a"], check=True, cwd=Path(__file__).parents[2])
        experiment(2).run(directory / "b")
        assert files(directory / "a") == files(directory / "b")
        asides = [sorted((directory / name).glob("trials/*/*.json"))[0].read_bytes() for name in ("a", "b")]
        assert asides[0] != asides[1], "what differs between runs is in the JSON file"


def test_another_configuration_is_refused_and_nothing_is_changed() -> None:
    other = {
        "policy.width is 1.5 there and 2 here": experiment(width=2.0),
        "horizon is 40 there and 50 here": experiment(horizon=50),
        "points is None there and 3 here": experiment(points=3),
        "record is False there and True here": experiment(record=True),
        "seed is 3 there and 0 here": sb.Experiment(environment, {"LinTS": sb.LinTS}, 40, 4),
        "policy.kind is 'LinTS' there and 'LinUCB' here": sb.Experiment(environment, {"LinTS": sb.LinUCB}, 40, 4, 3),
        "environment.dimension is 6 there and 7 here": sb.Experiment(
            sb.environments.GaussianActions(7, 2, 12), {"of another name": sb.LinTS}, 40, 4, 3
        ),
    }
    with quick_directory() as directory:
        experiment().run(directory)
        before = identities(directory), (directory / "provenance.json").read_bytes()
        for message, refused in other.items():
            with pytest.raises(ValueError, match="holds trials of another configuration") as error:
                refused.run(directory)
            assert message in str(error.value)
        assert (identities(directory), (directory / "provenance.json").read_bytes()) == before


def test_a_file_that_appears_while_we_run_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    with quick_directory() as directory:
        experiment(width=2.0).run(directory)
        before = identities(directory)
        monkeypatch.setattr(store.Store, "finished", lambda self, trials: set())
        with pytest.raises(ValueError, match=r"policy\.width is 2 there and 1.5 here"):
            experiment().run(directory)
        assert identities(directory) == before


def test_trials_that_are_missing_in_the_middle() -> None:
    with quick_directory() as directory:
        whole = experiment().run(directory)
        (directory / "trials" / "LinTS" / "000002.parquet").unlink()
        (directory / "trials" / "LinTS" / ".abc.tmp").write_bytes(b"PAR1 half")
        loaded = sb.Result.load(directory)
        np.testing.assert_array_equal(loaded.regret["LinTS"], whole.regret["LinTS"][:2])
        assert len(loaded.regret["LinUCB, 1.5/2"]) == 4
        assert_same(experiment().run(directory), whole)


def test_damaged_files_are_named() -> None:
    with quick_directory() as directory:
        experiment().run(directory)
        path = directory / "trials" / "LinTS" / "000001.parquet"
        path.write_bytes(path.read_bytes()[:-20])
        for read in (experiment().run, sb.Result.load):
            with pytest.raises(SaveFileError, match=r"000001\.parquet is damaged or not a result"):
                read(directory)
        path.unlink()
        path.with_suffix(".json").unlink()
        assert experiment().run(directory).regret["LinTS"].shape == (4, 40)
        path.with_suffix(".json").write_text("{")
        assert np.isnan(sb.Result.load(directory).seconds["LinTS"][1])
    with pytest.raises(FileNotFoundError, match="path: expected a file or a directory of results, got none at nowhere"):
        sb.Result.load("nowhere")
    with (
        quick_directory() as empty,
        pytest.raises(SaveFileError, match=r"expected results of Experiment\.run, got none"),
    ):
        sb.Result.load(empty)


def test_files_of_two_configurations_are_not_loaded_together() -> None:
    with quick_directory() as one, quick_directory() as other:
        experiment(2).run(one)
        experiment(2, width=2.0).run(other)
        name = "trials/LinUCB, 1%2E5%2F2/000001.parquet"
        (one / name).write_bytes((other / name).read_bytes())
        with pytest.raises(
            SaveFileError, match=r"000001.parquet is of another configuration .* policy.width is 2 there"
        ):
            sb.Result.load(one)


def test_actions_without_rows_that_stay_have_no_pulls() -> None:
    changing = sb.Experiment(sb.environments.ChangingActions(environment), {"LinTS": sb.LinTS}, 5, 2)
    cube = sb.Experiment(sb.environments.Hypercube(5, 1), {"cube": sb.rivals.HypercubeElimination}, 5, 2)
    for one in (changing, cube):
        with quick_directory() as directory:
            assert one.run(directory).pulls is None
        assert one.run().pulls is None


def module_level(problem: sb.experiments.Problem) -> sb.Policy:
    return sb.LinTS(problem.actions, seed=problem.seed)


def test_what_can_be_described() -> None:
    prior = sb.SpikeSlab(inclusion=sb.BetaInclusion(1, 9), slab_variance=np.array([1.0, 2.0]))
    assert describe("p", sb.maker(sb.SparseIDS, prior=prior, n_draws=np.int64(5))) == {
        "kind": "SparseIDS",
        "prior": {
            "kind": "SpikeSlab",
            "inclusion": {"kind": "BetaInclusion", "a": 1.0, "b": 9.0},
            "slab_variance": [1.0, 2.0],
            "slab_mean": 0.0,
            "spike": {"kind": "PointMass"},
            "of_noise": False,
            "size": None,
            "hierarchy": None,
        },
        "n_draws": 5,
    }
    assert describe("p", module_level) == {"kind": f"{__name__}.module_level"}
    hard = describe("e", sb.environments.HardInstance(5, 2))
    assert hard["set_seed"] == 0
    assert "actions" not in hard, "derived attributes are left out"
    assert describe("e", sb.environments.ChangingActions(environment))["environment"]["dimension"] == 6
    assert differences({"a": [1, 2]}, {"a": [1, 2.0]}) == ""
    width = 3.0

    def closure(problem: sb.experiments.Problem) -> sb.Policy:
        return sb.LinUCB(problem.actions, width=width)

    assert describe("p", partial(module_level))["kind"] == f"{__name__}.module_level"
    for vague in (lambda problem: sb.LinTS(problem.actions), closure):
        with pytest.raises(TypeError, match=r"policies\['a'\]: expected something that a name and settings identify"):
            sb.Experiment(environment, {"a": vague}, 5, 2).run("nowhere")
        assert not Path("nowhere").exists()
        sb.Experiment(environment, {"a": vague}, 5, 2).run()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_loses_no_finished_trial(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two workers the disk is really full, since a patch in this process would not reach the others."""
    with quick_directory() as directory, quick_directory() as undisturbed:
        if workers == 2:
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", directory], capture_output=True
            )
            if mounted.returncode:
                pytest.skip("mounting a small file system takes root")
        else:

            def full(path: Path, content: bytes) -> None:
                if len(files(directory)) == 5 and path.suffix == ".parquet":
                    raise OSError(errno.ENOSPC, "No space left on device")
                write_atomically(path, content)

            monkeypatch.setattr(store, "write_atomically", full)
        try:
            many = experiment(trials=10)
            with pytest.raises(
                OSError, match=f"cannot write to {directory}: .*No space left on device; finished trials"
            ):
                many.run(directory, workers=workers)
            before, kept = identities(directory), files(directory)
            assert 0 < len(kept) < 20
            monkeypatch.undo()
            if workers == 2:
                subprocess.run(["mount", "-o", "remount,size=4m", directory], check=True)
            many.run(directory)
            assert before.items() <= identities(directory).items()
            many.run(undisturbed)
            assert files(directory) == files(undisturbed)
        finally:
            if workers == 2:
                subprocess.run(["umount", directory], check=True)


def test_directories_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=f"directory: cannot write to {tmp_path}/file/below: "):
        experiment().run(tmp_path / "file" / "below")

    def denied(path: Path, content: bytes) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(store, "write_atomically", denied)
    with pytest.raises(OSError, match=f"directory: cannot write to {tmp_path}: Permission denied"):
        experiment().run(tmp_path)
    with pytest.raises(TypeError, match="directory: expected a path, got 2"):
        experiment().run(2)  # type: ignore[arg-type]


def test_names_that_no_file_system_takes() -> None:
    for name in ("", "x" * 300):
        with pytest.raises(ValueError, match="policies: expected names of 1 to 200 characters"):
            sb.Experiment(environment, {name: sb.LinTS}, 5, 2).run("nowhere")
    with quick_directory() as directory:
        names = {"..": sb.LinTS, "a/b": sb.LinTS, "ε = 0.1": sb.LinTS}
        result = sb.Experiment(environment, names, 5, 2).run(directory / "out")
        assert [path.name for path in directory.iterdir()] == ["out"]
        assert set(sb.Result.load(directory / "out").regret) == set(result.regret) == set(names)


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OSError, match=r"need pyarrow \(pip install 'sparsebandits\[results\]'\)"):
        experiment().run(tmp_path)
