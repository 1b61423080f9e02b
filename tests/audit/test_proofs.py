"""A proof is a file beside its question: small, the same each time, and read with suspicion."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import bank
from grader.audit import proofs
from grader.audit.audit import AuditPlan, audit_question
from grader.audit.mutant_trials import try_mutants
from grader.audit.proofs import (
    Proof,
    ProofState,
    make_proof,
    proof_path,
    proof_status,
)
from grader.model.audit import AuditRow, MatrixCell
from grader.model.limits import MAX_PROOF_BYTES
from grader.model.question import Question
from tests.audit import audits

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
PLAN = AuditPlan(range(3), mutants=True)
STRICT = replace(PLAN, strict=True)
QUESTIONS = sorted(path.stem for path in (ROOT / "questions").glob("*.y*ml"))


def proof(question: Question, /, **changes: Any) -> Proof:
    """Return a current proof of a question, without any audit."""
    own = Proof(
        question=question.id,
        digest=question.digest,
        grader=proofs.grader_digest(),
        versions=proofs.proof_versions(question),
        seeds=3,
        remarks=0,
        programs={"reference": "passes", "open": "gate"},
        accepted=[],
        styles=[],
        mutants=7,
        killed={"gate": 7},
        equivalent=[],
        explained=[],
    )
    return own.model_copy(update=changes)


def write(question: Question, /, **changes: Any) -> None:
    proof_path(question).write_bytes(proof(question, **changes).to_bytes())


@pytest.fixture
def question(tmp_path: Path) -> Question:
    return audits.question(tmp_path / "bank")


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_committed_proof_is_about_its_question_as_it_is(name: str) -> None:
    """A changed question needs a new proof; the audit reports a changed grader."""
    question = bank.load_question([ROOT], name)
    status = proof_status(question, PLAN)
    again = f"drill bank audit {name} --mutants --write-proofs"
    assert status.state in {ProofState.CURRENT, ProofState.GRADER, ProofState.LIBRARIES}, (
        f"{status.text}; {again}"
    )
    assert status.proof is not None
    assert proof_path(question).read_bytes() == status.proof.to_bytes()
    assert {"reference", "starter", *question.ideas} <= status.proof.programs.keys()
    assert {*question.accepted} <= {*status.proof.accepted}
    assert (sum(status.proof.killed.values()) > 0) is (status.proof.mutants > 0)


def test_a_proof_has_the_results_and_nothing_about_the_machine(question: Question) -> None:
    def prove() -> Proof:
        report = audit_question(question, seeds=range(2))
        return make_proof(question, report, try_mutants(question, seeds=range(2)))

    first, again = prove(), prove()
    assert first.to_bytes() == again.to_bytes()
    assert first.programs == {"reference": "passes", "starter": "gate", "open": "gate"}
    assert (first.seeds, first.digest) == (2, question.digest)
    assert "longdouble" in first.styles
    assert any("relu: return np.where(x > 0" in text for text in first.equivalent)
    # One bound survives: at 0 both sides of the gate are 0.
    assert first.killed == {"gate": first.mutants - len(first.equivalent) - 1}
    text = first.to_bytes().decode()
    assert len(text.splitlines()) > 20, "a line per fact"
    assert len(text) < 4000
    assert not [word for word in (str(question.bank), platform.node(), "second") if word in text]


def test_a_proof_lists_the_seeds_on_which_a_program_is_not_stopped() -> None:
    cells = {
        "gate": MatrixCell.VARIES,
        "sum": MatrixCell.KILLS,
        "late": MatrixCell.WOULD_KILL,
        "dtype": MatrixCell.PASSES,
    }
    row = AuditRow("open", "open", cells, (), 0, 3, passing_seeds={"gate": (0, 2)})
    assert proofs._stopping_checks(row, range(3)) == "gate (not on seeds 0, 2), sum"


@pytest.mark.parametrize(
    ("changes", "plan", "state"),
    [
        ({"digest": "0" * 64}, PLAN, ProofState.QUESTION),
        ({"question": "other"}, PLAN, ProofState.QUESTION),
        ({"grader": "0" * 64}, PLAN, ProofState.GRADER),
        ({"versions": {"python": "2.7"}}, PLAN, ProofState.LIBRARIES),
        ({"seeds": 2}, PLAN, ProofState.LESS),
        ({"remarks": 1}, STRICT, ProofState.LESS),
        ({"remarks": 1}, PLAN, ProofState.CURRENT),
        ({"seeds": 2, "grader": ""}, PLAN, ProofState.LESS),
        ({"seeds": 2, "digest": ""}, PLAN, ProofState.QUESTION),
        ({}, replace(PLAN, mutants=False), ProofState.CURRENT),
        ({"seeds": 4}, PLAN, ProofState.CURRENT),
    ],
)
def test_a_proof_is_about_one_question_one_grader_and_a_number_of_seeds(
    question: Question, changes: dict[str, Any], plan: AuditPlan, state: ProofState
) -> None:
    write(question, **changes)
    assert proof_status(question, plan).state is state


def test_a_proof_is_outdated_when_a_byte_of_a_program_changes(
    question: Question,
) -> None:
    write(question)
    assert bank.load_question([question.bank], "gate").digest == question.digest
    assert [header.id for header in bank.headers([question.bank])] == ["gate"]
    current = "proved before: this question, this grader, 3 seeds, 7 mutants"
    assert proof_status(question, PLAN).text == current
    path = question.bank / "drills" / "gate" / "reference.py"
    path.write_text(path.read_text() + "\n")
    changed = bank.load_question([question.bank], "gate")
    assert proof_status(changed, PLAN).text == "the question has changed since its proof"


def test_the_grader_digest_covers_every_room_that_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(proofs.__file__).parents[1]
    assert all((package / room / "__init__.py").is_file() for room in proofs.VERDICT_ROOMS)
    copy = tmp_path / "grader"
    for room in proofs.VERDICT_ROOMS:
        (copy / room).mkdir(parents=True)
        (copy / room / "one.py").write_text("1\n")
    monkeypatch.setattr(proofs, "__file__", str(copy / "audit" / "proofs.py"))
    before = proofs.grader_digest.__wrapped__()
    assert before == proofs.grader_digest.__wrapped__()
    for room in proofs.VERDICT_ROOMS:
        (copy / room / "one.py").write_text("2\n")
        after = proofs.grader_digest.__wrapped__()
        assert after != before
        before = after


def test_comments_and_docstrings_do_not_change_the_digest() -> None:
    source = "def f(x):\n    return x + 1\n\nclass A:\n    b = 1\n"
    worded = (
        "'Words.'\n# A comment.\ndef f(x):\n    'Words.'\n    return (x + 1)\n"
        "class A:\n    'Words.'\n    b = 1  # more\n"
    )
    assert proofs._code(source.encode()) == proofs._code(worded.encode())
    for other in (source.replace("1", "2", 1), source.replace("(x)", "(x, /)"), source + "f\n"):
        assert proofs._code(other.encode()) != proofs._code(source.encode())


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe", b"null", b"{}", b"[" * 100_000, b'{"format": 2}', b'"seeds": 3.5',
        b'"seeds": 1' + b"0" * 5000, b'"seeds": true', b'"seeds": NaN',
        b'"host": "mine", "seeds": 3', b'"seeds": 3}',
    ],
    ids=lambda content: content[:30].decode(errors="replace"),
)  # fmt: skip
def test_a_damaged_proof_counts_as_no_proof(question: Question, content: bytes) -> None:
    within = content.startswith(b'"')
    good = proof(question).to_bytes()
    proof_path(question).write_bytes(good.replace(b'"seeds": 3', content) if within else content)
    status = proof_status(question, PLAN)
    assert (status.state, status.proof) == (ProofState.NONE, None)
    assert "gate.proof.json is damaged" in status.text


def test_a_huge_proof_is_not_read(question: Question) -> None:
    write(question)
    with proof_path(question).open("ab") as file:
        file.write(b" " * MAX_PROOF_BYTES)
    status = proof_status(question, PLAN)
    assert status.text == "no proof: expected at most 262,144 bytes in gate.proof.json, found more"


def test_something_else_than_a_file_is_no_proof(question: Question, tmp_path: Path) -> None:
    path = proof_path(question)
    assert proof_status(question, PLAN).text == "no proof"
    elsewhere = tmp_path / "proof.json"
    elsewhere.write_bytes(proof(question).to_bytes())
    path.symlink_to(elsewhere)
    assert proof_status(question, PLAN).text.endswith("found a symbolic link")
    path.unlink()
    os.mkfifo(path)
    text = proof_status(question, PLAN).text
    assert text.endswith("gate.proof.json, found a pipe")
    path.unlink()
    path.mkdir()
    assert proof_status(question, PLAN).state is ProofState.NONE
