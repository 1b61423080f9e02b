"""A file that passed one part says nothing about the next one until it is edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import open_question
from grader.bank import load_question
from grader.commands.context import Context
from grader.commands.watched_drill import WatchedDrill
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from tests.commands.conftest import ROOT, Drill

pytestmark = pytest.mark.usefixtures("one_zygote")
ID, IDEA = "mean-and-spread", "divides-by-nothing"
BANK = ROOT / "tests" / "banks" / "parts"
FILE = Path(ID, "submission.py")
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"
BOTH = "def mean(x):\n    return float(x.mean()) if x.size else 0.0\n"
NOT_EDITS = [
    "# a remark\n\n" + MEAN.replace(":", ":  "),
    MEAN + "N = 1\n",
    "import math\n" + MEAN,
    MEAN + "WHY = {'nothing': 'a'}\n",
    MEAN.replace(":\n", ':\n    """Return the mean."""\n'),
    MEAN + "\n\nif __name__ == '__main__':\n    print(mean(2))\n",
    MEAN + "\n\ndef helper(x):\n    return x.size\n",
    MEAN.replace("float(x.sum() / x.size)", "float(\n        x.sum() / x.size\n    )  # so"),
]
EDITS = [
    MEAN.replace("x.sum()", "x.ravel().sum()"),
    MEAN + "\n\ndef float(x):\n    return x.item()\n",
    MEAN + "\n\nmean.__name__ = 'mean'\n",
]
SAME = "This code passed part 1, and has not changed since: below is a symptom"


@pytest.fixture
def drill(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    monkeypatch.setenv("DRILL_BANK", str(BANK))
    return real


def pass_first_part(drill: Drill, *words: str) -> str:
    """Begin, and return the page of a grade that passes part 1."""
    drill(*(words or ("start", ID)))
    FILE.write_text(MEAN)
    return drill("grade", ID).out


def test_a_grade_before_an_edit_neither_explains_nor_counts_the_next_part(drill: Drill) -> None:
    assert "Next: edit submission.py, then drill grade\n" in pass_first_part(drill)
    for text in (MEAN, NOT_EDITS[0]):
        FILE.write_text(text)
        page = " ".join(drill("grade", ID).out.split())
        assert SAME in page
        assert "part 2 of 3 seed" in page
        assert IDEA not in page
        assert "NaN" not in page
        assert "drill grade --explain" in page.replace(f" {ID}", "")
    assert IDEA in drill("grade", ID, "--explain").out
    rows = drill("history", "--json").data["attempts"]
    assert [(row["parts"], row["ideas"]) for row in rows[1:]] == [(["unchanged"], [])] * 3
    assert "unchanged since the pass" in drill("history").out
    assert [
        question["tries"]
        for question in drill("list", "--json").data["questions"]
        if question["id"] == ID
    ] == [1]
    assert drill("progress", "--json").data["ideas"] == []
    assert "no try at it yet" in drill("next").out
    assert drill("case", "nothing", ID).status == 0
    FILE.write_text(EDITS[0])
    page = drill("grade", ID).out
    assert IDEA in page
    assert "try 2" in page.replace("\xa0", " ")
    FILE.write_text(MEAN)
    assert SAME in " ".join(drill("grade", ID).out.split())


def test_only_a_change_of_the_requested_code_counts_as_an_edit() -> None:
    with open_question(ID, bank=BANK) as question:
        question.grade(MEAN)
        for text in NOT_EDITS:
            assert SAME in " ".join(str(question.grade(text)).split()), text
        for text in EDITS:
            assert IDEA in str(question.grade(text)), text


def test_the_source_of_a_function_includes_its_helpers() -> None:
    helped = "def total(x):\n    return x.sum()\n\n\n" + MEAN.replace("x.sum()", "total(x)")
    with open_question(ID, bank=BANK) as question:
        question.grade(helped)
        assert SAME in " ".join(str(question.grade(helped + "\n\nN = 1\n")).split())
        assert IDEA in str(question.grade(helped.replace("x.sum()", "x.ravel().sum()")))


def test_answers_as_text_are_not_read_as_code() -> None:
    """Its part 2 asks for WHY, and for more of the code that part 1 asks for."""
    question = load_question([ROOT], "attention-backward")
    pass_first_part = question.reference.replace(b"\nWHY", b"\nOLD")
    with GradingSession(question) as session:
        for letters in (b'WHY = {"sum-is-zero": "b", "blind-spot": "d"}\n', b"WHY = {}\n"):
            report = session.grade(
                question.starter + letters, seed=1, options=GradeOptions(explain_starter=False)
            )
            assert (report.unchanged, report.misconceptions) == (True, ())
            report = session.grade(
                pass_first_part + b"\n",
                seed=1,
                options=GradeOptions(passed_version=pass_first_part + letters),
            )
            assert report.unchanged


@pytest.mark.parametrize("added", ["# a remark\n", "N = 1\n", "import math\n"])
def test_the_starter_with_unused_code_is_not_a_try(drill: Drill, added: str) -> None:
    drill("start", ID)
    FILE.write_text(FILE.read_text() + added)
    page = " ".join(drill("grade", ID).out.split())
    assert "This is still the starter's code: below is a symptom" in page
    assert "try" not in page
    assert "starter, unchanged" in drill("history").out


def test_the_third_part_is_hidden_as_well(drill: Drill) -> None:
    pass_first_part(drill)
    spread = "\n\ndef spread(x):\n    return float(((x - mean(x)) ** 2).mean())\n"
    FILE.write_text(BOTH + spread)
    assert "def spread(x):" in drill("grade", ID).out  # the signature of part 3
    page = " ".join(drill("grade", ID).out.split())
    assert SAME.replace("part 1", "part 2") in page
    assert "variance" not in page


def test_a_fault_in_a_part_that_was_passed_is_explained(drill: Drill) -> None:
    pass_first_part(drill)
    FILE.write_text(MEAN.replace("x.sum() / x.size", "x.sum()"))
    assert "sums" in drill("grade", ID).out


@pytest.mark.parametrize("blind", [(), ("--blind",)])
def test_an_interview_does_not_count_an_unchanged_file_as_a_try_of_the_next_part(
    drill: Drill, blind: tuple[str, ...]
) -> None:
    pass_first_part(drill, "interview", ID, *blind)
    drill("interview", "next") if blind else None
    drill("grade", ID)
    drill("interview", "end")
    question = drill("interview", "debrief", "--json").data["questions"][0]
    assert [part[4] for part in question["parts"]] == [1, 0, 0]
    assert question["ideas"] == []


def test_watch_and_a_notebook_show_only_a_symptom(drill: Drill, tmp_path: Path) -> None:
    pass_first_part(drill)
    ctx = Context(Path.cwd(), tmp_path / "home", lambda: "2026-01-02T03:04:05+00:00", BANK)
    with WatchedDrill(ctx, ID) as watched:
        watched.grade_if_changed()
        assert watched.last_grade is not None
        assert (watched.last_grade.unchanged_since, watched.last_grade.tries) == (1, 0)
    with open_question(ID, bank=BANK) as question:
        assert "part 2 of 3" in str(question.grade(MEAN))
        again = question.grade(MEAN)
        assert SAME in " ".join(str(again).split())
        assert again.report.misconceptions == ()
        assert IDEA in str(question.grade(EDITS[0]))
