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
    """A proof of a question as it is, for this program, without any audit."""
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
    """Whoever changes a question proves it anew; whether the grader changed, the audit says."""
    question = bank.load([ROOT], name)
    found = proof_status(question, PLAN)
    again = f"drill bank audit {name} --mutants --write-proofs"
    assert found.state in {ProofState.CURRENT, ProofState.GRADER, ProofState.LIBRARIES}, (
        f"{found.text}; {again}"
    )
    assert found.proof is not None
    assert proof_path(question).read_bytes() == found.proof.to_bytes()
    assert {"reference", "starter", *question.ideas} <= found.proof.programs.keys()
    assert {*question.accepted} <= {*found.proof.accepted}
    assert (sum(found.proof.killed.values()) > 0) is (found.proof.mutants > 0)


def test_a_proof_says_what_was_found_and_nothing_of_the_machine(question: Question) -> None:
    def found() -> Proof:
        report = audit_question(question, seeds=range(2))
        return make_proof(question, report, try_mutants(question, seeds=range(2)))

    first, again = found(), found()
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


def test_where_it_depends_on_the_seed_the_proof_says_on_which_it_is_not_stopped() -> None:
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
def test_a_proof_is_about_one_question_one_grader_and_so_many_seeds(
    question: Question, changes: dict[str, Any], plan: AuditPlan, state: ProofState
) -> None:
    write(question, **changes)
    assert proof_status(question, plan).state is state


def test_a_proof_is_no_part_of_the_question_and_a_byte_of_a_program_ends_it(
    question: Question,
) -> None:
    write(question)
    assert bank.load([question.bank], "gate").digest == question.digest
    assert [header.id for header in bank.headers([question.bank])] == ["gate"]
    current = "proved before: this question, this grader, 3 seeds, 7 mutants"
    assert proof_status(question, PLAN).text == current
    path = question.bank / "drills" / "gate" / "reference.py"
    path.write_text(path.read_text() + "\n")
    changed = bank.load([question.bank], "gate")
    assert proof_status(changed, PLAN).text == "the question has changed since its proof"


def test_what_decides_is_there_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_words_about_code_decide_nothing() -> None:
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
def test_a_damaged_proof_is_none(question: Question, content: bytes) -> None:
    within = content.startswith(b'"')
    good = proof(question).to_bytes()
    proof_path(question).write_bytes(good.replace(b'"seeds": 3', content) if within else content)
    found = proof_status(question, PLAN)
    assert (found.state, found.proof) == (ProofState.NONE, None)
    assert "gate.proof.json is damaged" in found.text


def test_a_huge_proof_is_not_read(question: Question) -> None:
    write(question)
    with proof_path(question).open("ab") as file:
        file.write(b" " * MAX_PROOF_BYTES)
    found = proof_status(question, PLAN)
    assert found.text == "no proof: expected at most 262,144 bytes in gate.proof.json, found more"


def test_what_is_no_file_is_no_proof(question: Question, tmp_path: Path) -> None:
    path = proof_path(question)
    assert proof_status(question, PLAN).text == "no proof"
    elsewhere = tmp_path / "proof.json"
    elsewhere.write_bytes(proof(question).to_bytes())
    path.symlink_to(elsewhere)
    assert proof_status(question, PLAN).text.endswith("found a symbolic link")
    path.unlink()
    os.mkfifo(path)
    said = proof_status(question, PLAN).text
    assert said.endswith("gate.proof.json, found a pipe")
    path.unlink()
    path.mkdir()
    assert proof_status(question, PLAN).state is ProofState.NONE
