"""`drill doctor` lists the state of the machine, and fails only if a grade cannot run."""

from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from grader.commands.context import INSTALL_TORCH
from grader.model.errors import GraderError
from grader.sandbox.client import Isolation, WorkerClient
from grader.sandbox.worker.walls.canary import ACTS
from tests.commands.conftest import ROOT, Drill, without_torch


@pytest.fixture(autouse=True)
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.commands.context.find_spec", without_torch)


def test_doctor_shows_a_good_machine_and_ends_with_0(drill: Drill, home: Path) -> None:
    result = drill("doctor")
    assert result.status == 0
    lines = result.out.splitlines()
    assert lines[0] == "Ready for 2 numpy questions; not for 1 torch question."
    assert lines[1] == "    MISSING torch: not installed; only some questions need it"
    assert lines[2].startswith("            pip install torch==")
    assert len(lines) <= 22
    there = ("versions    drill ", "numpy", "machine", "3 questions", f"{home}: 0 grades")
    for expected in there:
        assert expected in " ".join(result.out.split("\n                "))
    assert f"isolation   strong: {len(ACTS)} of {len(ACTS)} forbidden things" in result.out
    assert lines[-1] == "Next: drill doctor --walls"
    assert not list(home.iterdir())
    data = drill("doctor", "--json").data
    assert data["ok"] is True
    assert data["ready"] == lines[0]
    assert {f["name"] for f in data["findings"]} >= {"versions", "machine", "torch", "isolation"}


def test_walls_are_listed_by_their_own_option(drill: Drill) -> None:
    out = drill("doctor", "--walls").out
    assert all(f"refused {words}\n" in out for words in ACTS.values())


def test_doctor_reports_records_that_cannot_be_written(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_HOME", "/dev/null/home")
    result = drill("doctor")
    assert result.status == 2
    assert "/dev/null/home cannot be written" in result.out


def test_torch_that_does_not_load(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.commands.context.find_spec", str)
    monkeypatch.setattr(
        "grader.commands.doctor._ASK_TORCH", "raise ImportError('libcuda is missing')"
    )
    result = drill("doctor")
    assert result.status == 2
    assert "MISSING torch: does not load: ImportError: libcuda is missing" in result.out
    monkeypatch.setattr("grader.commands.doctor._ASK_TORCH", "print('NVIDIA H200')")
    assert "NVIDIA H200" in drill("doctor").out


def test_missing_walls_are_named(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    acts = dict.fromkeys(ACTS, "refused") | {"network": "done"}
    weak = Isolation(acts, ("Landlock: this kernel has no Landlock",))
    monkeypatch.setattr(WorkerClient, "isolation", weak)
    result = drill("doctor")
    page = " ".join(result.out.split())
    assert f"WEAK isolation: limited: {len(ACTS) - 1} of {len(ACTS)} forbidden things" in page
    assert "grade only the code of people you trust" in page
    assert result.status == 0
    walls = drill("doctor", "--walls").out
    assert "done open a network connection" in walls
    assert "no wall: Landlock: this kernel has no Landlock" in walls


def test_a_worker_that_does_not_start(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: WorkerClient) -> Isolation:
        raise GraderError("the process that runs programs did not start: no numpy", hint="see")

    monkeypatch.setattr(WorkerClient, "isolation", property(fails))
    result = drill("doctor")
    assert "did not start: no numpy" in result.out
    assert result.status == 4


def test_the_suggested_version_of_torch_is_the_tested_one() -> None:
    constraints = (ROOT / "constraints.txt").read_text()
    (pinned,) = (line for line in constraints.splitlines() if line.startswith("torch="))
    assert INSTALL_TORCH.startswith(f"pip install {pinned} ")


def test_a_user_without_a_home_is_told_what_to_set(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DRILL_HOME", "HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", dict[int, object]().__getitem__)
    drill("list").refused("expected HOME or DRILL_HOME to be set", "export DRILL_HOME=DIR")
