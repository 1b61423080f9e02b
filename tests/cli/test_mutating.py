"""`drill bank audit --mutants` shows the holes of a question, and ends with 3 if there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.test_mutation import AT_ZERO, gate
from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")


def test_a_hole_is_shown_and_ends_with_3(tmp_path: Path, real: Drill) -> None:
    bank = str(gate(tmp_path / "bank").bank)
    ended = real("bank", "audit", "gate", "--mutants", "--seeds", "2", "--bank", bank)
    assert ended.status == 3
    assert "SURVIVES gate_backward, line 6: another comparison" in ended.out
    assert "+ return np.where(x >= 0, grad_y, 0).astype(x.dtype)" in ended.out
    assert real("bank", "audit", "gate", "--seeds", "2", "--bank", bank).status == 0


def test_an_explained_one_ends_with_0(tmp_path: Path, real: Drill) -> None:
    bank = str(gate(tmp_path / "bank", survivors=AT_ZERO).bank)
    ended = real("bank", "audit", "gate", "--mutants", "--json", "--bank", bank)
    assert ended.status == 0
    (question,) = ended.data["questions"]
    assert question["mutants"]["explained"] == 1
    assert question["mutants"]["score"] == 1.0
    assert ended.data["ok"] is True


def test_a_sample_says_that_it_is_one(tmp_path: Path, real: Drill) -> None:
    bank = str(gate(tmp_path / "bank", survivors=AT_ZERO).bank)
    ended = real("bank", "audit", "gate", "--mutants", "--at-most", "3", "--bank", bank)
    assert ended.status == 0
    assert "3 of 13 mutants tried" in ended.out
    assert "in a sample of 3" in ended.out


def test_a_faulty_question_has_its_mutants_left_alone(tmp_path: Path, real: Drill) -> None:
    question = gate(tmp_path / "bank")
    (question.bank / "drills/gate/starter.py").write_bytes(question.reference)
    ended = real("bank", "audit", "gate", "--mutants", "--bank", str(question.bank))
    assert ended.status == 3
    assert "the mutants of gate are not tried: its audit has problems" in ended.err
    assert "mutants of the reference" not in ended.out


def test_how_many_is_asked_with_mutants_only(tmp_path: Path, real: Drill) -> None:
    bank = str(gate(tmp_path / "bank").bank)
    ended = real("bank", "audit", "gate", "--at-most", "3", "--bank", bank)
    assert ended.status == 2
    assert "add --mutants" in ended.err
