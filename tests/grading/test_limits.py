"""A question limits how long a call may take, and a message names the limit that was exceeded."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.model.report import Verdict
from grader.sandbox.client import RequestLimits
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker_pool import WorkerPool
from tests.grading.kinds.one_file import graded, of, opened

pytestmark = pytest.mark.usefixtures("one_zygote")

REST = """\
run:
  - y = f(x)
cases:
  brief: {x: [1.0, 2.0]}
  steep: {x: [1.0, 2.0, 3.0], LIMITS}
checks:
  - {id: values, kind: outputs, of: y}
"""
REFERENCE = "def f(x):\n    return 2 * x\n"
HANGS = "def f(x):\n    while len(x) == 3:\n        pass\n    return 2 * x\n"
SLEEPS = HANGS.replace("pass", "time.sleep(0.05)").replace("def", "import time\ndef", 1)
SLOW = """\
import time
def f(x):
    end = time.process_time() + (0.4 if len(x) == 3 else 0.0)
    while time.process_time() < end:
        pass
    return 2 * x
"""


@pytest.mark.parametrize(
    ("limits", "where"),
    [
        ("case", "limits of case steep"),
        ("question", "limits of the question"),
    ],
)
def test_the_message_names_the_limit_and_where_it_is_set(
    tmp_path: Path, limits: str, where: str
) -> None:
    own = "limits: {cpu_seconds: 0.2}"
    spec = REST.replace("LIMITS", own) if limits == "case" else REST.replace(", LIMITS", "") + own
    with opened(tmp_path, spec, REFERENCE) as session:
        report = graded(session, HANGS)
        check = of(report, "values")
        assert check.verdict is Verdict.LIMIT
        start = f"your code did not finish within 0.2 seconds of CPU time ({where})"
        assert check.message.startswith(start)
        assert check.message.endswith("(case steep)")
        assert graded(session, REFERENCE).verdict is Verdict.PASS


def test_a_limit_by_the_clock_stops_code_that_only_waits(tmp_path: Path) -> None:
    spec = REST.replace("LIMITS", "limits: {wall_seconds: 0.3}")
    with opened(tmp_path, spec, REFERENCE) as session:
        check = of(graded(session, SLEEPS), "values")
    assert check.verdict is Verdict.LIMIT
    assert "within 0.3 seconds by the clock (limits of case steep)" in check.message


@pytest.mark.parametrize("allowed", [True, False])
def test_a_call_may_take_longer_if_the_question_allows_it(
    tmp_path: Path, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.sandbox.remote_program.CALL_SECONDS", 0.15)
    own = "limits: {cpu_seconds: 30}"
    spec = REST.replace("LIMITS", own) if allowed else REST.replace(", LIMITS", "")
    with opened(tmp_path, spec, SLOW) as session:
        report = graded(session, REFERENCE)
    if allowed:
        assert report.verdict is Verdict.PASS
        return
    assert report.verdict is Verdict.INVALID
    assert "the reference fails on case steep: did not finish within 0.15 seconds" in report.message
    assert "limits in the spec says how long a call may take" in report.message


def test_a_request_that_repeats_a_call_has_a_higher_limit() -> None:
    limits = RequestLimits(60, None, "limits of the question")
    assert limits.scaled_for(5) == limits
    assert limits.scaled_for(60) == RequestLimits(720, None, limits.set_by)
    assert RequestLimits(5, 40).scaled_for(60) == RequestLimits(60, 480)


@pytest.mark.parametrize(
    ("elapsed", "spent", "queued", "ends"),
    [
        (90.0, 4.9, 84.0, ""),  # a core among many programs: no limit of the program's
        (90.0, 5.1, 84.0, "did not finish within 5 seconds"),
        (6.0, 0.9, 0.0, "was idle for more than 5 seconds"),
        (6.0, 0.9, 0.2, ""),
        (20.0, 0.0, None, ""),  # nobody knows how long it waited for a core
        (26.0, 0.0, None, "was idle for more than 25 seconds"),
        (4.9, None, None, ""),
        (5.1, None, None, "did not finish within 5 seconds"),
    ],
)
def test_only_the_work_of_the_program_itself_counts(
    elapsed: float, spent: float | None, queued: float | None, ends: str
) -> None:
    assert RequestLimits().describe_excess(elapsed, spent, queued) == ends


def test_a_program_that_waits_is_ended_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.sandbox.client.IDLE_SECONDS", 0.3)
    with opened(tmp_path, REST.replace(", LIMITS", ""), REFERENCE) as session:
        check = of(graded(session, SLEEPS), "values")
    assert check.verdict is Verdict.LIMIT
    assert "was idle for more than 0.3 seconds" in check.message


@pytest.mark.parametrize(("slowest", "seconds"), [(0.001, 1.5), (0.01, 2.5), (0.2, 5.0)])
def test_a_call_is_stopped_sooner_if_the_reference_is_fast(slowest: float, seconds: float) -> None:
    with WorkerPool(torch=False) as workers, workers.take_worker() as worker:
        program = RemoteProgram(worker, "submission", [], slowest_call=lambda: slowest)
        assert program._request_limits() == RequestLimits(seconds)
        assert program._request_limits(60) == RequestLimits(60)  # what repeats a call
