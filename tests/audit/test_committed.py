"""A proof is a file beside its question: small, the same each time, and read with suspicion."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import bank
from grader.app import proofs
from grader.app.context import Context
from grader.app.proofs import Due, Trust
from grader.audit import committed
from grader.audit.committed import MOST_BYTES, Proof, State, place, proof_of, standing
from grader.audit.mutation import mutate
from grader.audit.proof import audit
from grader.audit.several import Plan
from grader.bank import locate
from grader.model.audit import AuditRow, Cell
from grader.model.errors import UsageError
from grader.model.question import Question
from tests.audit import audits

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
PLAN = Plan(range(3), mutants=True)
QUESTIONS = sorted(path.stem for path in (ROOT / "questions").glob("*.y*ml"))


def proof(question: Question, /, **changes: Any) -> Proof:
    """A proof of a question as it is, for this program, without any audit."""
    own = Proof(
        question=question.id,
        digest=question.digest,
        grader=committed.grader(),
        versions=committed.versions(question),
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
    found = standing(question, PLAN, strict=False)
    again = f"drill bank audit {name} --mutants --write-proofs"
    assert found.state in {State.CURRENT, State.GRADER, State.LIBRARIES}, f"{found.text}; {again}"
    assert found.proof is not None
    assert place(question).read_bytes() == found.proof.text()
    assert {"reference", "starter", *question.spec.misconceptions} <= found.proof.programs.keys()
    assert {*question.accepted} <= {*found.proof.accepted}
    assert (sum(found.proof.killed.values()) > 0) is (found.proof.mutants > 0)


def test_no_proof_is_left_of_a_question_that_is_gone() -> None:
    found = {path.name for path in (ROOT / "questions").glob("*.json")}
    assert found == {f"{name}.proof.json" for name in QUESTIONS}


def test_a_proof_says_what_was_found_and_nothing_of_the_machine(question: Question) -> None:
    def found() -> Proof:
        report = audit(question, seeds=range(2))
        return proof_of(question, report, mutate(question, seeds=range(2)))

    first, again = found(), found()
    assert first.text() == again.text()
    assert first.programs == {"reference": "passes", "starter": "gate", "open": "gate"}
    assert (first.seeds, first.digest) == (2, question.digest)
    assert "loops" in first.styles
    assert any("relu: return np.where(x > 0" in text for text in first.equivalent)
    assert first.killed == {"gate": first.mutants - len(first.equivalent)}
    text = first.text().decode()
    assert len(text.splitlines()) > 20, "a line per fact"
    assert len(text) < 4000
    assert not [word for word in (str(question.bank), platform.node(), "second") if word in text]


def test_where_it_depends_on_the_seed_the_proof_says_on_which_it_is_not_stopped() -> None:
    cells = {"gate": Cell.VARIES, "sum": Cell.KILLS, "late": Cell.WOULD_KILL, "dtype": Cell.PASSES}
    row = AuditRow("open", "open", cells, (), 0, 3, passing_seeds={"gate": (0, 2)})
    assert committed._stopped(row, range(3)) == "gate (not on seeds 0, 2), sum"


def test_a_proof_of_this_question_by_this_grader_is_current(question: Question) -> None:
    write(question)
    found = standing(question, PLAN, strict=True)
    assert found.state is State.CURRENT
    assert found.text == "proved before: this question, this grader, 3 seeds, 7 mutants"


@pytest.mark.parametrize(
    ("changes", "plan", "state"),
    [
        ({"digest": "0" * 64}, PLAN, State.QUESTION),
        ({"question": "other"}, PLAN, State.QUESTION),
        ({"grader": "0" * 64}, PLAN, State.GRADER),
        ({"versions": {"python": "2.7"}}, PLAN, State.LIBRARIES),
        ({"seeds": 2}, PLAN, State.LESS),
        ({"remarks": 1}, PLAN, State.LESS),
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
    assert standing(question, plan, strict=True).state is state


def test_a_byte_of_a_program_is_enough_to_end_a_proof(question: Question) -> None:
    write(question)
    path = question.bank / "drills" / "gate" / "reference.py"
    path.write_text(path.read_text() + "\n")
    changed = bank.load([question.bank], "gate")
    assert standing(changed, PLAN, strict=False).text == "the question has changed since its proof"


def test_a_proof_is_no_part_of_the_question(question: Question) -> None:
    write(question)
    assert bank.load([question.bank], "gate").digest == question.digest
    assert [header.id for header in bank.headers([question.bank])] == ["gate"]


def test_what_decides_is_there_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(committed.__file__).parents[1]
    assert all((package / room / "__init__.py").is_file() for room in committed.DECIDING)
    copy = tmp_path / "grader"
    for room in committed.DECIDING:
        (copy / room).mkdir(parents=True)
        (copy / room / "one.py").write_text("1\n")
    monkeypatch.setattr(committed, "__file__", str(copy / "audit" / "committed.py"))
    before = committed.grader.__wrapped__()
    assert before == committed.grader.__wrapped__()
    for room in committed.DECIDING:
        (copy / room / "one.py").write_text("2\n")
        after = committed.grader.__wrapped__()
        assert after != before
        before = after


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"{}",
        b"[" * 100_000,
        b'{"format": 2}',
        pytest.param(b'"seeds": 3.5', id="fraction"),
        pytest.param(b'"seeds": 1' + b"0" * 5000, id="a number of 5000 digits"),
        pytest.param(b'"seeds": true', id="bool"),
        pytest.param(b'"seeds": NaN', id="nan"),
        pytest.param(b'"host": "mine", "seeds": 3', id="more"),
        pytest.param(b'"seeds": 3}', id="torn"),
    ],
)
def test_a_damaged_proof_is_none(question: Question, content: bytes) -> None:
    changes = content.startswith(b'"')
    good = proof(question).text()
    place(question).write_bytes(good.replace(b'"seeds": 3', content) if changes else content)
    found = standing(question, PLAN, strict=False)
    assert (found.state, found.proof) == (State.NONE, None)
    assert "gate.proof.json is damaged" in found.text


def test_half_a_proof_is_none(question: Question) -> None:
    good = proof(question).text()
    for size in range(0, len(good) - 2, 40):
        place(question).write_bytes(good[:size])
        assert standing(question, PLAN, strict=False).state is State.NONE


def test_a_huge_proof_is_not_read(question: Question) -> None:
    write(question)
    with place(question).open("ab") as file:
        file.write(b" " * MOST_BYTES)
    found = standing(question, PLAN, strict=False)
    assert found.text == "no proof: expected at most 262,144 bytes in gate.proof.json, found more"


def test_what_is_no_file_is_no_proof(question: Question, tmp_path: Path) -> None:
    path = place(question)
    assert standing(question, PLAN, strict=False).text == "no proof"
    elsewhere = tmp_path / "proof.json"
    elsewhere.write_bytes(proof(question).text())
    path.symlink_to(elsewhere)
    assert standing(question, PLAN, strict=False).text.endswith("found a symbolic link")
    path.unlink()
    os.mkfifo(path)
    said = standing(question, PLAN, strict=False).text
    assert said.endswith("gate.proof.json, found something that is no regular file")
    path.unlink()
    path.mkdir()
    assert standing(question, PLAN, strict=False).state is State.NONE
    inside = replace(question, spec_path=elsewhere / "questions" / "gate.yaml")
    assert standing(inside, PLAN, strict=False).text == "no proof", "of a zip"


# Which are believed.

OLD = {"grader": "0" * 64}


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """Seven questions of the bank that comes with the program, each with a current proof."""
    only = audits.question(tmp_path / "bank")
    monkeypatch.setattr(locate, "builtin", lambda: only.bank)
    questions = [replace(only, id=name) for name in "abcdefg"]
    for one in questions:
        write(one)
    return questions


def due(
    questions: Sequence[Question], trust: Trust, plan: Plan = PLAN, *, named: bool = False
) -> str:
    """The ids of the questions that are proved again."""
    found = proofs.standings(questions, plan, trust, strict=False, named=named)
    return "".join(one.question.id for one in found if one.due)


def test_what_is_current_is_not_proved_again(several: list[Question]) -> None:
    assert due(several, Trust()) == ""
    write(several[2], digest="")
    write(several[4], **OLD)
    place(several[5]).unlink()
    assert due(several, Trust()) == "cef"
    assert due(several, Trust(everything=True)) == "abcdefg"
    assert due(several, Trust(), named=True) == "abcdefg", "who names a question wants its audit"
    assert due(several, Trust(), Plan(range(4))) == "abcdefg"


def test_a_stranger_is_not_believed(
    several: list[Question], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(locate, "builtin", lambda: tmp_path / "elsewhere")
    found = proofs.standings(several, PLAN, Trust(), strict=False, named=False)
    assert [(one.standing, one.due) for one in found] == [(None, True)] * 7
    assert due(several, Trust(mine=True)) == ""


# Writing.


@pytest.fixture
def proved(question: Question) -> tuple[Any, Any]:
    return audit(question, seeds=(0,)), mutate(question, seeds=(0,))


def test_a_writer_that_is_killed_leaves_the_old_proof(
    question: Question,
    proved: tuple[Any, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ctx, one = Context(tmp_path, tmp_path, str), Due(question, None, True)
    write(question)
    before, there = place(question).read_bytes(), sorted(place(question).parent.iterdir())

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", killed)
        with pytest.raises(KeyboardInterrupt):
            proofs.found(ctx, one, *proved, Trust(write=True))
    assert place(question).read_bytes() == before
    assert sorted(place(question).parent.iterdir()) == there
    path = proofs.found(ctx, one, *proved, Trust(write=True))
    assert path == os.path.join("bank", "questions", "gate.proof.json")
    assert standing(question, Plan(range(1)), strict=False).state is State.CURRENT


def test_a_current_proof_that_says_something_else_is_warned_of(
    question: Question, proved: tuple[Any, Any], tmp_path: Path
) -> None:
    said: list[str] = []
    ctx = Context(tmp_path, tmp_path, str, say=lambda message, _: said.append(message))
    trust = Trust(write=True)
    for changes, warned in (({}, 0), ({"programs": {"open": "sum"}}, 1)):
        proofs.found(ctx, Due(question, None, True), *proved, trust)
        honest = Proof.model_validate_json(place(question).read_bytes())
        place(question).write_bytes(honest.model_copy(update=changes).text())
        known = standing(question, Plan(range(1)), strict=False)
        assert proofs.found(ctx, Due(question, known, True), *proved, Trust()) == ""
        assert len(said) == warned


def test_no_place_for_a_proof_is_known_before_anything_is_tried(
    question: Question, tmp_path: Path
) -> None:
    proofs.require_place(question)
    place(question).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"):
        proofs.require_place(question)
    inside = replace(question, spec_path=tmp_path / "bank.zip" / "questions" / "gate.yaml")
    with pytest.raises(UsageError, match="expected a place to write a proof"):
        proofs.require_place(inside)
