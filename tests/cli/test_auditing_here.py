"""`drill bank audit` in a folder that is a bank."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bank.specs import write_bank
from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")


def audited(real: Drill, *words: str) -> list[str]:
    """Return the ids that are audited."""
    ended = real("bank", "audit", *words, "--seeds", "1", "--json")
    assert (ended.status, ended.err) == (0, ""), ended.out
    assert ended.data["format"] == 2
    return [report["question"] for report in ended.data["questions"]]


def test_a_new_question_is_audited_without_naming_the_bank(real: Drill) -> None:
    real("bank", "new", "my-norm")
    assert audited(real, "my-norm") == ["my-norm"]
    assert audited(real) == ["my-norm"], "all of the folder, and nothing else"


def test_a_bank_that_is_named_comes_before_the_current_folder(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real("bank", "new", "my-norm")
    other = write_bank(tmp_path / "other")
    assert real("--bank", str(other), "bank", "audit", "my-norm").status == 2
    monkeypatch.setenv("DRILL_BANK", os.fspath(other))
    assert real("bank", "audit", "my-norm").status == 2


def test_elsewhere_the_id_is_not_found(real: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    real("bank", "new", "my-norm")
    monkeypatch.chdir("questions")
    ended = real("bank", "audit", "my-norm")
    assert ended.status == 2
    assert "no question my-norm" in ended.err


def test_a_file_whose_name_is_no_id_hides_no_other(real: Drill) -> None:
    real("bank", "new", "my-norm")
    real("bank", "new", "q-name", "--one-file")
    Path("questions/q-name.yaml").rename("questions/Q_Name.yaml")
    assert sorted(audited(real)) == ["Q_Name", "my-norm"]
