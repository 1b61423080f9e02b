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
from grader.audit.audit import Plan, audit
from grader.audit.mutation import mutate
from grader.audit.proofs import MOST_BYTES, Proof, State, place, proof_of, standing
from grader.model.audit import AuditRow, Cell
from grader.model.question import Question
from tests.audit import audits

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
PLAN = Plan(range(3), mutants=True)
STRICT = replace(PLAN, strict=True)
QUESTIONS = sorted(path.stem for path in (ROOT / "questions").glob("*.y*ml"))


def proof(question: Question, /, **changes: Any) -> Proof:
    """A proof of a question as it is, for this program, without any audit."""
    own = Proof(
        question=question.id,
        digest=question.digest,
        grader=proofs.grader(),
        versions=proofs.versions(question),
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
    place(question).write_bytes(proof(question, **changes).text())


@pytest.fixture
def question(tmp_path: Path) -> Question:
    return audits.question(tmp_path / "bank")


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_committed_proof_is_about_its_question_as_it_is(name: str) -> None:
    """Whoever changes a question proves it anew; whether the grader changed, the audit says."""
    question = bank.load([ROOT], name)
    found = standing(question, PLAN)
    again = f"drill bank audit {name} --mutants --write-proofs"
    assert found.state in {State.CURRENT, State.GRADER, State.LIBRARIES}, f"{found.text}; {again}"
    assert found.proof is not None
    assert place(question).read_bytes() == found.proof.text()
    assert {"reference", "starter", *question.ideas} <= found.proof.programs.keys()
    assert {*question.accepted} <= {*found.proof.accepted}
    assert (sum(found.proof.killed.values()) > 0) is (found.proof.mutants > 0)


def test_a_proof_says_what_was_found_and_nothing_of_the_machine(question: Question) -> None:
    def found() -> Proof:
        report = audit(question, seeds=range(2))
        return proof_of(question, report, mutate(question, seeds=range(2)))

    first, again = found(), found()
    assert first.text() == again.text()
    assert first.programs == {"reference": "passes", "starter": "gate", "open": "gate"}
    assert (first.seeds, first.digest) == (2, question.digest)
    assert "longdouble" in first.styles
    assert any("relu: return np.where(x > 0" in text for text in first.equivalent)
    # One bound survives: at 0 both sides of the gate are 0.
    assert first.killed == {"gate": first.mutants - len(first.equivalent) - 1}
    text = first.text().decode()
    assert len(text.splitlines()) > 20, "a line per fact"
    assert len(text) < 4000
    assert not [word for word in (str(question.bank), platform.node(), "second") if word in text]


def test_where_it_depends_on_the_seed_the_proof_says_on_which_it_is_not_stopped() -> None:
    cells = {"gate": Cell.VARIES, "sum": Cell.KILLS, "late": Cell.WOULD_KILL, "dtype": Cell.PASSES}
    row = AuditRow("open", "open", cells, (), 0, 3, passing_seeds={"gate": (0, 2)})
    assert proofs._stopped(row, range(3)) == "gate (not on seeds 0, 2), sum"


@pytest.mark.parametrize(
    ("changes", "plan", "state"),
    [
        ({"digest": "0" * 64}, PLAN, State.QUESTION),
        ({"question": "other"}, PLAN, State.QUESTION),
        ({"grader": "0" * 64}, PLAN, State.GRADER),
        ({"versions": {"python": "2.7"}}, PLAN, State.LIBRARIES),
        ({"seeds": 2}, PLAN, State.LESS),
        ({"remarks": 1}, STRICT, State.LESS),
        ({"remarks": 1}, PLAN, State.CURRENT),
        ({"seeds": 2, "grader": ""}, PLAN, State.LESS),
        ({"seeds": 2, "digest": ""}, PLAN, State.QUESTION),
        ({}, replace(PLAN, mutants=False), State.CURRENT),
        ({"seeds": 4}, PLAN, State.CURRENT),
    ],
)
def test_a_proof_is_about_one_question_one_grader_and_so_many_seeds(
    question: Question, changes: dict[str, Any], plan: Plan, state: State
) -> None:
    write(question, **changes)
    assert standing(question, plan).state is state


def test_a_proof_is_no_part_of_the_question_and_a_byte_of_a_program_ends_it(
    question: Question,
) -> None:
    write(question)
    assert bank.load([question.bank], "gate").digest == question.digest
    assert [header.id for header in bank.headers([question.bank])] == ["gate"]
    current = "proved before: this question, this grader, 3 seeds, 7 mutants"
    assert standing(question, PLAN).text == current
    path = question.bank / "drills" / "gate" / "reference.py"
    path.write_text(path.read_text() + "\n")
    changed = bank.load([question.bank], "gate")
    assert standing(changed, PLAN).text == "the question has changed since its proof"


def test_what_decides_is_there_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(proofs.__file__).parents[1]
    assert all((package / room / "__init__.py").is_file() for room in proofs.DECIDING)
    copy = tmp_path / "grader"
    for room in proofs.DECIDING:
        (copy / room).mkdir(parents=True)
        (copy / room / "one.py").write_text("1\n")
    monkeypatch.setattr(proofs, "__file__", str(copy / "audit" / "proofs.py"))
    before = proofs.grader.__wrapped__()
    assert before == proofs.grader.__wrapped__()
    for room in proofs.DECIDING:
        (copy / room / "one.py").write_text("2\n")
        after = proofs.grader.__wrapped__()
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
    good = proof(question).text()
    place(question).write_bytes(good.replace(b'"seeds": 3', content) if within else content)
    found = standing(question, PLAN)
    assert (found.state, found.proof) == (State.NONE, None)
    assert "gate.proof.json is damaged" in found.text


def test_a_huge_proof_is_not_read(question: Question) -> None:
    write(question)
    with place(question).open("ab") as file:
        file.write(b" " * MOST_BYTES)
    found = standing(question, PLAN)
    assert found.text == "no proof: expected at most 262,144 bytes in gate.proof.json, found more"


def test_what_is_no_file_is_no_proof(question: Question, tmp_path: Path) -> None:
    path = place(question)
    assert standing(question, PLAN).text == "no proof"
    elsewhere = tmp_path / "proof.json"
    elsewhere.write_bytes(proof(question).text())
    path.symlink_to(elsewhere)
    assert standing(question, PLAN).text.endswith("found a symbolic link")
    path.unlink()
    os.mkfifo(path)
    said = standing(question, PLAN).text
    assert said.endswith("gate.proof.json, found a pipe")
    path.unlink()
    path.mkdir()
    assert standing(question, PLAN).state is State.NONE
