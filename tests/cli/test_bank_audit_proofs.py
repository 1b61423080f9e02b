"""`drill bank audit`: what proofs are worth, holes that mutants show, a folder that is a bank."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from grader import bank as grader_bank
from grader.audit import audit as auditing
from grader.audit import proofs
from grader.bank import load
from grader.model.audit import AuditReport
from grader.model.question import Question
from tests.audit.audits import AT_ZERO, gate
from tests.bank.specs import write_bank
from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

MUTANTS = ("--mutants", "--seeds", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bank that comes with the program: two questions, of which `gate` can be proved."""
    bank = tmp_path / "bank"
    gate(bank, AT_ZERO)
    for name, other in (("questions/gate.yaml", "door.yaml"), ("drills/gate", "door")):
        (bank / name).with_name(other).symlink_to(bank / name)
    monkeypatch.setattr(grader_bank, "builtin", lambda: bank)
    return bank


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which questions are audited, none of them in earnest."""
    found: list[str] = []

    def audit(question: Question, **_: Any) -> AuditReport:
        found.append(question.id)
        return AuditReport(question.id, question.spec.title, (0, 1, 2), 0.0, (), (), ())

    monkeypatch.setattr(auditing, "audit", audit)
    return found


def claim(folder: Path, *names: str, **changes: Any) -> None:
    """Write a proof of questions that nobody has proved."""
    for name in names:
        question = load([folder], name)
        text = proofs.Proof(
            question=name, digest=question.digest, grader=proofs.grader(),
            versions=proofs.versions(question), seeds=3, remarks=0, programs={}, accepted=[],
            styles=[], mutants=13, killed={}, equivalent=[], explained=[],
        ).model_copy(update=changes).text()  # fmt: skip
        proofs.place(question).write_bytes(text)


def test_a_proof_is_written_after_an_audit_without_faults(folder: Path, real: Drill) -> None:
    ended = real("bank", "audit", "gate", *MUTANTS, "--write-proofs")
    assert ended.status == 0
    assert "gate: no proof; proved now" in ended.out
    path = folder / "questions" / "gate.proof.json"
    assert str(path) in ended.out
    ended = real("bank", "audit", "gate", *MUTANTS)
    begin = "gate: proved before: this question, this grader, 1 seed, 13 mutants; proved now"
    assert ended.out.startswith(begin)
    assert "all mutants" in ended.out or "mutants of the reference" in ended.out
    assert ended.err == "", "it says what was found again"


def test_no_proof_is_written_of_a_question_with_a_fault(folder: Path, real: Drill) -> None:
    gate(folder)  # nothing is explained any more
    assert real("bank", "audit", "gate", *MUTANTS, "--write-proofs").status == 3
    (folder / "drills/gate/starter.py").write_bytes(
        (folder / "drills/gate/reference.py").read_bytes()
    )
    assert real("bank", "audit", "gate", *MUTANTS, "--write-proofs").status == 3
    assert not (folder / "questions" / "gate.proof.json").exists()


def test_only_what_is_not_current_is_tried(folder: Path, real: Drill, tried: list[str]) -> None:
    claim(folder, "door", "gate")
    ended = real("bank", "audit", "--jobs", "1")
    assert (ended.status, ended.err, tried) == (0, "", [])
    before = "proved before: this question, this grader, 3 seeds, 13 mutants"
    assert ended.out == (
        f"door: {before}\ngate: {before}\n\nall 2 are ready, 2 of them proved before\n"
    )
    claim(folder, "gate", digest="0")
    ended = real("bank", "audit", "--jobs", "1")
    assert (ended.status, tried) == (0, ["gate"])
    assert "gate: the question has changed since its proof; proved now\n" in ended.out
    assert ended.out.endswith("\nall 2 are ready, 1 of them proved before\n")
    real("bank", "audit", "--jobs", "1", "--all")
    assert tried == ["gate", "door", "gate"]


def test_a_bank_of_a_stranger_is_proved_whatever_lies_in_it(
    folder: Path, real: Drill, tried: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(grader_bank, "builtin", lambda: tmp_path)
    claim(folder, "door", "gate")
    ended = real("--bank", str(folder), "bank", "audit", "--jobs", "1", "--json")
    assert (tried, ended.data["proofs"]) == (["door", "gate"], [])
    monkeypatch.chdir(folder)
    real("bank", "audit", "--jobs", "1")
    assert tried == ["door", "gate"] * 2
    real("bank", "audit", "--jobs", "1", "--mine")
    assert tried == ["door", "gate"] * 2


@pytest.mark.parametrize("words", [(), ("--mutants", "--at-most", "3")])
def test_proofs_are_of_all_mutants(folder: Path, real: Drill, words: tuple[str, ...]) -> None:
    real("bank", "audit", "gate", "--write-proofs", *words).refused("--mutants without --at-most")


def test_a_proof_is_not_written_through_a_link(
    folder: Path, real: Drill, tried: list[str], tmp_path: Path
) -> None:
    (folder / "questions" / "gate.proof.json").symlink_to(tmp_path / "elsewhere")
    assert real("bank", "audit", "gate", *MUTANTS, "--write-proofs").status == 2
    assert tried == []
    assert not (tmp_path / "elsewhere").exists()


def test_a_hole_is_shown_and_ends_with_3(tmp_path: Path, real: Drill) -> None:
    bank = str(gate(tmp_path / "bank").bank)
    ended = real("bank", "audit", "gate", "--mutants", "--seeds", "2", "--bank", bank)
    assert ended.status == 3
    assert "SURVIVES gate_backward, line 6: another comparison" in ended.out
    assert "+ return np.where(x >= 0, grad_y, 0).astype(x.dtype)" in ended.out
    assert real("bank", "audit", "gate", "--seeds", "2", "--bank", bank).status == 0


def test_an_explained_one_ends_with_0(tmp_path: Path, real: Drill) -> None:
    bank = str(gate(tmp_path / "bank", AT_ZERO).bank)
    ended = real("bank", "audit", "gate", "--mutants", "--json", "--bank", bank)
    assert ended.status == 0
    (question,) = ended.data["questions"]
    assert question["mutants"]["explained"] == 1
    assert question["mutants"]["score"] == 1.0
    assert ended.data["ok"] is True


def test_a_faulty_question_has_its_mutants_left_alone(tmp_path: Path, real: Drill) -> None:
    question = gate(tmp_path / "bank")
    (question.bank / "drills/gate/starter.py").write_bytes(question.reference)
    ended = real("bank", "audit", "gate", "--mutants", "--bank", str(question.bank))
    assert ended.status == 3
    assert "the mutants of gate are not tried: its audit has problems" in ended.err
    assert "mutants of the reference" not in ended.out


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
