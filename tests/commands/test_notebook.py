"""A question in a notebook: its pages, its grades, and no processes or files left."""

from __future__ import annotations

import copy
import functools
import gc
import linecache
import math as m
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import numpy as np
import pytest
from numpy import exp as e

import grader
from grader import GradingSession, OpenQuestion, open_question
from grader.commands.notebook import source_text
from grader.model.errors import UsageError
from grader.model.report import Report, Verdict
from grader.reports.json import to_json
from tests.classroom.builders import HOSTILE, Page
from tests.harness import load_text
from tests.leftovers import all_end
from tests.pages import from_json

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "tests" / "banks" / "parts"
EXAMPLES = ROOT / "docs" / "examples"

EPS, LARGE = 0.5, np.float64("inf")
CALLED = "text"
pytestmark = pytest.mark.usefixtures("one_zygote")


def mean(x: Any) -> float:
    return total(x) / max(len(x), 1)


def total(x: Any) -> float:
    return float(np.sum(x))


def even(n: int, by: float = EPS) -> Any:
    return CALLED if n == 0 else odd(n - 1) + str(m.sqrt(by * 2))


def odd(n: int) -> Any:
    return CALLED if n == 0 else even(n - 1)


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def twice(*given: Any) -> Any:
        return 2 * function(*given)

    return twice


@doubled
def four() -> int:
    return 2


@functools.lru_cache
def cached(n: int) -> float:
    return LARGE if n else 0.0


def uses_what_is_cached(n: int) -> tuple[float, str]:
    return cached(n), __name__


class Base:
    factor = EPS

    def scaled(self, x: float) -> float:
        return self.factor * float(e(x))


class Derived(Base):
    pass


@pytest.fixture
def question() -> Iterator[OpenQuestion]:
    """Give the question in three parts."""
    with open_question("mean-and-spread", PARTS) as opened:
        yield opened


def test_a_question_shows_what_is_asked_so_far_as_text_html_and_markdown(
    question: OpenQuestion,
) -> None:
    for text in (repr(question), question._repr_markdown_(), Page.of(question._repr_html_()).text):
        assert "Our dashboard shows a mean" in text
        assert "def mean(x):" in text
        assert "sends nothing at all" not in text  # part 2
    assert "sends nothing at all" in repr(question.part(2))
    assert "The mean of no entries is 0." in question.part(2)._repr_html_()
    assert dir(question) == ["close", "grade", "hint", "part", "question", "starter"]
    assert "def mean(x)" in question.starter
    with pytest.raises(UsageError, match="part: expected a number from 1 to 3, found 4"):
        question.part(4)


def test_hints_come_one_by_one_and_again_by_number(question: OpenQuestion) -> None:
    assert repr(question.hint()) == "1 What do you divide by?"
    assert repr(question.hint()) == "2 Divide by the number of entries."
    assert repr(question.hint()) == "Part 1 has no hint 3, only 2."
    assert repr(question.hint(1)) == "1 What do you divide by?"
    assert repr(question.hint(0)) == "Part 1 has no hint 0, only 2."


def test_a_grade_has_the_attributes_of_its_report_and_is_shown_as_its_page(
    question: OpenQuestion,
) -> None:
    first = question.grade(question.starter)
    assert (
        repr(first)
        .splitlines()[0]
        .startswith("FAIL  notebook   mean-and-spread, part 1 of 3   seed ")
    )
    assert "This is still the starter's code" in repr(first)
    assert (first.verdict, first.unchanged) == (Verdict.FAIL, True)
    assert first.seed != question.grade(question.starter).seed  # fresh ones
    wrong = question.grade("def mean(x):\n    return float(x.sum())\n", seed=7)
    assert wrong.seed == 7
    page = Page.of(wrong._repr_html_())
    assert "FAIL notebook, mean-and-spread, part 1 of 3, seed 7" in " ".join(page.text.split())
    assert not page.tags.keys() & {"script", "link", "img", "html", "body"}
    assert "Idea: sums." in repr(wrong)
    assert "**Idea:** sums" in wrong._repr_markdown_()
    assert from_json(to_json(wrong.report)) == wrong.report
    assert copy.copy(wrong).seed == 7
    with pytest.raises(AttributeError, match="'Report' object has no attribute 'sed'"):
        wrong.sed  # noqa: B018


def test_the_next_part_is_asked_as_soon_as_those_before_it_pass(question: OpenQuestion) -> None:
    question.hint()
    graded = question.grade("def mean(x):\n    return float(x.mean()) if x.size else 1.0\n")
    assert repr(graded).startswith("PASS  notebook   mean-and-spread, part 1 of 3")
    assert "sends nothing at all" in repr(graded)
    assert "sends nothing at all" in repr(question)
    assert "how far the entries" not in repr(question)
    assert repr(question.hint()) == "1 What is 0 / 0?"
    full_grade = question.grade(question.question.reference)
    assert repr(full_grade).startswith("PASS  notebook   mean-and-spread, all 3 parts")
    assert "how far the entries" in repr(question)


def test_the_source_of_functions_includes_the_names_of_their_module(question: OpenQuestion) -> None:
    assert question.grade(mean).parts_passed == 2  # with total and np
    assert question.grade(total, mean).parts_passed == 2
    assert question.grade(PARTS / "questions" / "mean-and-spread.yaml").verdict is Verdict.ERROR


def test_the_source_of_functions_and_classes_runs_on_its_own() -> None:
    module = load_text(source_text([even]))
    assert (module.even(1), module.even(2)) == ("text1.0", "text1.0")
    assert load_text(source_text([four])).four() == 4
    module = load_text(source_text([uses_what_is_cached]))
    assert module.uses_what_is_cached(1) == (m.inf, "submission")
    assert load_text(source_text([Derived])).Derived().scaled(0.0) == 0.5
    assert source_text([odd, even, odd]) == source_text([odd, even])
    assert source_text([odd]).count("def odd") == 1


def test_a_class_of_a_cell_is_found_by_the_lines_of_its_methods(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (
        "import functools\n\n@functools.total_ordering\nclass Cell:\n    def __lt__(self, other):\n"
    )
    text += "        return False\n\nclass Other:\n    pass\n"
    module = types.ModuleType("cell")
    exec(compile(text, "<cell 1>", "exec", dont_inherit=True), vars(module))
    monkeypatch.setitem(sys.modules, "cell", module)
    lines = text.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<cell 1>", (len(text), None, lines, "<cell 1>"))
    module.Cell.__module__ = module.Other.__module__ = "cell"
    assert source_text([module.Cell]) == "import functools as functools\n" + "".join(lines[2:6])
    with pytest.raises(UsageError, match="the source of Other cannot be had; pass its code"):
        source_text([module.Other])


@pytest.mark.parametrize(
    ("answer", "phrase"),
    [
        ((lambda x: x,), "grade: a lambda has no source of its own; write it with def"),
        ((int,), "grade: the source of int cannot be had; pass its code as text"),
        ((len,), "expected text, bytes, a Path or functions and classes, found builtin_"),
        ((3,), "functions and classes, found int"),
        ((), "functions and classes, found nothing"),
        ((mean, "x = 1"), "functions and classes, found function, str"),
        (({"a": 1},), "functions and classes, found dict"),
        (("submission.py",), r"for a file, pass Path\('submission.py'\)"),
        ((Path("no-such-file.py"),), "no-such-file.py: there is no such file"),
    ],
)
def test_objects_that_are_not_answers_are_refused_in_one_sentence(
    question: OpenQuestion, answer: tuple[object, ...], phrase: str
) -> None:
    with pytest.raises(UsageError, match=phrase):
        question.grade(*answer)
    assert question._session is None  # nothing was started for it


def test_answers_are_a_dict_or_the_text_of_the_file() -> None:
    lines = {
        "L": "-sum(k, y[k] * log(p[k]))", "dL_dp": "-y[i] / p[i]", "dp_dz[i, j]": "p[i] * d(i, j)",
    }  # fmt: skip
    with open_question("softmax-five-lines", ROOT) as question:
        graded = question.grade(lines)
        rows = [" ".join(line.split()) for line in repr(graded).splitlines()]
        assert "L -sum(k, y[k] * log(p[k])) right" in rows
        assert "dp_dz[i,j] p[i] * d(i, j) wrong" in rows
        assert "chain[j] ? no answer yet" in rows
        assert '<tr class="marked"><td>dp_dz[i,j]</td>' in graded._repr_html_()
        assert "found 'M = 1 L = 2'" in repr(question.grade({"M": "1\nL = 2"}))
        with pytest.raises(UsageError, match="a Path or a dict of answers, found function"):
            question.grade(mean)


def test_a_grade_of_an_estimate_does_not_hold_the_right_numbers() -> None:
    with open_question("cache-bytes", EXAMPLES) as question:
        graded = question.grade(question.starter)
    failing = [check for check in graded.checks if check.estimate and check.mismatch]
    assert failing
    assert all(check.mismatch.expected == "" for check in failing)


def test_graded_code_does_not_run_in_the_notebook(question: OpenQuestion) -> None:
    for text in HOSTILE:
        graded = question.grade(f"def mean(x):\n    raise ValueError({text!r})\n")
        page = Page.of(graded._repr_html_())
        assert (page.open, page.wrong) == ([], [])
        assert not page.tags.keys() & {"script", "img", "hr", "a"}
        assert all(not name.startswith("on") for _, name, _ in page.attributes)
        assert "\x1b" not in repr(graded)


def test_processes_are_kept_between_grades_and_end_with_the_question(tmp_path: Path) -> None:
    question = open_question("mean-and-spread", PARTS)
    question.grade(mean)
    session = question._session
    assert session is not None
    question.grade(mean)
    assert question._session is session
    question.close()
    question.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.grade(b"x = 1", seed=1)
    question.grade(mean)  # begins again
    again = question._session
    assert again is not None
    del question
    gc.collect()
    with pytest.raises(RuntimeError, match="closed"):
        again.grade(b"x = 1", seed=1)


def test_after_an_interrupted_grade_the_next_one_uses_new_processes(
    question: OpenQuestion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> Report:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GradingSession, "grade", interrupted)
        with pytest.raises(KeyboardInterrupt):
            question.grade(mean)
    assert question._session is None
    assert question.grade(mean).parts_passed == 2


def test_a_notebook_leaves_no_records(
    question: OpenQuestion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    question.grade(mean)
    assert not (tmp_path / "home").exists()
    assert set(grader.__all__) <= {*dir(grader), *grader._HOMES}


def test_the_example_runs_in_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = EXAMPLES / "drill.ipynb"
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in book.cells)
    nbformat.validate(book)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    where = {"metadata": {"path": str(EXAMPLES)}}
    nbclient.NotebookClient(book, timeout=60, resources=where).execute()
    asked, wrong, right, facts = (
        {name: text for output in cell.outputs for name, text in output.get("data", {}).items()}
        for cell in book.cells
        if cell.cell_type == "code"
    )
    assert asked["text/plain"].startswith("heavy-ball  A ball without weight")
    assert asked["text/markdown"].startswith("# A ball without weight")
    assert wrong["text/plain"].startswith("FAIL  notebook   heavy-ball   seed 1\n")
    assert "<title>w_new, yours</title>" in wrong["text/html"]
    assert right["text/plain"].startswith("PASS  notebook   heavy-ball")
    assert "['at-rest', 'rolling', 'valley']" in facts["text/plain"]
    assert all_end(tmp_path)  # processes that the kernel started
