"""The kind of check that judges which causes somebody picks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.bank import load
from grader.model.errors import BankError
from grader.model.report import Report, Verdict
from grader.session import GradingSession
from tests.kinds.one_file import graded, of, written
from tests.pages import page_of

REST = """
run: {main: ["y = f(x)"], named: ["found = causes()"]}
cases:
  one: {x: 1.5}
  two: {x: 2.5}
checks:
  - {id: y, kind: outputs, of: y, points: 40}
  - id: named
    kind: causes
    run: named
    of: found
    cases: one
    points: 60
    exactly: [labels, rate, pieces]
    allowed: [order]
    innocent: {init: with smaller weights it rises all the same., width: a wider one rises too}
form: diagnose
causes: {init: a, labels: b, order: c, pieces: d, rate: e, width: f}
"""
REFERENCE = """
def f(x):
    return 2 * x

def causes():
    return ["labels", "rate", "pieces"]
"""


@contextmanager
def asking(folder: Path, rest: str = REST) -> Iterator[GradingSession]:
    path = written(folder, rest, REFERENCE)
    text = path.read_text().replace("starter_holds: []", "hints: []")
    path.write_text(text)
    with GradingSession(load([path], "one")) as found:
        yield found


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with asking(tmp_path_factory.mktemp("bank")) as found:
        yield found


def picking(session: GradingSession, causes: str, factor: int = 2) -> Report:
    return graded(session, f"def f(x): return {factor} * x\n\ndef causes():\n    return {causes}\n")


@pytest.mark.parametrize(
    "causes",
    [
        "['labels', 'rate', 'pieces']",
        "('pieces', 'rate', 'labels', 'rate')",
        "[' labels', 'rate', 'pieces', 'order']",
    ],
)
def test_all_and_none_too_many_pass(session: GradingSession, causes: str) -> None:
    found = of(picking(session, causes), "named")
    assert (found.verdict, found.message, found.points) == (Verdict.PASS, "3 of 3 causes", 60)


@pytest.mark.parametrize(
    ("causes", "message", "points"),
    [
        ("[]", "0 of 3 causes", 0),
        ("['rate', 'labels']", "2 of 3 causes", 40),
        (
            "['rate', 'labels', 'init']",
            "2 of 3 causes, 1 too many; init is innocent: with smaller weights it rises all the "
            "same",
            20,
        ),
        (
            "['width', 'rate', 'labels', 'pieces']",
            "3 of 3 causes, 1 too many; width is innocent: a wider one rises too",
            40,
        ),
        ("['init']", "0 of 3 causes, 1 too many; init is innocent: with smaller weights", 0),
        ("['rates', 'labels']", "'rates' is not among the causes; did you mean 'rate'?", 0),
        ("['labels', 3]", "found is a list of 2, expected a list of ids", 0),
        ("'labels'", "found is", 0),
        ("None", "found is None, expected a list of ids", 0),
    ],
)
def test_what_is_missed_is_counted_and_what_is_innocent_is_cleared(
    session: GradingSession, causes: str, message: str, points: int
) -> None:
    found = of(picking(session, causes), "named")
    assert found.verdict is Verdict.FAIL
    assert found.message.startswith(message)
    assert found.points == points
    assert not found.failing, "a case has nothing to do with it"
    if "not among" not in message:
        picked = causes.replace("'", " ").replace(",", " ").split()
        assert all(name in picked for name in ("labels", "rate", "pieces") if name in found.message)


def test_who_picks_everything_is_given_no_answer(tmp_path: Path) -> None:
    rest = REST.replace(
        "width: a wider one rises too}", "width: a wider one, order: it is drawn}"
    ).replace("    allowed: [order]\n", "")
    with asking(tmp_path, rest) as session:
        every = "['init', 'labels', 'order', 'pieces', 'rate', 'width']"
        found = of(picking(session, every), "named")
        assert (found.message, found.points) == ("3 of 3 causes, 3 too many", 0)


def test_the_count_is_on_the_page_whatever_else_is_wrong(session: GradingSession) -> None:
    page = page_of(picking(session, "['rate']", 3), width=80)
    assert "named: 1 of 3 causes." in page
    assert "Also fails" not in page


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("form: diagnose\n", "", "causes: expected form: diagnose, found none"),
        (
            "exactly: [labels, rate,",
            "exactly: [label, rate,",
            "causes: expected label, which named",
        ),
        ("width: f}", "width: f, depth: g}", "causes.depth: expected it in exactly, allowed or"),
        ("allowed: [order]", "allowed: [order, rate]", "expected rate once in exactly, allowed"),
        ("width: f}", "width: f}\nlog: a", "log: expected experiments, which say how to make it"),
        (
            "width: f}",
            "width: f}\nexperiments: {function: driver.a.b, budget: 3}",
            "experiments.function",
        ),
    ],
)
def test_a_fault_of_a_question_has_a_sentence(
    was: str, becomes: str, said: str, tmp_path: Path
) -> None:
    assert was in REST
    with pytest.raises(BankError) as refused, asking(tmp_path, REST.replace(was, becomes)):
        pass
    texts = [str(refused.value), *map(str, getattr(refused.value, "problems", ()))]
    assert any(said in text for text in texts), texts
