"""Explanations are true of a wrong submission and never change its verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.explain.extra_cases import ExtraCases
from grader.explain.session import GradingSession
from grader.model.report import Report, Verdict
from grader.reports.grade_sentences import idea_paragraphs
from tests.audit.audits import question
from tests.explain.making import load
from tests.grading.kinds.one_file import opened

pytestmark = pytest.mark.usefixtures("one_zygote")


QUESTION = load("deviations")
REFERENCE = QUESTION.reference.decode()


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(QUESTION) as opened:
        yield opened


def graded(session: GradingSession, over: str, *, seed: int = 5) -> Report:
    """Return the report on the reference with other functions on top of it."""
    return session.grade(f"{REFERENCE}\n\n{over}".encode(), seed=seed)


def every_text(report: Report) -> list[str]:
    return [explanation.text for explanation in report.explanations]


def texts(report: Report, kind: str) -> list[str]:
    return [e.text for e in report.explanations if e.kind == kind]


HALF = """
def spread(x):
    return float((_centred(x) ** 2).mean()) / 2
"""
OVER_ROWS = """
def spread(x):
    return float((_centred(x) ** 2).mean()) / len(x) * 1.0
"""
HALVES_AND_RAISES = """
_whole = centre
def centre(x, w):
    y, ctx = _whole(x, w)
    return y / 2, ctx
def centre_backward(grad_y, ctx):
    raise ValueError("it does not fit")
"""
EMPTY_RAISES = """
_whole = centre
def centre(x, w):
    if not x.size:
        raise ValueError("nothing to do")
    return _whole(x, w)
"""
REMEMBERS = """
_kept = {}
def spread(x):
    return _kept.setdefault("spread", float((_centred(x) ** 2).mean()))
"""
NAN_WHEN_FLAT = """
def spread(x):
    return float((_centred(x) ** 2).mean()) if len(x) > 1 else float("nan")
"""
FORGETS = "def centre(x, w):\n    d = _centred(x)\n    return d, (d, np.array(w))"
CHANCE = "def spread(x):\n    return float(np.random.random())"


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ("", {}),
        (HALF, {"rule": "s is half the right one."}),
        (OVER_ROWS, {"rule": "s is 1/N of the right one, with N the number of rows of x."}),
        (EMPTY_RAISES, {"class": "Your code raises ValueError where x is empty and w is empty "
                        "(these cases do not tell which of both matters), and in no other case "
                        "that was tried."}),
        # A wrong result before the exception is explained.
        (HALVES_AND_RAISES, {"rule": "y is half the right one in 3 of 4 failing cases."}),
        # A rule may hold only in cases with a property.
        (NAN_WHEN_FLAT, {"rule": "s is NaN where the length of the first axis of x is 1, and is "
                         "right in every other case that was tried."}),
        # State is the only explanation; random results have neither state nor a rule.
        (REMEMBERS, {"state": "s is right on the failing case when nothing was called before: "
                     "your code remembers something from one call to the next."}),
        (CHANCE, {}),
    ],
)  # fmt: skip
def test_a_wrong_submission_is_explained(
    over: str, expected: dict[str, str], session: GradingSession
) -> None:
    report = graded(session, over)
    actual: dict[str, str] = {e.kind: e.text for e in report.explanations}
    assert actual == expected
    assert len(report.explanations) == len(actual)


def test_a_rule_names_the_cases_of_the_question_on_which_it_holds(session: GradingSession) -> None:
    assert graded(session, HALF).explanations[0].cases == ("small", "rows")


def test_results_of_an_exact_match_are_not_explained_again(session: GradingSession) -> None:
    report = graded(session, FORGETS)
    assert [n.id for n in report.misconceptions if n.exact] == ["forgot-weight"]
    assert not [e for e in report.explanations if e.text.startswith("y ")]


def test_the_same_submission_is_explained_alike_in_any_order(session: GradingSession) -> None:
    first = graded(session, OVER_ROWS).explanations
    graded(session, HALF)
    with GradingSession(QUESTION) as alone:
        assert graded(alone, OVER_ROWS).explanations == first
    assert graded(session, OVER_ROWS).explanations == first


HOSTILE = {
    "raises": "    raise SystemExit('further')",
    "kills": "    import os; os._exit(3)",
    "hangs": "    while True: pass",
    "prints": "    print('z' * 100_000)",
    "nan": "    return float('nan')",
    "list": "    return [1, {2: 3}, None]",
    "huge": "    return 10 ** 400",
}


@pytest.mark.parametrize("act", HOSTILE)
def test_no_event_on_extra_inputs_changes_the_verdict(act: str, session: GradingSession) -> None:
    # Half of the right result on the question's cases, and something else on later calls.
    over = f"""
_calls = [0]
def spread(x):
    right = float((_centred(x) ** 2).mean())
    _calls[0] += 1
    if _calls[0] <= 2:
        return right / 2
{HOSTILE[act]}
    return right / 2
"""
    report = graded(session, over)
    assert report.verdict is Verdict.FAIL
    assert [c.id for c in report.checks if c.verdict is Verdict.FAIL] == ["total"]
    assert "z" not in report.printed
    assert texts(report, "rule") in ([], ["s is half the right one."])
    assert graded(session, "").verdict is Verdict.PASS  # the session still works


def test_the_reference_runs_on_extra_inputs_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with GradingSession(QUESTION) as session:
        graded(session, HALF)
        asked: list[str] = []
        reference = session.bank.reference
        several = type(reference).run_several

        def counted(program: object, *args: object, **how: object) -> object:
            asked.append(getattr(program, "name", ""))
            return several(program, *args, **how)  # type: ignore[arg-type]

        monkeypatch.setattr(type(reference), "run_several", counted)
        graded(session, HALF)
    assert asked
    assert "reference" not in asked


def test_no_extra_input_is_drawn_if_no_rule_needs_it() -> None:
    with GradingSession(QUESTION) as fresh:
        for over, is_drawn in (("def spread(x):\n    return object()", False), (HALF, True)):
            graded(fresh, over)
            remembered = fresh.bank.memory.values()
            extra_cases = [value for value in remembered if isinstance(value, ExtraCases)]
            assert any(extra._is_accepted for extra in extra_cases) is is_drawn


def test_a_result_that_follows_from_a_changed_input_is_not_explained(tmp_path: Path) -> None:
    """The second function is right, but the first one has set their input to zeros."""
    spec = """
    run: ["y = first(x)", "z = second(x)"]
    cases:
      one: {x: [1.0, 2.0, 4.0]}
      two: {x: {normal: [5]}}
      three: {x: {normal: [7]}}
    checks:
      - {id: y, kind: outputs, of: y}
      - {id: z, kind: outputs, of: z}
    """
    right = "def first(x):\n    return 2 * x\n\ndef second(x):\n    return 3 * x\n"
    with opened(tmp_path, textwrap.dedent(spec), right) as asked:
        used_up = right.replace("return 2 * x", "y = 2 * x\n    x *= 0\n    return y")
        report = asked.grade(used_up.encode(), seed=1)
        alone = asked.grade(right.replace("3 * x", "0 * x").encode(), seed=1)
    assert report.verdict is Verdict.FAIL
    assert not [e.text for e in report.explanations if "z is" in e.text]
    assert texts(alone, "rule") == ["z is 0 throughout."]


def test_an_idea_does_not_explain_a_case_with_another_fault(tmp_path: Path) -> None:
    spec = """
    run: ["y, z = both(x)"]
    cases:
      one: {x: [1.0, 2.0, 4.0]}
      two: {x: {normal: [5]}}
      three: {x: {normal: [7]}}
    checks:
      - {id: y, kind: outputs, of: y}
      - {id: z, kind: outputs, of: z}
    """
    idea = '# %% doubled\n# killed_by: y\n"""Twice."""\ndef both(x):\n    return 4 * x, 3 * x\n'
    right = "def both(x):\n    return 2 * x, 3 * x\n"
    with opened(tmp_path, textwrap.dedent(spec), right, ideas=idea) as asked:
        alone = asked.grade(right.replace("2 *", "4 *").encode(), seed=1)
        with_more = asked.grade(b"def both(x):\n    return 4 * x, x ** 3 + 1\n", seed=1)
    (sure,), (partly,) = alone.misconceptions, with_more.misconceptions
    assert (sure.exact, sure.cases, sure.failing) == (True, 3, 3)
    assert (partly.exact, partly.results, partly.cases, partly.failing) == (True, ("y",), 0, 3)
    (text,) = [p.text for p in idea_paragraphs(with_more) if p.lead == "Idea:"]
    assert text == "doubled. It gives exactly your y; more than that is wrong."


SINE = "import numpy as np\n\ndef sine(x, n):\n    return np.sin(x)\n"
WRONG_AT_TWO_NUMBERS = SINE.replace("sin(x)", "sin(x) + (n in (0, 4000)) * np.cos(x)")


@pytest.mark.parametrize("refuted", [False, True])
def test_a_class_is_refuted_by_a_case_of_another_check(refuted: bool, tmp_path: Path) -> None:
    numbers = (0, 0, 0, 1, 2, 3, 4)
    cases: dict[str, object] = {
        f"case{index}": {"x": {"normal": [3 + index]}, "n": n} for index, n in enumerate(numbers)
    }
    checks: list[object] = [{"id": "line", "kind": "outputs", "of": "y", "cases": [*cases]}]
    if refuted:
        cases["large"] = {"x": {"normal": [4]}, "n": 4000}
        checks.append({"id": "manners", "kind": "side-effects", "of": "y", "cases": "large"})
    asked = question(
        tmp_path,
        reference=SINE,
        variants={"open": "def sine(x, n):\n    return x.copy()\n"},
        interface="def sine(x, n): ...",
        run=["y = sine(x, n)"],
        cases=cases,
        checks=checks,
        misconceptions={"open": {"killed_by": "line", "feedback": "It lets x through."}},
    )
    with GradingSession(asked, clock=lambda: 0.0) as session:
        report = session.grade(WRONG_AT_TWO_NUMBERS.encode(), seed=8121)
    text = "y is wrong where n is 0, and in no other case that was tried."
    assert every_text(report) == ([] if refuted else [text])


def test_a_measure_does_not_repeat_the_explanation_of_values(tmp_path: Path) -> None:
    gate = {"id": "gate", "kind": "outputs", "of": "y"}
    speed = {"id": "speed", "kind": "performance", "cases": "many", "at_most": 50}
    source = b"import numpy as np\n\ndef relu(x):\n    return 1.5 * np.maximum(x, 0)\n"
    with GradingSession(question(tmp_path, checks=[gate, speed]), clock=lambda: 0.0) as session:
        report = session.grade(source, seed=8121)
    assert report.checks[1].message == "y is wrong on fresh inputs of case many"
    assert every_text(report) == ["y is 1.500 times the right one."]


def test_a_speed_check_that_an_idea_fails_too_is_not_a_second_fault(
    tmp_path: Path,
) -> None:
    scaled = "import numpy as np\n\ndef relu(x):\n    return 1.5 * np.maximum(x, 0)\n"
    asked = question(
        tmp_path,
        checks=[
            {"id": "gate", "kind": "outputs", "of": "y"},
            {"id": "speed", "kind": "performance", "cases": "many", "at_most": 50},
        ],
        variants={"open": scaled},
        misconceptions={"open": {"killed_by": "gate", "feedback": "It is scaled."}},
    )
    with GradingSession(asked, clock=lambda: 0.0) as session:
        report = session.grade(scaled.encode(), seed=8121)
    assert [check.verdict for check in report.checks] == ["fail", "fail"]
    (idea,) = report.misconceptions
    assert (idea.exact, idea.cases) == (True, idea.failing)
    assert "something else" not in " ".join(paragraph.text for paragraph in idea_paragraphs(report))
