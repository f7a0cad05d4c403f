"""A saved policy continues bit for bit; a bad file is an error, never a policy."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsebandits as sb
from sparsebandits.files import pack, write_atomically
from sparsebandits.policies.policy import KIND, VERSION
from tests.policies.table import ALL, Maker, fingerprint, play, some_actions

every_policy = pytest.mark.parametrize("make", ALL.values(), ids=ALL)


@every_policy
@pytest.mark.parametrize("rounds", [0, 1, 40])
def test_continues_bit_for_bit(make: Maker, rounds: int, tmp_path: Path) -> None:
    policy = make(some_actions(), prior=sb.GaussianPrior([0.5, 1.0, 2.0]), noise_variance=0.7, seed=1)
    play(policy, rounds)
    pending = [policy.ask() for _ in range(3)]
    policy.save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    assert type(loaded) is type(policy)
    assert repr(loaded) == repr(policy)
    assert fingerprint(loaded) == fingerprint(policy)
    assert [str(loaded.explain(d.id)) for d in pending] == [str(policy.explain(d)) for d in pending]
    for one in (policy, loaded):
        one.tell([d.id for d in pending], [0.1, 0.2, 0.3])
    assert play(loaded, 30, seed=7) == play(policy, 30, seed=7)
    assert fingerprint(loaded) == fingerprint(policy)


@pytest.mark.parametrize("engine", ["particles", "gibbs"])
@pytest.mark.parametrize("policy", [sb.SparseIDS, sb.SparseTS])
@pytest.mark.parametrize("rewards", [[], [5.0], [5.0, 5.0, 5.0], [5.0, 5.0, 7.0], [5.0, 6.0, 1.0, 9.0, 3.0]])
def test_level_and_unit_of_rewards_continue_bit_for_bit(
    rewards: list[float], policy: type[sb.SparseIDS | sb.SparseTS], engine: str, tmp_path: Path
) -> None:
    """Saved before the first reward, and before and after rewards differ, which is when their unit becomes known."""
    options = {"chains": 2, "burn_in": 5} if engine == "gibbs" else None
    one = policy(some_actions(), n_draws=100, engine=engine, engine_options=options, seed=1)
    for reward in rewards:
        one.tell(one.ask(), reward)
    assert one.posterior.level.weight == len(rewards)
    assert (one.posterior.unit > 0) == (len(set(rewards)) > 1)
    pending = one.ask()
    one.save(tmp_path / "policy")
    other = sb.load(tmp_path / "policy")
    assert other.posterior.noise == one.posterior.noise
    for name in ("mean", "sd", "optimal_probability"):
        np.testing.assert_array_equal(getattr(other.predict(), name), getattr(one.predict(), name))
    assert fingerprint(other) == fingerprint(one)
    for each in (one, other):
        each.tell(pending.id, 5.5)
    assert [d.action for d in other.ask(n=4)] == [d.action for d in one.ask(n=4)]
    assert play(other, 20, seed=7) == play(one, 20, seed=7)
    assert fingerprint(other) == fingerprint(one)


def test_continues_in_another_process(tmp_path: Path) -> None:
    policy = sb.LinearIDS(some_actions(), n_draws=300, selection="randomised", seed=1)
    play(policy, 20)
    policy.save(tmp_path / "policy")
    code = (
        "import sys, hashlib, sparsebandits as sb\n"
        "from tests.policies.table import play, fingerprint\n"
        "policy = sb.load(sys.argv[1])\n"
        "play(policy, 25, seed=3)\n"
        "print(hashlib.sha256(fingerprint(policy)).hexdigest())\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "policy"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    play(policy, 25, seed=3)
    assert there.stdout.strip() == hashlib.sha256(fingerprint(policy)).hexdigest()


def test_names_survive(tmp_path: Path) -> None:
    frame = pd.DataFrame(some_actions(), columns=["a", "b", "c"], index=list("uvwxyz"))
    sb.LinUCB(frame).save(tmp_path / "policy")
    loaded = sb.load(tmp_path / "policy")
    assert loaded.actions.labels == tuple("uvwxyz")
    assert loaded.actions.feature_names == ("a", "b", "c")


def test_a_policy_of_ones_own(tmp_path: Path) -> None:
    class Mine(sb.LinTS):
        """Known to nobody else."""

    Mine(some_actions(), seed=0).save(tmp_path / "policy")
    with pytest.raises(sb.SaveFileError, match="got 'Mine'; pass its class to load"):
        sb.load(tmp_path / "policy")
    assert type(sb.load(tmp_path / "policy", Mine)) is Mine


def test_truncated_and_damaged_files(tmp_path: Path) -> None:
    policy = sb.LinTS(some_actions(), seed=0)
    play(policy, 3)
    policy.save(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    broken = tmp_path / "broken"
    for length in (*range(0, len(content), 97), len(content) - 1):
        broken.write_bytes(content[:length])
        with pytest.raises(sb.SaveFileError, match="path: "):
            sb.load(broken)
    for position in (*range(0, len(content), 101), *range(len(content) - 100, len(content))):
        broken.write_bytes(content[:position] + bytes([content[position] ^ 4]) + content[position + 1 :])
        with pytest.raises(sb.SaveFileError, match="path: "):
            sb.load(broken)
    for more in (content + b"x", b"x" + content, content[:500] + b"x" + content[500:]):
        broken.write_bytes(more)
        with pytest.raises(sb.SaveFileError, match="path: "):
            sb.load(broken)


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    policy = sb.LinTS(some_actions(), seed=0)

    def refused(message: str) -> None:
        with pytest.raises(sb.SaveFileError, match=message):
            sb.load(path)

    refused("path: expected a save file")
    with pytest.raises(sb.SaveFileError, match="path: expected a save file"):
        sb.load(tmp_path)
    path.write_text(json.dumps({"policy": "LinTS"}))
    refused("truncated, damaged or not a save file")
    with path.open("wb") as file:
        np.savez(file, a=np.ones(3))
    refused("truncated, damaged or not a save file")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "[]")
    refused("truncated, damaged or not a save file")
    path.write_bytes(pack("another program", VERSION, policy.state()))
    refused(f"expected a file of kind '{KIND}', got 'another program'")
    path.write_bytes(pack(KIND, VERSION + 1, policy.state()))
    refused(f"this release reads version {VERSION} of .* got version {VERSION + 1}")
    state = policy.state()
    del state["rule"]
    path.write_bytes(pack(KIND, VERSION, state))
    refused("is not a whole policy of this release")
    path.write_bytes(
        pack(KIND, VERSION, {**policy.state(), "rule": {"part": "os.system", "package": "sparsebandits", "fields": {}}})
    )
    refused("expected parts of this package, got 'os.system'")


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("SparseIDS", "particles.theta", np.zeros((299, 3))),
        ("SparseIDS", "particles.theta", np.zeros((300, 3), dtype=np.float32)),
        ("SparseIDS", "particles.theta", np.full((300, 3), np.nan)),
        ("SparseIDS", "particles.theta", np.zeros((300, 3), order="F")),
        ("SparseIDS", "particles.included", np.full((300, 3), 7, dtype=np.uint8).view(bool)),
        ("SparseIDS", "particles.included", np.zeros((300, 3, 1), dtype=bool)),
        ("SparseIDS", "particles.beta", np.full(300, 0.5)),
        ("SparseIDS", "log_weights", np.full(300, -np.inf)),
        ("SparseIDS", "evidence.total.gram", np.asfortranarray(np.diag([1.0, -1.0, 1.0]))),
        ("SparseIDS", "evidence.recent.gram", np.asfortranarray(1e6 * (1.9 * np.eye(3) - 0.9))),
        ("SparseIDS", "evidence.recent.moment", np.full(3, 1e9)),
        ("SparseIDS", "evidence.count", -1),
        ("SparseIDS", "unit", 3.0),
        ("SparseIDS", "level", None),
        ("SparseIDS", "feature_names", ["a"]),
        ("SparseIDS", "rng.state.inc", 2**128),
        ("SparseIDS", "more", 1),
        ("SparseIDS, Gibbs", "drawn.learnt", {"slab_variance": np.ones(40)}),
        ("SparseIDS, warm chains", "nu", np.zeros((64, 3))),
        ("LinearIDS", "root", np.zeros((3, 3, 3))),
        ("LinearIDS", "watched", {"features": np.zeros((6, 2))}),
        ("OnlineToConfidence", "forecaster.particles.theta", np.zeros((3, 300))),
        ("LassoGreedy", "fitted", 10**6),
        ("LassoBandit", "samples.x", np.full((40, 5), -1.0)),
        ("HypercubeElimination", "signs", np.full(3, 0.5)),
        ("SLUCB", "rounds", -1.0),
        ("SLUCB", "gram", np.zeros((1, 2))),
        ("SLUCB, short search", "support", np.zeros(3, dtype=np.bool_)),
        ("ESTC", "designed", np.zeros((2, 2))),
        ("DLinUCB", "clock", np.inf),
        ("DLinUCB", "squared.discounted.count", 41.0),
    ],
)
def test_a_right_checksum_does_not_make_a_policy(name: str, path: str, value: object, tmp_path: Path) -> None:
    """No engine, and no compiled kernel, sees an array that it was not written for."""
    policy = ALL[name](some_actions(), seed=1)
    play(policy, 40)
    policy.ask()
    state = policy.state()
    place = state["learnt"]
    *parents, last = path.split(".")
    for one in parents:
        place = place[one]
    place[last] = value
    (tmp_path / "policy").write_bytes(pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError, match=r"^path: "):
        sb.load(tmp_path / "policy")


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["posterior"]["fields"].update(n_draws=10**9),
        lambda state: state["posterior"]["fields"].update(dimension=10**6),
        lambda state: state["actions"]["fields"].update(features=np.zeros((6, 3), dtype=np.float32)),
        lambda state: state["actions"]["fields"].update(features=np.full((6, 3), np.nan)),
        lambda state: state["actions"]["fields"].update(labels={"tuple": ["a"]}),
        lambda state: state.update(asked=10**12),
        lambda state: state.update(rewards=np.zeros(41)),
        lambda state: state.update(pending={}),
        lambda state: state["pending"]["40"]["fields"].update(features=np.zeros(4)),
        lambda state: state["pending"]["40"]["fields"].update(observation=np.zeros(4)),
        lambda state: state["pending"]["40"]["fields"].update(probability=2.0),
        lambda state: state["pending"]["40"]["fields"].update(id=3),
    ],
)
def test_parts_of_a_policy_fit_together(change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    policy = ALL["SparseIDS"](some_actions(), seed=1)
    play(policy, 40)
    policy.ask()
    state = policy.state()
    change(state)
    (tmp_path / "policy").write_bytes(pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError, match=r"^path: "):
        sb.load(tmp_path / "policy")


def test_a_file_of_the_version_before_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "policy").write_bytes(pack(KIND, 3, {"policy": "LinTS"}))
    with pytest.raises(
        sb.SaveFileError, match=r"got version 3 in .*; it was written by release 0.1 or before release 0.2"
    ):
        sb.load(tmp_path / "policy")


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = sb.LinTS(some_actions(), seed=0)
    policy.save(tmp_path / "policy")
    before = (tmp_path / "policy").read_bytes()
    play(policy, 3)

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, full_disk)
            with pytest.raises(OSError, match=r"^path: cannot write \d+ bytes to '.*policy': No space left") as full:
                policy.save(tmp_path / "policy")
            assert full.value.errno == 28
        assert (tmp_path / "policy").read_bytes() == before
        assert os.listdir(tmp_path) == ["policy"]


def test_links_permissions_and_what_is_no_file(tmp_path: Path) -> None:
    policy = sb.LinTS(some_actions(), seed=0)
    real, link = tmp_path / "real", tmp_path / "link"
    policy.save(real)
    real.chmod(0o600)
    link.symlink_to(real)
    policy.save(link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert fingerprint(sb.load(link)) == fingerprint(policy)
    policy.save(tmp_path / ("n" * 250))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"^path: cannot write \d+ bytes to 'a\\x00b': .*null"):
        policy.save("a\0b")
    for wrong in ("a\0b", pipe, "/dev/zero"):
        with pytest.raises(sb.SaveFileError, match=r"^path: expected a save file, got .*(null|not a regular file)"):
            sb.load(wrong)
    for wrong in (pipe, tmp_path):
        with pytest.raises(OSError, match="path: expected a file or a new name"):
            policy.save(wrong)


def test_a_snapshot_in_memory_does_not_change(tmp_path: Path) -> None:
    for make in ALL.values():
        policy = make(some_actions(), seed=0)
        play(policy, 5)
        before = fingerprint(policy)
        state = policy.state()
        play(policy, 5)
        assert pack(KIND, VERSION, state) == before
    with pytest.raises(TypeError, match="own: expected classes of rules, engines or policies"):
        sb.load(tmp_path / "x", 3)  # type: ignore[arg-type]


def test_saving_into_a_missing_directory_names_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        sb.LinTS(some_actions()).save(tmp_path / "nowhere" / "policy")


def test_a_mixture_of_others_and_empty_actions_are_refused(tmp_path: Path) -> None:
    """Both loaded, and ended in a KeyError or a ValueError of NumPy later."""
    policy = sb.LinearIDS(some_actions(), seed=0, selection="randomised")
    policy.ask()
    state = policy.state()
    state["pending"]["0"]["fields"]["reasons"]["fields"]["mixture"]["fields"]["second"] = 10**9
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError, match="expected mixture to"):
        sb.load(tmp_path / "policy")
    state = sb.rivals.LassoBandit(some_actions(), seed=0).state()
    state["actions"]["fields"]["features"] = np.empty((0, 3))
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError):
        sb.load(tmp_path / "policy")


def test_sums_beyond_the_limits_are_refused(tmp_path: Path) -> None:
    policy = sb.SparseIDS(some_actions(), n_draws=50, seed=0)
    play(policy, 4)
    state = policy.state()
    state["learnt"]["evidence"]["recent"]["square"] = 1e300
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError, match="expected evidence to"):
        sb.load(tmp_path / "policy")


@pytest.mark.parametrize(
    ("name", "path"),
    [("LassoBandit", ("pending", "3", "fields", "observation")), ("ESTC", ("learnt", "weights"))],
)
def test_parts_that_a_learner_needs_are_not_missing(name: str, path: tuple[str, ...], tmp_path: Path) -> None:
    """They loaded, and the next call ended in an error of NumPy."""
    policy = ALL[name](some_actions(4, 2), noise_variance=0.7, seed=1)
    play(policy, 3)
    policy.ask()
    state: Any = policy.state()
    place = state
    for one in path[:-1]:
        place = place[one]
    assert place[path[-1]] is not None
    place[path[-1]] = None
    write_atomically(tmp_path / "policy", pack(KIND, VERSION, state))
    with pytest.raises(sb.SaveFileError):
        sb.load(tmp_path / "policy")
