"""Small cases run in one request and are remembered; others run alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.grading.evaluation import Evaluation
from grader.model.limits import PREFETCH_SECONDS
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote_program import RemoteProgram
from tests.grading.kinds.grading import Desk
from tests.grading.kinds.one_file import opened

FORWARD = "def centre(x, w):\n    d = _centred(x)\n    {}\n    return w * d, (d, np.array(w))\n"


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    requests_made: list[tuple[str, int]] = []
    several, run = RemoteProgram.run_several, RemoteProgram.run

    def watched(self: RemoteProgram, steps: Any, inputs: Any, *more: Any, **how: Any) -> Any:
        requests_made.append((self.name, len(inputs)))
        return several(self, steps, inputs, *more, **how)

    def once(self: RemoteProgram, *asked: Any) -> Any:
        requests_made.append((self.name, 1))
        return run(self, *asked)

    monkeypatch.setattr(RemoteProgram, "run_several", watched)
    monkeypatch.setattr(RemoteProgram, "run", once)
    return requests_made


def cases(evaluation: Evaluation) -> list[Any]:
    return [evaluation.cases[name] for name in ("small", "rows", "float32")]


def test_inputs_are_run_once_and_then_remembered(deviations: Desk, requests: list[Any]) -> None:
    evaluation = deviations.evaluation()
    some = cases(evaluation)
    requests.clear()
    evaluation.prefetch([evaluation.subject], "main", some)
    evaluation.prefetch([evaluation.subject], "main", some)
    outcomes = [evaluation.subject_outcome("main", case) for case in some]
    assert [entry for entry in requests if entry[0] == "submission"] == [("submission", 3)]
    assert all(each.values["y"].shape == each.values["grad_x"].shape for each in outcomes)


def test_an_exception_on_one_input_does_not_affect_another(deviations: Desk) -> None:
    evaluation = deviations.evaluation(FORWARD.format("1 / (len(x) - 1)"))
    evaluation.prefetch([evaluation.subject], "main", cases(evaluation))
    with pytest.raises(ProgramError, match="raised ZeroDivisionError"):
        evaluation.subject_outcome("main", evaluation.cases["small"])
    assert evaluation.subject_outcome("main", evaluation.cases["rows"]).values


SIZES = """\
    run: [y = f(x)]
    cases: {a: {x: [1.0]}, b: {x: {normal: 3}}, c: {x: {normal: 9000}}}
    checks: [{id: y, kind: outputs, of: y}]
    """
DOUBLE = "def f(x):\n    return 2 * x\n"


@pytest.mark.parametrize("name", ["reference", "submission"])
def test_all_small_cases_are_run_at_once(tmp_path: Path, requests: list[Any], name: str) -> None:
    with opened(tmp_path, SIZES, DOUBLE) as session:
        session.grade(DOUBLE.encode(), seed=1)
    theirs = [count for asked, count in requests if asked == name]
    assert theirs[:2] == [2, 1]  # what is large is asked for by itself


@pytest.mark.parametrize(
    ("end", "verdict", "end_text"),
    [
        ("import os; os._exit(3)", "error", "ended its process (exit status 3) before it answered"),
        ("while True: pass", "limit", "did not finish within 1.5 seconds, stopped in `f`, line 5"),
    ],
)
def test_an_input_that_ends_the_process_is_found_by_running_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, verdict: str, end_text: str
) -> None:
    monkeypatch.setitem(PREFETCH_SECONDS, False, 0.1)
    source = "print('loaded')\ndef f(x):\n    if x.size == 3:\n        print(1, flush=True)\n"
    source += f"        {end}\n    return 2 * x\n"
    with opened(tmp_path, SIZES, DOUBLE) as session:
        report = session.grade(source.encode(), seed=1)
    (check,) = report.checks
    assert (report.verdict.value, check.failing, report.printed) == (verdict, ("b",), "loaded\n1\n")
    assert check.message.startswith(f"your code {end_text}")


SCALARS = """\
    run: ["y = f(n, k)"]
    cases:
      drawn: {n: {integers: [], from: 3, to: 9, dtype: int64}, k: 2}
      known: {n: 1000, k: 2}
    checks: [{id: y, kind: outputs, of: y}]
    """


def test_a_case_of_written_numbers_is_shown_before_a_drawn_case(
    tmp_path: Path,
) -> None:
    product = "def f(n, k):\n    return n * k\n"
    with opened(tmp_path, SCALARS, product) as session:
        wrong_everywhere = session.grade(b"def f(n, k):\n    return n + k\n", seed=1).checks[0]
        wrong_if_drawn = b"def f(n, k):\n    return n * k - (n < 10)\n"
        (drawn,) = session.grade(wrong_if_drawn, seed=1).checks
    assert wrong_everywhere.failing == ("known", "drawn")
    assert wrong_everywhere.case_line == "n 1000, k 2"
    assert drawn.failing == ("drawn",)
    n, k = drawn.case_line.split(", ")
    assert 3 <= int(n.removeprefix("n ")) <= 9
    assert k == "k 2"
