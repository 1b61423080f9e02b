"""A class from its folder to its verdicts, graded for real; and class.yaml: every fault, its place."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

import csv
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.bank import load_question
from grader.classroom.class_file import ClassFile, ClassQuestion, LateKeys
from grader.classroom.export import export
from grader.classroom.grading_jobs import with_equal_points
from grader.classroom.notices import NothingHandedIn
from grader.classroom.overrides import ClassFileError
from grader.classroom.report import class_findings
from grader.classroom.results import ClassResults, grade_key
from grader.classroom.submission_layout import AnswerNames, best_pattern
from grader.commands.class_grade import ClassPlan, ClassProgress, grade_class, read_class
from grader.commands.context import Context
from grader.model.classroom import ClassEntry, ClassSettings, SubmittedProgram
from grader.model.errors import UsageError
from tests.bank.test_validation_errors import PARTS
from tests.classroom.builders import (
    BANK,
    NOW,
    PROGRAMS,
    REFERENCE,
    ROOT,
    Files,
    graded,
    notebook,
    tree,
)
from tests.classroom.test_careful_teacher import ESTIMATE


def entries_by_student(folder: Path) -> dict[str, ClassEntry]:
    """Return the entries that count, by student."""
    with ClassResults(folder / "out") as results:
        return {entry.hand_in.student: entry for entry in results.counting_entries()}


def verdicts(folder: Path) -> dict[str, tuple[str, int | None]]:
    return {
        name: (entry.verdict, entry.points) for name, entry in entries_by_student(folder).items()
    }


def test_a_class_is_graded_and_continued(tmp_path: Path) -> None:
    idea = load_question([PROGRAMS.parents[1]], "deviations").variants["forgot-weight"][0].decode()
    submissions = tree(tmp_path / "in", {
        "ada/deviations.py": REFERENCE, "dov/deviations.py": REFERENCE,
        "ben/deviations.py": (PROGRAMS / "starter.py").read_text(),
        "cem/deviations.py": f"{REFERENCE}\n\n{idea}", "fay/deviations.py": "while True: pass\n",
        "ada/notes.txt": "question: ledger\n", "ada/.drill": "question: ledger\n", "eve/x.csv": "",
    })  # fmt: skip
    (submissions / "eve" / "deviations.py").symlink_to(PROGRAMS / "reference.py")
    finished = graded(tmp_path, jobs=2)
    assert sorted(progress.done for progress in finished) == [1, 2, 3, 4, 5, 6]
    assert {progress.total_files for progress in finished} == {6}
    assert verdicts(tmp_path) == {
        "ada": ("pass", 100), "ben": ("fail", 0), "cem": ("fail", 0), "dov": ("pass", 100),
        "eve": ("no answer", 0), "fay": ("limit", 0),
    }  # fmt: skip
    entries = entries_by_student(tmp_path)
    assert "link" in entries["eve"].hand_in.fault
    assert entries["cem"].report is not None
    assert [idea.id for idea in entries["cem"].report.misconceptions] == ["forgot-weight"]
    # Two programs that are the same are graded once.
    assert entries["ada"].report == entries["dov"].report
    # Begun again, all of it is known; a changed file alone is graded.
    assert all(progress.was_known for progress in graded(tmp_path))
    (submissions / "ben" / "deviations.py").write_text(f"# repaired\n{REFERENCE}")
    fresh = [progress for progress in graded(tmp_path) if not progress.was_known]
    assert [progress.entry.hand_in.student for progress in fresh] == ["ben"]
    assert verdicts(tmp_path)["ben"] == ("pass", 100)


def test_a_program_of_several_files_is_graded_with_all_of_them(tmp_path: Path) -> None:
    split = "from __future__ import annotations\nfrom tools import *\nfrom work import *\n"
    names = sorted(set(re.findall(r"^(?:def|class) (\w+)", REFERENCE, re.MULTILINE)))
    work = f"import tools\n{REFERENCE}\n__all__ = {names!r}\n"
    tree(tmp_path / "in", {
        "ada/deviations.py": split, "ada/tools.py": "import math\n", "ada/work.py": work,
        "ben/deviations.py": split, "ben/tools.py": "1 / 0\n", "ben/work.py": work,
        "cem/deviations.py": split, "cem/tools.py": "def f(:\n", "cem/work.py": work,
        "dov/deviations.py": split, "dov/tools.py": "while True: pass\n", "dov/work.py": work,
        "eve/deviations.py": split, "eve/tools.py": "",
    })  # fmt: skip
    graded(tmp_path, jobs=2)
    assert verdicts(tmp_path) == {
        "ada": ("pass", 100), "ben": ("error", 0), "cem": ("error", 0), "dov": ("limit", 0),
        "eve": ("error", 0),
    }  # fmt: skip
    reports = {name: each.report for name, each in entries_by_student(tmp_path).items()}
    messages = {name: each.message for name, each in reports.items() if each is not None}
    assert messages["ben"].endswith("division by zero, in tools.py:1: 1 / 0")
    assert messages["cem"].endswith("invalid syntax, in tools.py:1: def f(:")
    assert "No module named 'work'" in messages["eve"]


def test_notebooks_are_graded_as_they_are(tmp_path: Path) -> None:
    cells = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()", "1 / 0", "display(1)"
    tree(tmp_path / "in", {
        "ada/deviations.ipynb": notebook(REFERENCE, *cells[::2], "input('ready?')"),
        "ben/deviations.ipynb": notebook(*cells, REFERENCE),
        "cem/deviations.py": "1 / 0\n" + REFERENCE,
    })  # fmt: skip
    graded(tmp_path)
    passed, stopped = ("pass", 100), ("error", 0)
    assert verdicts(tmp_path) == {"ada": passed, "ben": passed, "cem": stopped}
    assert entries_by_student(tmp_path)["ben"].note == (
        "your file raised ZeroDivisionError at cell 2, line 1 (division by zero); "
        "the other cells count"
    )
    file = tmp_path / "class.yaml"
    file.write_text("format: 1\non_error: stop\nisolation: process\nquestions: [deviations]\n")
    graded(tmp_path, questions=(), file=file, level="")
    assert verdicts(tmp_path) == {"ada": passed, "ben": stopped, "cem": stopped}


def test_a_line_that_cannot_be_read_costs_no_other_answer(tmp_path: Path) -> None:
    right = "grad_x[1] = 2\ngrad_x[4] = 8\ngrad_x[6] = 0\n"
    tree(tmp_path / "in", {"ann/answers.txt": f"Name: Ann\n{right}", "ann/submission.py": REFERENCE,
                           "bob/seven-windows.txt": right.replace("8", "8 or 9")})  # fmt: skip
    graded(tmp_path, ROOT, questions=("seven-windows", "maxpool-routing"), seed=6)
    entries = entries_by_student(tmp_path)
    assert entries["bob"].note == (
        "line 2 could not be read: grad_x[4]: 8 or 9 may be two numbers; write one, and a minus "
        "between spaces"
    )
    with ClassResults(tmp_path / "out") as results:
        ann = {
            entry.question.id: entry
            for entry in results.counting_entries()
            if entry.hand_in.student == "ann"
        }
    assert ann["seven-windows"].verdict == "pass"
    assert ann["seven-windows"].note == (
        "line 1 could not be read: expected NAME = VALUE (names: grad_x[1], grad_x[4] and "
        "grad_x[6]), found 'Name: Ann'"
    )
    assert ann["maxpool-routing"].hand_in.path == "ann/submission.py"


def test_right_answers_pass_however_they_are_written_unless_a_class_is_literal(
    tmp_path: Path,
) -> None:
    right = "grad_x[1] = 2\ngrad_x[4] = 8\ngrad_x[6] = 0\n"
    texts = {
        "ann": right,
        "bo": "- grad_x[1]: about 2\n- **grad_x[4]** = 3 + 5 = 8 (both)\n* `grad_x[6]` -> 0.",
        "cy": "1. Grad_x[1] = 2;\n2) grad x [4] ~ 8,00\n\u2022 grad_x[6] := `0`\n---\n",
    }
    tree(tmp_path / "in", {f"{name}/seven-windows.txt": text for name, text in texts.items()})
    options: dict[str, object] = {"questions": ("seven-windows",), "seed": 6}
    graded(tmp_path, ROOT, **options)
    assert [verdict for verdict, _ in verdicts(tmp_path).values()] == ["pass"] * 3
    again = graded(tmp_path, ROOT, **options, strict_text=True)
    assert not any(progress.was_known for progress in again)
    assert [verdict for verdict, _ in verdicts(tmp_path).values()] == ["pass", "error", "error"]
    file = tmp_path / "class.yaml"
    file.write_text(
        "format: 1\nstrict_text: true\nseed: 6\nisolation: process\nquestions: [seven-windows]\n"
    )
    graded(tmp_path, ROOT, questions=(), file=file, level="")
    assert [verdict for verdict, _ in verdicts(tmp_path).values()] == ["pass", "error", "error"]


def test_answers_that_are_texts_are_graded(tmp_path: Path) -> None:
    right = "grad_x[1] = 2\ngrad_x[4] = 8\ngrad_x[6] = 0\n"
    texts = {"ann": right, "bob": right.replace("8", "5"), "cy": "8?"}
    tree(tmp_path / "in", {f"{name}/seven-windows.txt": text for name, text in texts.items()})
    assert len(graded(tmp_path, ROOT, questions=("seven-windows",), seed=6)) == 3
    assert [verdict for verdict, _ in verdicts(tmp_path).values()] == ["pass", "fail", "error"]
    _, bob, cy = [entry.report for entry in entries_by_student(tmp_path).values()]
    assert bob is not None
    assert [idea.id for idea in bob.misconceptions] == ["overwrite"]
    assert cy is not None
    assert cy.message.endswith("and grad_x[6]), found '8?'")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"questions": ("nothing",)}, "no question nothing"),
        ({"questions": ()}, r"--question ID or --class class\.yaml with questions, found none"),
        ({"level": "iron"}, "expected process, limited, strong, found iron"),
        ({"submissions": Path("nowhere")}, "nowhere: expected a folder or a zip file, found none"),
        ({"file": Path("nowhere.yaml")}, r"nowhere\.yaml: expected a class\.yaml to read"),
    ],
)
def test_impossible_arguments_are_errors(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    tree(tmp_path / "in", {"ada/deviations.py": REFERENCE})
    with pytest.raises(UsageError, match=message):
        graded(tmp_path, **changes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "{question}.py"}, "expected the fields"),
        ({"layout": "blackboard"}, "layout: expected files"),
        ({"layout": "files", "pattern": "{student}.py"}, "--layout or --pattern, found both"),
    ],
)
def test_a_bad_layout_or_pattern_is_reported_before_a_missing_folder(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        graded(tmp_path, submissions=tmp_path / "nowhere", **options)


def test_results_lie_outside_of_submissions_and_a_refusal_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for folder, message in ((tmp_path / "in", "--out"), (tmp_path / "none", "none")):
        with pytest.raises(UsageError, match=message):
            graded(tmp_path, submissions=folder, out=folder / "out")
        assert not (folder / "out").exists()
    with pytest.raises(UsageError, match=r"expected files like STUDENT/deviations\.py"):
        graded(tmp_path)


# class.yaml

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
def folder(tmp_path: Path) -> Path:
    """Return a folder with one answer to a question in three parts."""
    tree(tmp_path / "in", {"ada/mean-and-spread.py": RIGHT})
    return tmp_path


def by_file(folder: Path, text: str, *edits: str, **changes: object) -> list[ClassProgress]:
    """Grade the class of a class.yaml."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = folder / "class.yaml"
    file.write_text(text)
    plan: dict[str, object] = {"questions": (), "file": file, "level": ""}
    return graded(folder, PARTS, **(plan | changes))


def terms(folder: Path) -> ClassSettings:
    with ClassResults(folder / "out") as results:
        return results.class_settings


def test_a_class_follows_its_class_yaml(folder: Path) -> None:
    by_file(folder, WHOLE)
    before = terms(folder)
    assert (before.title, before.counts, before.seed) == ("Statistics, autumn", "best", 5)
    assert (before.deadline, before.level) == ("2026-11-20T23:59:00+01:00", "process")
    (question,) = before.questions
    assert (question.id, question.parts, question.of, question.weight) == (
        "mean-and-spread",
        (1, 3),
        70,
        2,
    )
    assert question.hidden == ("far", "many")
    entry = entries_by_student(folder)["ada"]
    assert entry.points == 70  # and nothing for part 2, which it would not pass
    assert entry.late
    # What only counts grades needs none; what they depend on does.
    weighed = by_file(folder, WHOLE, "weight: 2", "weight: 0.5", "Statistics", "Sums",
                      "[far, many]", "[few]", "11-20", "11-30", "best", "last")  # fmt: skip
    assert [p.was_known for p in weighed] == [True]
    now = terms(folder)
    assert (now.title, now.questions[0].weight, now.questions[0].hidden, now.counts) == (
        "Sums, autumn", 0.5, ("few",), "last",
    )  # fmt: skip
    same = SubmittedProgram(b"same")
    assert grade_key(before, question, same, "") == grade_key(now, now.questions[0], same, "")
    assert not entries_by_student(folder)["ada"].late
    assert [p.was_known for p in by_file(folder, WHOLE, "[1, spread]", "[1]")] == [False]
    assert [p.was_known for p in by_file(folder, WHOLE, "seed: 5", "seed: 6")] == [False]
    # The command line goes before the file.
    assert [p.was_known for p in by_file(folder, WHOLE, seed=6)] == [True]


def test_a_question_may_be_only_an_id_and_most_keys_are_optional(folder: Path) -> None:
    text = "format: 1\nquestions: [parts/mean-and-spread]\n"
    by_file(folder, text, level="process")
    settings = terms(folder)
    assert (settings.questions[0].parts, settings.questions[0].of) == ((1, 2, 3), 100)
    assert (settings.counts, settings.deadline) == ("last", "")
    by_file(folder, text, level="process")
    assert terms(folder).seed == settings.seed  # a seed that was drawn once stays


def test_questions_are_named_in_one_place(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"expected --question or the questions of .*, found both"):
        by_file(folder, WHOLE, questions=("mean-and-spread",))
    none = WHOLE[: WHOLE.index("questions:")]
    with pytest.raises(UsageError, match="with questions, found none"):
        by_file(folder, none)
    for ids, message in (("mean-and-sprad",), "mean-and-spread?"), (("no/where",), "before '/'"):
        for text, named in ((none, ids), (WHOLE.replace("mean-and-spread", ids[0]), ())):
            with pytest.raises(UsageError, match=re.escape(message)):
                by_file(folder, text, questions=named)
    assert len(by_file(folder, none, questions=("mean-and-spread",))) == 1
    assert terms(folder).title == "Statistics, autumn"


def warnings_of(
    folder: Path, *questions: str, warnings: list[str] | None = None, **plan: Any
) -> list[str]:
    """Return the warnings of the command."""
    warnings = [] if warnings is None else warnings
    ctx = Context(
        folder,
        folder / "data",
        lambda: NOW,
        bank=PARTS,
        show_warning=lambda message, _: warnings.append(message),
    )
    planned = ClassPlan(folder / "in", questions, folder / "out", jobs=1, level="process")
    list(grade_class(ctx, planned._replace(**plan)))
    return warnings


def test_the_option_question_does_not_replace_a_class_yaml(folder: Path) -> None:
    by_file(folder, WHOLE)
    before = terms(folder)
    with pytest.raises(UsageError, match="--question would forget the deadline") as refused:
        warnings_of(folder, "mean-and-spread")
    assert "--class " in refused.value.hint
    assert terms(folder) == before
    assert warnings_of(folder, "mean-and-spread", out=folder / "other") != []


def test_the_option_question_does_not_drop_graded_questions(tmp_path: Path) -> None:
    tree(tmp_path / "in", {"ada/deviations.py": REFERENCE, "ada/ledger.py": REFERENCE})
    graded(tmp_path)
    with pytest.raises(UsageError, match="it has grades of deviations, which") as refused:
        graded(tmp_path, questions=("ledger",))
    assert "--question deviations --question ledger, or" in refused.value.hint
    assert verdicts(tmp_path) == {"ada": ("pass", 100)}
    graded(tmp_path, questions=("ledger", "deviations"))
    with ClassResults(tmp_path / "out") as results:
        graded_ids = {entry.question.id for entry in results.counting_entries()}
        assert graded_ids == {"deviations", "ledger"}


def test_removed_and_changed_marks_are_reported(folder: Path) -> None:
    tree(folder / "in", {"bo/mean-and-spread.py": RIGHT})
    quiet = warnings_of(folder, "mean-and-spread", seed=1)
    assert not re.search("left out|graded again", " ".join(quiet))
    assert warnings_of(folder, "mean-and-spread") == quiet  # the seed is kept
    (folder / "in" / "bo" / "mean-and-spread.py").unlink()
    warnings = warnings_of(folder, "mean-and-spread")
    assert (
        f"{folder / 'out'}: left out, as they are not handed in now: bo (mean-and-spread)"
        in warnings
    )
    for literal in (False, True):
        again = " ".join(warnings_of(folder, "mean-and-spread", seed=2, strict_text=literal))
        assert "another seed, isolation or --strict-text than before: all of this is" in again
        assert "left out" not in again


def test_a_class_without_any_answer_is_an_error(folder: Path) -> None:
    warnings_of(folder, "mean-and-spread")
    warnings: list[str] = []
    with pytest.raises(NothingHandedIn):
        warnings_of(folder, "mean-and-spread", warnings=warnings, pattern="{student}.{question}.py")
    assert "not handed in now: ada (mean-and-spread)" in " ".join(warnings)


def test_the_command_explains_the_cost_of_hidden_checks(folder: Path) -> None:
    (folder / "class.yaml").write_text(WHOLE)
    assert (
        "mean-and-spread hides far and many: all feedback on this question leaves out lines, "
        "shapes, types and texts that a program can choose"
    ) in warnings_of(folder, file=folder / "class.yaml")


def test_the_command_suggests_the_pattern_of_a_flat_folder(tmp_path: Path) -> None:
    tree(tmp_path / "in", {"deviations_ann.py": REFERENCE, "ledger_bo.py": REFERENCE})
    with pytest.raises(NothingHandedIn) as refused:
        graded(tmp_path, questions=("deviations", "ledger"))
    assert refused.value.hint == "--pattern '{question}_{student}.{_}' fits these names"


def test_one_pattern_fits_a_flat_folder_of_programs_notebooks_and_answers(tmp_path: Path) -> None:
    files: Files = {
        "deviations_ann.py": REFERENCE,
        "deviations_bo.ipynb": notebook(REFERENCE),
        "ledger_bo.py": REFERENCE,
        "deviations-cy.py": REFERENCE,
    }
    tree(tmp_path / "in", files)
    pattern = best_pattern(files, AnswerNames(["deviations", "ledger"]))
    assert pattern == "{question}_{student}.{_}"
    graded(tmp_path, pattern=pattern)
    assert verdicts(tmp_path) == {"ann": ("pass", 100), "bo": ("pass", 100)}


def test_the_command_names_students_who_may_be_one(folder: Path) -> None:
    files = {f"{name}.py": "x" for name in ("ann", "ann (1)", "ann_v2", "ann-2", "bo")}
    tree(folder / "flat", files)
    warnings = warnings_of(
        folder, "mean-and-spread", submissions=folder / "flat", out=folder / "other"
    )
    (text,) = [warning for warning in warnings if "two students" in warning]
    assert "ann (1) of ann and ann_v2 of ann" in text
    assert "remove the file that must not count; if not, rename one" in text
    assert "ann-2" not in text


def test_the_command_counts_students_and_names_files_of_other_questions(tmp_path: Path) -> None:
    tree(tmp_path / "in", {
        "ann/deviations.py": REFERENCE, "ann/ledger.py": "", "ann/deviations (1).py": REFERENCE,
        "bo/deviations.py": REFERENCE,
    })  # fmt: skip
    warnings: list[str] = []
    ctx = Context(
        tmp_path,
        tmp_path / "data",
        lambda: NOW,
        bank=BANK,
        show_warning=lambda message, _: warnings.append(message),
    )
    list(
        grade_class(
            ctx,
            ClassPlan(tmp_path / "in", ("deviations",), tmp_path / "out", jobs=1, level="process"),
        )
    )
    assert f"{tmp_path / 'in'}: 3 answers of 2 students, read by the layout folders" in warnings
    assert "ledger.py is named after ledger, which is no question of the class" in " ".join(
        warnings
    )


def test_the_command_names_who_handed_in_an_empty_folder(folder: Path) -> None:
    (folder / "in" / "eve").mkdir()
    tree(folder / "in", {"zed/.DS_Store": "x"})
    warnings = warnings_of(folder, "mean-and-spread")
    assert f"{folder / 'in'}: nothing handed in, and so in no table: eve and zed" in warnings


@pytest.mark.parametrize(("seed", "which"), [(5, "seed 2, which drill pack on-paper --seed 5"),
                                             (3, "seed 0, which drill pack on-paper hands")])  # fmt: skip
def test_the_command_states_which_drawn_numbers_are_graded(
    tmp_path: Path, seed: int, which: str
) -> None:
    drawn = ESTIMATE.replace("7 billion", "{n} billion").replace("7000000000", '"{n * 10**9}"')
    drawn = drawn.replace("prompt:", "given: [{n: 7}, {n: 13}, {n: 34}]\nprompt:").replace(
        "10**9", "1000000000"
    )
    tree(
        tmp_path,
        {"bank/questions/on-paper.yaml": drawn, "in/ann/on-paper.txt": "weight_bytes = 1 GB"},
    )
    warnings: list[str] = []
    ctx = Context(
        tmp_path,
        tmp_path / "data",
        lambda: NOW,
        bank=tmp_path / "bank",
        show_warning=lambda message, _: warnings.append(message),
    )
    list(
        grade_class(
            ctx,
            ClassPlan(
                tmp_path / "in", ("on-paper",), tmp_path / "out", jobs=1, level="process", seed=seed
            ),
        )
    )
    assert [
        message for message in warnings if "graded with the numbers of " + which in message
    ] != []


def test_a_changed_late_penalty_grades_nothing_again(folder: Path) -> None:
    file = folder / "in/ada/mean-and-spread.py"
    os.utime(file, (1_796_164_000, 1_796_164_000))  # 2026-12-01T22:26:40Z, eleven days begun
    by_file(folder, WHOLE)
    assert (
        entries_by_student(folder)["ada"].points,
        entries_by_student(folder)["ada"].days_after_deadline,
    ) == (
        70,
        11,
    )
    policy = "late: {penalty: 10, days: 5, extensions: {ada: 9, bo: 1}}"
    warnings: list[str] = []
    (folder / "class.yaml").write_text(WHOLE.replace("counts: best", policy))
    ctx = Context(
        folder,
        folder / "data",
        lambda: NOW,
        bank=PARTS,
        show_warning=lambda message, _: warnings.append(message),
    )
    plan = ClassPlan(
        folder / "in", (), folder / "out", file=folder / "class.yaml", jobs=1, level=""
    )
    assert [progress.was_known for progress in grade_class(ctx, plan)] == [True]
    assert entries_by_student(folder)["ada"].note == "2 days late: 20 % less of 70 points"
    assert "late: an extension and no file: bo" in warnings
    assert any("when it was last changed" in message for message in warnings)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("title:", "titel:", "2:1: titel: found an unknown key; did you mean 'title'?"),
        ("weight:", "wieght:", "10:5: questions[0].wieght: found an unknown key; did you mean 'weight'?"),
        ("format: 1\n", "", "1:1: the class: expected the key 'format', found none"),
        ("seed: 5", "seed: -5", "5:1: seed: expected a number of at least 0 or 'per student', found the number -5"),
        ("weight: 2", "weight: 0", "10:5: questions[0].weight: expected a number above 0.0, found the number 0"),
        ("+01:00", "", "3:1: deadline: expected a time with its offset, as 2026-11-20T23:59:00+01:00, found '2026-11-20T23:59:00'"),
        ("2026-11-20T23:59:00+01:00", "Friday", "3:1: deadline: expected a time with its offset, as 2026-11-20T23:59:00+01:00, found 'Friday'"),
        ("- id: mean-and-spread", "- mean-and-spread\n  - id: mean-and-spread", "9:5: questions[1]: expected each question once, found 'mean-and-spread' again (questions[0])"),
        ("[1, spread]", "[1, 4]", "9:16: questions[0].parts[1]: expected one of the parts 1, 2, 3, spread, found 4"),
        ("[1, spread]", "[]", "9:5: questions[0].parts: expected at least one entry, found a list of 0"),
        ("[far, many]", "[far, mny]", "11:19: questions[0].hidden[1]: expected a check or a case of mean-and-spread, found 'mny'; did you mean 'many'?"),
        ("isolation: process", "layout: moodle\npattern: x\nisolation: process", "7:1: pattern: expected a layout or a pattern, found both; remove one"),
        ("title: Statistics", "title: x\ntitle: Statistics", "3:1: expected each key once, found 'title' again (first at line 2)"),
        ("title: Statistics", "title: [x", "expected YAML, found a mistake in it"),
        ("counts: best", "late: 10", "4:1: late: expected a mapping of penalty, days, extensions, found the number 10"),
        ("counts: best", "late: {days: 2}", "4:1: late: expected the key 'penalty', found none"),
        ("counts: best", "late: {penalty: 101}", "4:8: late.penalty: expected a number of at most 100"),
        ("counts: best", "late: {penalty: 5, extensions: {ada: Friday}}", "4:33: late.extensions.ada: expected a time with its offset, as 2026-11-20T23:59:00+01:00, found 'Friday'"),
        ("counts: best", "late: {penalty: 5, extensions: {ada: '2026-11-20T12:00:00+01:00'}}", "4:33: late.extensions.ada: expected a time after the deadline, found '2026-11-20T12:00:00+01:00'"),
        ("counts: best", "late: {penalty: 5, extensions: {ada: ''}}", "4:33: late.extensions.ada: expected a time with its offset, as 2026-11-20T23:59:00+01:00, found ''"),
        ("deadline: 2026-11-20T23:59:00+01:00", "late: {penalty: 5}", "3:1: late: expected a deadline with it, found none"),
    ],
)  # fmt: skip
def test_an_error_in_a_class_yaml_has_its_place(
    folder: Path, old: str, new: str, problem: str
) -> None:
    with pytest.raises(ClassFileError) as caught:
        by_file(folder, WHOLE, old, new)
    (line,) = caught.value.problems
    assert problem in line.removeprefix(f"{folder / 'class.yaml'}:")
    assert "[x" not in new or caught.value.excerpt[1].strip() == "^"  # a mistake is pointed at


def test_every_error_in_a_class_yaml_is_listed(folder: Path) -> None:
    with pytest.raises(ClassFileError) as caught:
        by_file(folder, WHOLE, "best", "worst", "weight: 2", "weight: two")
    assert len(caught.value.problems) == 2
    edits = ("2026-11-20T23:59:00+01:00", "Friday", "spread]", "spred]", "far, many", "fur, many")
    with pytest.raises(ClassFileError) as caught:
        by_file(folder, WHOLE, *edits)
    lines = [line.removeprefix(f"{folder / 'class.yaml'}:") for line in caught.value.problems]
    assert [re.sub(r":.*? (expected a? ?\w+).*", r" \1", line) for line in lines] == [
        "3 expected a time", "9 expected one", "11 expected a check",
    ]  # fmt: skip


def test_the_example_and_the_tables_of_the_docs_are_whole(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "classes.md").read_text(encoding="utf-8")
    (tmp_path / "class.yaml").write_text(page.partition("```yaml\n")[2].partition("```")[0])
    ctx = Context(tmp_path, tmp_path / "data", lambda: NOW, bank=ROOT)
    config, questions = read_class(ctx, tmp_path / "class.yaml", ())
    assert [question.weight for question in config.questions_asked] == [1, 2, 1]
    assert [question.id for question in questions] == [
        question.id for question in config.questions_asked
    ]
    for model in (ClassFile, ClassQuestion, LateKeys):
        assert [key for key in model.model_fields if f"`{key}`" not in page] == []


# Equal shares of a part, and a seed for each student.

SHARES = {
    # Part 1 is worth 50 for one check, part 2 15 and 15, part 3 10 and 10; each is asked in turn.
    "reference": 100,
    "sums": 0,
    "divides-by-nothing": 50 + 15,
    "doubles-in-place": 50 + 15,
    "variance": 80,
    "cancels": 80 + 10,
    "untouched": 0,  # the starter, whatever it passes
    "touched": 0,
    "syntax": 0,
}


def submitted_program(name: str) -> str:
    question = load_question([PARTS], "mean-and-spread")
    right, starter = (
        question.without_leading_blank_lines(program).decode()
        for program in (question.reference, question.starter)
    )
    programs = {
        "reference": right,
        "untouched": starter,
        "touched": f"{starter}\nx = 1\n",
        "syntax": "(",
    }
    return programs.get(name) or f"{right}\n\n{question.variants[name][0].decode()}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class in which a part that fails earns equal shares."""
    root = tmp_path_factory.mktemp("shared")
    tree(root / "in", {f"{name}/mean-and-spread.py": submitted_program(name) for name in SHARES})
    text = WHOLE.replace("seed: 5", "seed: 5\npartial: checks").replace(
        "    parts: [1, spread]\n", ""
    )
    by_file(root, text)
    return root


@pytest.mark.parametrize("name", SHARES)
def test_checks_that_pass_earn_equal_shares_of_a_part_that_fails(shared: Path, name: str) -> None:
    entry = entries_by_student(shared)[name]
    assert entry.points == SHARES[name]
    assert entry.report is not None
    assert sum(part.points for part in entry.report.parts) == SHARES[name]
    assert (entry.verdict == "pass") == (SHARES[name] == 100)


def test_without_shares_a_part_is_worth_all_or_nothing(shared: Path, tmp_path: Path) -> None:
    name = "cancels"
    tree(tmp_path / "in", {f"{name}/mean-and-spread.py": submitted_program(name)})
    by_file(tmp_path, WHOLE.replace("    parts: [1, spread]\n", ""))
    assert entries_by_student(tmp_path)[name].points == 80


@pytest.mark.parametrize(
    ("points", "written", "shares"),
    [
        (10, (None, None, None), (4, 3, 3)),
        (3, (None, None, None), (1, 1, 1)),
        (2, (None, None, None), (None, None, None)),  # more checks than points: all or nothing
        (10, (7, 3, None), (7, 3, None)),
    ],
)
def test_shares_are_whole_points_that_add_up(
    points: int, written: tuple[int | None, ...], shares: tuple[int | None, ...]
) -> None:
    question = load_question([PARTS], "mean-and-spread")
    part = question.spec.parts[1]
    ids = [part.checks[0], part.checks[1], part.checks[0].model_copy(update={"id": "more"})]
    checks = [c.model_copy(update={"points": p}) for c, p in zip(ids, written, strict=True)]
    checks.append(part.checks[0].model_copy(update={"id": "extra", "stretch": True}))
    changed = part.model_copy(update={"points": points, "checks": checks})
    spec = question.spec.model_copy(update={"parts": [changed]})
    (shared_part,) = with_equal_points(replace(question, spec=spec)).spec.parts
    assert tuple(check.points for check in shared_part.checks) == (*shares, None)


def test_every_student_may_have_different_numbers(tmp_path: Path) -> None:
    names = ("reference", "sums", "divides-by-nothing")
    files = {
        f"{student}/mean-and-spread.py": submitted_program(name)
        for name in names
        for student in (f"{name}1", f"{name}2")
    }
    tree(tmp_path / "in", files)
    text = WHOLE.replace("seed: 5", "seed: per student").replace("    parts: [1, spread]\n", "")
    first = by_file(tmp_path, text)
    assert len(first) == 6
    assert not any(progress.was_known for progress in first)
    entries = entries_by_student(tmp_path)
    seeds = {student: entry.report.seed for student, entry in entries.items() if entry.report}
    assert len({*seeds.values()}) == 6
    assert seeds == {student: terms(tmp_path).seed_of(student) for student in seeds}
    assert {student: entry.verdict for student, entry in entries.items()} == {
        student: "pass" if student.startswith("reference") else "fail" for student in entries
    }
    assert all(
        progress.was_known for progress in by_file(tmp_path, text)
    )  # the class's own seed stays
    # Equal ideas are one group, whatever the numbers were.
    with ClassResults(tmp_path / "out") as results:
        groups = (
            class_findings(results.class_settings, results.counting_entries()).questions[0].ideas
        )
        rows = list(csv.DictReader("".join(export(results, "csv")).splitlines()))
    assert {idea.id: len(idea.students) for idea in groups} == {"sums": 2, "divides-by-nothing": 2}
    assert {row["student"]: row["seed"] for row in rows} == {k: str(v) for k, v in seeds.items()}


def test_a_seed_is_a_number_or_one_for_each(folder: Path) -> None:
    with pytest.raises(ClassFileError, match=r"seed: expected .* 'per student'"):
        by_file(folder, WHOLE, "seed: 5", "seed: per-student")
    with pytest.raises(ClassFileError, match=r"partial: expected one of 'written' or 'checks'"):
        by_file(folder, WHOLE, "seed: 5", "partial: check")
