"""class.yaml: what may stand there, every fault with its place, and what changes what."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.app.classes import (
    ClassFile,
    ClassFileError,
    ClassPlan,
    ClassProgress,
    ClassQuestion,
    grade_class,
    read_class,
)
from grader.app.context import Context
from grader.classroom.results import Results, key_of
from grader.model.classroom import Entry, Terms
from grader.model.errors import UsageError
from tests.bank.test_faults import PARTS
from tests.classroom.fakes import NOW

WHOLE = """\
format: 1
title: Statistics, autumn
deadline: 2026-11-20T23:59:00+01:00
counts: best
seed: 5
isolation: process
questions:
  - id: mean-and-spread
    parts: [1, spread]
    weight: 2
    hidden: [far, many]
"""
RIGHT = """
def mean(x):
    return float(x.sum() / x.size)

def spread(x):
    return float(x.std())
"""


@pytest.fixture
def here(tmp_path: Path) -> Context:
    """A person in a folder of their own, with a bank of one question in three parts."""
    (tmp_path / "handed-in" / "ada").mkdir(parents=True)
    (tmp_path / "handed-in" / "ada" / "mean-and-spread.py").write_text(RIGHT)
    return Context(tmp_path, tmp_path / "data", lambda: NOW, bank=PARTS)


def graded(ctx: Context, text: str = WHOLE, *edits: str, **changes: object) -> list[ClassProgress]:
    """Grade the class of a class.yaml."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    folder = ctx.here()
    (folder / "class.yaml").write_text(text)
    plan = ClassPlan(folder / "handed-in", (), folder / "out", jobs=1, file=folder / "class.yaml")
    return list(grade_class(ctx, replace(plan, **changes)))  # type: ignore[arg-type]


def terms(ctx: Context) -> Terms:
    """What all grades of the class share."""
    with Results(ctx.here() / "out") as results:
        return results.terms


def the_entry(ctx: Context) -> Entry:
    """The one thing that counts."""
    with Results(ctx.here() / "out") as results:
        (entry,) = results.entries()
    return entry


def said(ctx: Context, *edits: str) -> list[str]:
    """What is wrong with a class.yaml, without its path."""
    with pytest.raises(ClassFileError) as found:
        graded(ctx, WHOLE, *edits)
    return [one.removeprefix(f"{ctx.here() / 'class.yaml'}:") for one in found.value.problems]


def test_a_class_is_what_its_file_says(here: Context) -> None:
    (one,) = graded(here)
    assert one.entry.report is not None
    found = terms(here)
    assert (found.title, found.counts, found.seed) == ("Statistics, autumn", "best", 5)
    assert (found.deadline, found.level) == ("2026-11-20T23:59:00+01:00", "process")
    (posed,) = found.questions
    assert (posed.id, posed.parts, posed.of, posed.weight) == ("mean-and-spread", (1, 3), 70, 2)
    assert posed.hidden == ("far", "many")
    entry = the_entry(here)
    assert entry.points == 70  # and nothing for part 2, which it would not pass
    assert entry.late

    # What only counts grades needs none; what they depend on does.
    weighed = graded(here, WHOLE, "weight: 2", "weight: 0.5", "Statistics", "Sums",
                     "[far, many]", "[few]", "11-20", "11-30", "best", "last")  # fmt: skip
    assert [p.known for p in weighed] == [True]
    now = terms(here)
    assert (now.title, now.questions[0].weight, now.questions[0].hidden) == (
        "Sums, autumn", 0.5, ("few",),
    )  # fmt: skip
    assert now.counts == "last"
    keys = [key_of(terms, one, "s") for terms in (found, now) for one in terms.questions]
    assert keys[0] == keys[1]
    entry = the_entry(here)
    assert not entry.late
    assert [p.known for p in graded(here, WHOLE, "[1, spread]", "[1]")] == [False]
    other = terms(here)
    assert key_of(other, other.questions[0], "s") != keys[0]
    assert [p.known for p in graded(here, WHOLE, "seed: 5", "seed: 6")] == [False]
    # The command line goes before the file.
    assert [p.known for p in graded(here, WHOLE, seed=6)] == [True]


def test_a_question_may_be_its_id_alone_and_most_keys_are_left_out(here: Context) -> None:
    text = "format: 1\nquestions: [parts/mean-and-spread]\n"
    (one,) = graded(here, text, level="process")
    assert not one.entry.handed.fault
    found = terms(here)
    assert found.questions[0].parts == (1, 2, 3)
    assert (found.questions[0].of, found.counts, found.deadline) == (100, "last", "")
    # A seed that was drawn once stays.
    graded(here, text, level="process")
    assert terms(here).seed == found.seed


def test_questions_are_named_in_one_place(here: Context) -> None:
    with pytest.raises(UsageError, match=r"expected --question or the questions of .*, found both"):
        graded(here, questions=("mean-and-spread",))
    none = WHOLE[: WHOLE.index("questions:")]
    with pytest.raises(UsageError, match="expected the key 'questions', or --question ID"):
        graded(here, none)
    assert len(graded(here, none, questions=("mean-and-spread",))) == 1
    assert terms(here).title == "Statistics, autumn"
    with pytest.raises(UsageError, match=r"--question ID or --class class\.yaml, found neither"):
        graded(here, file=None)
    with pytest.raises(UsageError, match=r"nowhere\.yaml: expected a class\.yaml to read"):
        graded(here, file=Path("nowhere.yaml"))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("title:", "titel:", "2:1: titel: found an unknown key; did you mean 'title'?"),
        ("weight:", "wieght:", "10:5: questions[0].wieght: found an unknown key; did you mean 'weight'?"),
        ("format: 1\n", "", "1:1: the class: expected the key 'format', found none"),
        ("seed: 5", "seed: -5", "5:1: seed: expected a number of at least 0, found the number -5"),
        ("weight: 2", "weight: 0", "10:5: questions[0].weight: expected a number above 0.0, found the number 0"),
        ("+01:00", "", "3:1: deadline: expected a time such as 2026-11-20T23:59:00+01:00, found '2026-11-20T23:59:00', which has no offset"),
        ("2026-11-20T23:59:00+01:00", "Friday", "3:1: deadline: expected a time such as 2026-11-20T23:59:00+01:00, found 'Friday'"),
        ("mean-and-spread", "mean-and-sprad", "8:5: questions[0].id: no question mean-and-sprad; did you mean mean-and-spread?"),
        ("id: mean-and-spread", "id: nowhere/mean-and-spread", "8:5: questions[0].id: expected the name of a bank before '/', found 'nowhere'"),
        ("- id: mean-and-spread", "- mean-and-spread\n  - id: mean-and-spread", "9:5: questions[1]: expected each question once, found 'mean-and-spread' again (questions[0])"),
        ("[1, spread]", "[1, 4]", "9:16: questions[0].parts[1]: expected one of the parts 1, 2, 3, spread, found 4"),
        ("[1, spread]", "[]", "9:5: questions[0].parts: expected at least one entry, found a list of 0"),
        ("[far, many]", "[far, mny]", "11:19: questions[0].hidden[1]: expected a check or a case of mean-and-spread, found 'mny'; did you mean 'many'?"),
        ("isolation: process", "layout: moodle\npattern: x\nisolation: process", "7:1: pattern: expected a layout or a pattern, found both; remove one"),
        ("title: Statistics", "title: x\ntitle: Statistics", "3:1: expected each key once, found 'title' again (first at line 2)"),
        ("title: Statistics", "title: [x", "expected YAML, found a mistake in it"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place(here: Context, old: str, new: str, problem: str) -> None:
    found = said(here, old, new)
    assert len(found) == 1
    assert problem in found[0]


def test_every_fault_is_listed_and_a_mistake_is_pointed_at(here: Context) -> None:
    assert len(said(here, "best", "worst", "weight: 2", "weight: two")) == 2
    with pytest.raises(ClassFileError) as found:
        graded(here, WHOLE, "title: Statistics", "title: [x")
    assert found.value.excerpt[1].strip() == "^"


def test_the_example_and_the_tables_of_the_docs_are_whole(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "classes.md").read_text(encoding="utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "class.yaml").write_text(example)
    ctx = Context(tmp_path, tmp_path / "data", lambda: NOW, bank=PARTS.parents[2])
    course, questions = read_class(ctx, tmp_path / "class.yaml", ())
    assert [one.weight for one in course.asked] == [1, 2, 1]
    assert [one.id for one in questions] == [one.id for one in course.asked]
    for model in (ClassFile, ClassQuestion):
        assert [key for key in model.model_fields if f"`{key}`" not in page] == []
