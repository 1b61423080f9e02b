"""Tests that are graded: what they say is counted, and nothing that they do gets them further."""

from __future__ import annotations

import re
import textwrap
import time
from collections.abc import Iterator
from typing import Any

import pytest

from grader import bank
from grader.explain.session import GradingSession
from grader.model.limits import IDLE_SECONDS
from grader.model.report import Report, Verdict
from grader.reports.question import question_markdown
from grader.sandbox import client, process_usage, remote_program
from tests.asking import asked
from tests.grading.kinds.grading import run_check

pytestmark = pytest.mark.usefixtures("one_zygote")

SPEC = """
format: 3
form: write-the-test
title: Does it double?
track: testing
level: warm-up
minutes: 3
uses: [numpy]
prompt: Write a test of doubles.
interface: "def doubles(f, rng): ..."
contract: [A double is twice its argument.]
run: ["said, calls = driver.judge(which, rounds)"]
limits: {cpu_seconds: 0.4, wall_seconds: 6}
checks:
  - {id: verdicts, kind: verdicts, of: said, called: doubles, points: 100,
     accept: [right, buffered], reject: [triple, in-place]}
defaults: {rounds: 2}
cases:
  right: {about: a right one, which: right}
  buffered: {about: one that uses its memory again, which: buffered}
  triple: {about: one that triples, which: triple}
  in-place: {about: one that changes its argument, which: in-place}
code:
  driver: |
    import numpy as np

    def judge(program, which, rounds):
        said, calls = [], 0
        for round in range(rounds):
            count = []
            make = IMPLEMENTATIONS[which]()

            def f(x):
                count.append(x)
                return make(x)

            said.append(program.doubles(f, np.random.default_rng(round)))
            calls = max(calls, len(count))
        if not all(isinstance(one, (bool, np.bool_)) for one in said):
            return "no verdict", calls
        if any(said) and not all(said):
            return "depends on the draw", calls
        return ("accepted" if all(said) else "rejected"), calls

    def right():
        def double(x):
            while np.size(x) and np.any(x == 1e301):
                pass
            return x * 2
        return double

    def buffered():
        out = np.empty(3)
        return lambda x: np.multiply(x, 2, out=out) if np.shape(x) == (3,) else x * 2

    def triple():
        return lambda x: x * 3

    def in_place():
        def secret_of_the_bank(x):
            double = x * 2
            if isinstance(x, np.ndarray):
                x += 1
            return double
        return secret_of_the_bank

    IMPLEMENTATIONS = {"right": right, "buffered": buffered, "triple": triple, "in-place": in_place}
  starter: |
    def doubles(f, rng):
        return True
  reference: |
@REFERENCE@
"""
REFERENCE = """
import numpy as np

def doubles(f, rng):
    x = rng.normal(size=3)
    given = x.copy()
    found = f(given)
    return bool((found == 2 * x).all() and (given == x).all())
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    file = tmp_path_factory.mktemp("bank") / "doubles.yaml"
    text = SPEC.replace("@REFERENCE@", textwrap.indent(REFERENCE.strip("\n"), " " * 4))
    file.write_text(text, encoding="utf-8")
    with GradingSession(bank.load_question([file], "doubles")) as opened:
        yield opened


def graded(session: GradingSession, source: str) -> Report:
    return session.grade(source.encode(), seed=3)


def first(report: Report) -> str:
    return report.checks[0].message


def preceded(lines: str) -> str:
    """The reference, which does something else before."""
    return REFERENCE.replace("rng):\n", "rng):\n" + textwrap.indent(lines, " " * 4), 1)


def test_a_right_test_passes(session: GradingSession) -> None:
    report = graded(session, REFERENCE)
    assert report.verdict is Verdict.PASS
    assert first(report) == "2 of 2 right doubles accepted, 2 of 2 wrong ones rejected"


@pytest.mark.parametrize(
    ("body", "said", "points"),
    [
        ("return True", "2 of 2 right doubles accepted, 0 of 2 wrong ones rejected; "
         "got through: one that triples / one that changes its argument", 0),
        ("return bool(f(2.0) == 4.0)", "2 of 2 right doubles accepted, 1 of 2 wrong ones rejected; "
         "got through: one that changes its argument", 50),
        ("return 1", "0 of 2 right doubles accepted, 0 of 2 wrong ones rejected; "
         "no verdict: a right one / one that uses its memory again / one that triples / "
         "one that changes its argument", 0),
    ],
)  # fmt: skip
def test_verdicts_of_a_test_are_counted_and_earn_points(
    body: str, said: str, points: int, session: GradingSession
) -> None:
    report = graded(session, f"import numpy as np\ndef doubles(f, rng):\n    {body}")
    assert report.verdict is Verdict.FAIL
    assert said in first(report)
    assert report.checks[0].points == points
    text = repr(report.checks)
    assert not any(name in text for name in ("in-place", "'triple'", "buffered", "secret"))


@pytest.mark.parametrize(
    "lines",
    [
        "import threading\nt = threading.Thread(target=f, args=(1.0,))\nt.start(); t.join()\n",
        "try: f(np.array([object()]))\nexcept TypeError: pass\nelse: 1 / 0\n",
        "try: f(lambda: 1)\nexcept TypeError: pass\nelse: 1 / 0\n",
        "x = np.ones(2, np.longdouble)\nassert f(x).dtype == np.longdouble\n",
        "import gc, sys\nfound = [str(v) for v in (f, f.args, vars(sys.modules['__main__']))]\n"
        "found += [str(m) for m in sys.modules] + [str(o)[:99] for o in gc.get_objects()]\n"
        "frame = sys._getframe()\nwhile frame:\n    found += [*frame.f_globals, *frame.f_locals]\n"
        "    frame = frame.f_back\n"
        "assert not any('_terces'[::-1] in v or 'ecalp_ni'[::-1] in v for v in found)\n",
    ],
)  # fmt: skip
def test_useless_lines_that_do_no_harm_are_allowed(lines: str, session: GradingSession) -> None:
    report = graded(session, preceded(lines))
    assert report.verdict is Verdict.PASS, (first(report), report.checks[0].raised)


FORGE = """
import os, struct
def doubles(f, rng):
    for fd in range(3, 64):
        try: os.write(fd, {frame})
        except OSError: pass
    return f(1.0) == 2.0
"""
SAID = "struct.pack('<4sIQ', b'drls', {n}, 0) + {meta!r}"
FRAMES = {
    "nothing": "b'x' * 64",
    "call-of-no-json": SAID.format(n=4, meta=b"[[[["),
    "call-of-nothing": SAID.format(n=15, meta=b'[["call",77],0]'),
    "call-of-another": SAID.format(n=19, meta=b'[["call",77,-1],[]]'),
    "result": SAID.format(n=19, meta=b'[["gives",0,-1],[]]'),
    "endless": "struct.pack('<4sIQ', b'drls', 1 << 19, 1 << 50)",
    "reply": "struct.pack('<4sIQ', b'drl1', 28, 0) + b'{\"ok\":true,\"about\":\"gives\"  }'",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_forged_frames_are_a_fault_of_their_sender(frame: str, session: GradingSession) -> None:
    report = graded(session, FORGE.format(frame=frame))
    assert report.verdict in {Verdict.ERROR, Verdict.FAIL, Verdict.LIMIT}
    assert graded(session, REFERENCE).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("body", "verdict", "said"),
    [
        ("import os; os._exit(3)", Verdict.ERROR, "exit status 3"),
        ("import os; os.fork(); return True", Verdict.ERROR, "no verdict, raised PermissionError"),
        ("while True: f(1.0)", Verdict.LIMIT, "called what it tests more than 30 times"),
        ("f('a')['b']", Verdict.ERROR, "no verdict, raised TypeError"),
        # Whatever a test could choose would tell it what it was tried on.
        ("raise type('L' + str(f(2.0)), (Exception,), {})", Verdict.ERROR,
         "no verdict, raised an exception: a right one"),
    ],
)  # fmt: skip
def test_the_cause_of_an_ended_grade_is_reported_and_the_next_grade_passes(
    body: str, verdict: Verdict, said: str, session: GradingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_program, "MAX_TESTED_CALLS", 30)
    monkeypatch.setattr(remote_program, "CALL_SECONDS", 0.3)
    report = graded(session, f"import numpy as np\ndef doubles(f, rng):\n    {body}")
    assert report.verdict is verdict
    assert said in first(report)
    assert graded(session, REFERENCE).verdict is Verdict.PASS


class Clock:
    """A clock that a test puts forward, in place of the module `time`."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.mark.parametrize("slow", ["what is tested", "the judge"])
def test_waiting_for_a_call_does_not_count_as_idle_time_of_a_test(
    slow: str, gradients: GradingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine many calls, each within the contract, are still right."""
    clock, queued = Clock(), [0.0]
    monkeypatch.setattr(client, "time", clock)
    monkeypatch.setattr(process_usage, "own_queued_seconds", lambda: queued[0], raising=False)
    ask, watch = client.WorkerClient.ask, client.WorkerClient._watch_all

    def slowly_asked(self: client.WorkerClient, request: Any, *more: Any, **named: Any) -> Any:
        said = request.get("said")
        if slow == "what is tested" and said is not None and said.about == "call":
            clock.ahead += 1.0
        return ask(self, request, *more, **named)

    def slowly_watched(self: client.WorkerClient) -> None:
        if slow == "the judge":
            clock.ahead += 1.0
            queued[0] += 1.0
        watch(self)

    monkeypatch.setattr(client.WorkerClient, "ask", slowly_asked)
    monkeypatch.setattr(client.WorkerClient, "_watch_all", slowly_watched)
    report = gradients.grade(gradients.question.reference, seed=3)
    assert report.verdict is Verdict.PASS, first(report)
    assert clock.ahead > 2 * IDLE_SECONDS


def test_a_flood_of_calls_that_takes_too_long_is_reported_as_one(
    session: GradingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_program, "MAX_TESTED_CALLS", 10**9)
    source = "import numpy as np\ndef doubles(f, rng):\n    while True: f(1.0)"
    report = graded(session, source)
    assert report.verdict is Verdict.LIMIT
    said = r"called what it tests [\d,]+ times? and did not finish within (0.4|6) seconds"
    assert re.search(said, first(report))


def test_the_first_check_runs_the_implementations_of_every_check(
    gradients: GradingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the number of a process, which process ids give away, says which half it is from."""
    runs: list[object] = []
    run = remote_program.TesterProgram._run

    def counted(self: remote_program.TesterProgram, *args: Any) -> Any:
        runs.append(args)
        return run(self, *args)

    monkeypatch.setattr(remote_program.TesterProgram, "_run", counted)
    always = b"def gradient_is_right(forward, backward, x, rng):\n    return True\n"
    report = gradients.grade(always, seed=3)
    assert report.parts_passed == 0
    named = {
        name
        for check in gradients.question.spec.checks
        if check.kind == "verdicts"
        for name in (*check.accept, *check.reject)  # type: ignore[attr-defined]
    }
    assert len(runs) >= len(named) > 15


def test_an_answer_that_grows_on_its_way_is_a_fault_of_its_sender(
    session: GradingSession,
) -> None:
    """1e15 is three times as long when it is written anew."""
    given = '{"ok":true,"about":"gives","given":[{"value":[' + ",".join(["1e15"] * 200_000) + "]}]}"
    frame = f"(lambda text: struct.pack('<4sIQ', b'drl1', len(text), 0) + text)({given.encode()!r})"
    report = graded(session, FORGE.format(frame=frame))
    assert report.verdict is Verdict.ERROR
    assert graded(session, REFERENCE).verdict is Verdict.PASS


def test_a_change_made_by_a_call_is_visible_to_the_caller(session: GradingSession) -> None:
    seen = REFERENCE.replace(
        "return bool(", "print(given.tolist() == x.tolist())\n    return bool("
    )
    report = graded(session, seen)
    assert report.printed.count("False") == 2  # one implementation, twice
    assert report.printed.count("True") == 6


def test_an_audit_sees_which_implementations_a_test_misjudges(session: GradingSession) -> None:
    source = b"def doubles(f, rng):\n    return bool(f(2.0) == 4.0)"
    evaluation = session.evaluate_bank_program("trusts", [source], 3)
    found = run_check(evaluation, session.question.spec.checks[0])
    assert found.failing == ("in-place",)
    assert found.figures["share"] == 0.5


@pytest.fixture(scope="module")
def gradients() -> Iterator[GradingSession]:
    with GradingSession(asked("gradient-check")) as opened:
        yield opened


def test_an_empty_test_is_reported_as_empty(gradients: GradingSession) -> None:
    report = gradients.grade(b"\n", seed=3)
    expected = "the file is empty; expected gradient_is_right(forward, backward, x, rng)"
    assert (report.verdict, report.message) == ("error", expected)


def test_a_missing_test_is_reported_as_missing(session: GradingSession) -> None:
    report = graded(session, "def double(f, rng):\n    return True")
    assert report.verdict is Verdict.ERROR
    assert report.message.startswith("submission.py does not define doubles(f, rng) yet")


def test_the_page_of_a_diagnosis_says_that_some_causes_are_red_herrings() -> None:
    assert "Possible causes (some are red herrings)" in question_markdown(asked("every-knob"))
