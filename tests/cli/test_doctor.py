"""`drill doctor` says what is there and what is missing, and fails only on what is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

import grader.programs
from tests.cli.conftest import Drill


@pytest.fixture(autouse=True)
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.cli.doctor.torch_installed", lambda: False)
    monkeypatch.setattr(grader.programs, "isolation_level", lambda: "process", raising=False)


def test_all_is_well(drill: Drill, home: Path) -> None:
    ended = drill("doctor")
    assert ended.status == 0
    for expected in ("python", "numpy", "pip install 'drill-dl[torch]'", "3 questions", str(home)):
        assert expected in ended.out
    assert "isolation  process" in ended.out
    assert not list(home.iterdir())
    data = drill("doctor", "--json").data
    assert data["ok"] is True
    assert {f["name"] for f in data["findings"]} >= {"python", "numpy", "torch", "isolation"}


def test_records_that_cannot_be_written(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILL_HOME", "/dev/null/home")
    ended = drill("doctor")
    assert ended.status == 2
    assert "/dev/null/home cannot be written" in ended.out


def test_a_bank_that_is_not_there(drill: Drill) -> None:
    ended = drill("doctor", "--bank", "nowhere")
    assert ended.status == 2
    assert "there is no such folder" in ended.out


def test_torch_that_does_not_load(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.cli.doctor.torch_installed", lambda: True)
    monkeypatch.setattr("grader.cli.doctor._ASK_TORCH", "raise ImportError('libcuda is missing')")
    ended = drill("doctor")
    assert ended.status == 2
    assert "torch does not load: ImportError: libcuda is missing" in ended.out
    monkeypatch.setattr("grader.cli.doctor._ASK_TORCH", "print('NVIDIA H200')")
    assert "NVIDIA H200" in drill("doctor").out
