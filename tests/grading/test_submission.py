"""Every file gets a verdict and a clear sentence, and leaves nothing behind.

For each submission the tests require: the verdict; a sentence that names the fault; no trace of our
own code in the report; a report that can be stored and shown; and no process that is left.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import bank
from grader.explain.session import GradingSession
from grader.model.question import Question
from grader.model.report import Report
from grader.reports.json import to_json
from grader.sandbox import client, remote_program
from tests.leftovers import all_end
from tests.pages import from_json, page_of

ROOT = Path(__file__).parents[2]
SEED = 7
SHORT = 0.5  # seconds of a call where one is meant to overrun

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.usefixtures("one_zygote"),
]


@functools.cache
def question(question_id: str = "maxpool-routing") -> Question:
    """Return a question without its ideas: these tests are not about naming."""
    return replace(bank.load_question([ROOT], question_id), variants={})


REFERENCE = question().reference.decode()
FORWARD = "def maxpool2d_forward(x, kernel, stride, padding=0):\n"
BACKWARD = "def maxpool2d_backward(grad_y, ctx):\n"


def around(body: str) -> str:
    """Return a right solution with one function replaced; `_f` and `_b` are the right functions."""
    return f"{REFERENCE}\n\n_f, _b = maxpool2d_forward, maxpool2d_backward\n\n\n{body}"


def forward(*lines: str, before: str = "") -> str:
    return around(before + FORWARD + "".join(f"    {line}\n" for line in lines))


def backward(*lines: str, before: str = "") -> str:
    return around(before + BACKWARD + "".join(f"    {line}\n" for line in lines))


RIGHT = "return _f(x, kernel, stride, padding)"


def bad(name: str, source: str | bytes, verdict: str, *says: str) -> Any:
    """Return a submission, the verdict it must get, and texts that its report must have."""
    return pytest.param(source, verdict, says, id=name)


def words_of(report: Report) -> str:
    """Return all messages and exceptions of a report."""
    parts = [report.message]
    raised = [report.raised] if report.raised else []
    for check in report.checks:
        if check.verdict not in {"pass", "skipped"}:
            parts.append(check.message)
            raised += [check.raised] if check.raised else []
    return " | ".join(filter(None, [*parts, *(f"{r.type}: {r.message}" for r in raised)]))


Grade = Callable[..., Report]


@pytest.fixture(scope="module")
def session_of() -> Iterator[Callable[[str], GradingSession]]:
    """Return the session of a question: only a submission's process starts within a test."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def opened(question_id: str) -> GradingSession:
            asked = question(question_id)
            session = stack.enter_context(GradingSession(asked))
            # What stays for the session is started now, in a folder that no test looks at.
            bodies = "".join(
                f"def {f}(*_, **__):\n    raise LookupError\n" for f in asked.functions
            )
            assert session.grade(bodies.encode(), seed=SEED).verdict == "error"
            return session

        yield opened


@pytest.fixture
def graded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    session_of: Callable[[str], GradingSession],
) -> Grade:
    """Grade, and check the promises of every report."""

    def run(source: str | bytes, question_id: str = "maxpool-routing") -> Report:
        data = source.encode() if isinstance(source, str) else source
        session = session_of(question_id)
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path))  # to recognize its worker
            report = session.grade(data, seed=SEED)
            if any(tmp_path.iterdir()):
                session.bank.close()  # programs of the bank started again
        assert from_json(json.loads(json.dumps(to_json(report, whole=True)))) == report
        for width in (60, 80, 120):
            page = page_of(report, width)
            assert all(c.isprintable() or c == "\n" for c in page)
        words = words_of(report)
        for ours in ("grader/", "worker/", "Traceback", 'File "', "^^^", "judge/", "0x7f"):
            assert ours not in words
        assert "\n" not in report.message
        assert report.verdict != "invalid"
        assert all_end(tmp_path)
        assert list(tmp_path.iterdir()) == []  # the scratch folders are removed
        return report

    return run


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the limits, for submissions that exceed them."""
    monkeypatch.setattr(remote_program, "CALL_SECONDS", SHORT)
    monkeypatch.setattr(client, "IDLE_SECONDS", SHORT)


NO_PROGRAM = [
    bad("empty", b"", "error", "is empty", "maxpool2d_forward(x, kernel, "),
    bad("a comment alone", b"# to do\n", "error",
        "submission.py does not define maxpool2d_forward(x, kernel, stride, padding=0) and"),
    bad("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "error"),
    bad("a NUL byte", REFERENCE.encode() + b"\n\0\n", "error", "null"),
    bad("UTF-16", REFERENCE.encode("utf-16"), "error"),
    bad("too deep to parse", "(" * 300, "error", "too many nested parentheses"),
    bad("an encoding that nobody knows", b"# coding: nonsense\n", "error", "nonsense"),
    bad("tabs among spaces", "def f(x):\n\treturn 1\n        return 2\n", "error", "tabs"),
    bad("Latin-1", b"# caf\xe9\n" + REFERENCE.encode(), "error", "UTF-8"),
    bad("10 MB", b"#" * 10_000_000, "limit", "10,000,000 bytes"),
    bad("Python 2", f"print 'hello'\n{REFERENCE}", "error", "line 1", "print"),
    bad("None", "maxpool2d_forward = maxpool2d_backward = None\n", "error", "maxpool2d_forward"),
    bad("an evil module", "def __getattr__(name):\n    raise ValueError('no ' + name)\n", "error",
        "no maxpool2d"),
    bad("loops on loading", "while True: pass\n", "limit", "did not finish", "loaded"),
    bad("writes 100 MB", "open('t', 'wb').write(bytes(100 << 20))\n", "error", "OSError"),
]  # fmt: skip
BAD = [
    bad("an unused import", f"import pandas\n{REFERENCE}", "pass"),
    bad("a used import", f"import pandas\n{REFERENCE}\n" + forward("return pandas.f(x)"), "error",
        "No module named 'pandas': it can be imported here, but not used"),
    bad("a misspelt name", REFERENCE.replace("def maxpool2d_backward", "def maxpool2d_backwards"),
        "error", "is maxpool2d_backwards meant to be maxpool2d_backward?"),
    bad("None returned", forward("y = None", "return y"), "fail", "returned None",
        "2 results (y, ctx)"),
    bad("no body", forward("return None"), "error", "is not implemented yet"),
    bad("a coroutine", around(f"async {FORWARD}    {RIGHT}\n"), "fail", "one coroutine"),
    bad("nothing behind", backward("g = grad_y"), "fail", "grad_x is None"),
    bad("nested lists", backward("return _b(grad_y, ctx).tolist()"), "fail", "a list of 1"),
    bad("dates", backward("return np.zeros(_b(grad_y, ctx).shape, 'M8[s]')"), "fail"),
    bad("a list that holds itself",
        forward("a = []", "a.append(a)", "return a, _f(x, kernel, stride, padding)[1]"), "fail"),
    bad("a billion entries that take no room",
        backward("return np.broadcast_to(0.0, (1 << 15, 1 << 15))"), "limit", "MemoryError"),
    bad("a view of the input",
        forward("y, ctx = _f(x, kernel, stride, padding)",
                "return (x[...] if kernel == 1 else y), ctx"),
        "fail", "y shares its memory with x"),
    bad("a subclass that will not be read",
        forward("return A(a=1), _f(x, kernel, stride, padding)[1]",
                before="class A(dict):\n    def __iter__(self): raise ValueError('no')\n\n"),
        "error"),
    bad("sys.exit in a call", forward("import sys", "sys.exit(0)"), "error", "sys.exit(0)"),
    bad("closes everything", forward("import os", "os.closerange(0, 64)", RIGHT), "error"),
    bad("closes its output", f"import os\nos.close(1)\nos.close(2)\n{REFERENCE}", "pass"),
    bad("clears builtins in a call",
        forward("import builtins", "vars(builtins).clear()", "return 1, 2"), "error"),
    bad("breaks numpy", f"{REFERENCE}\nnp.array = np.ndarray = None\n", "error"),
    bad("reads the keyboard", forward("input()"), "error", "EOFError"),
    bad("recurses without end", forward("return maxpool2d_forward(x, kernel, stride, padding)"),
        "error", "RecursionError"),
    bad("a thread that stays",
        "import threading\nthreading.Thread(target=threading.Event().wait).start()\n" + REFERENCE,
        "pass"),
    bad("errors for warnings",
        f"import warnings\nwarnings.simplefilter('error')\n{REFERENCE}", "pass"),
    bad("a demonstration",
        f"{REFERENCE}\n\nif __name__ == '__main__':\n    raise SystemExit(1)\n", "pass"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "verdict", "says"), [*NO_PROGRAM, *BAD])
def test_every_wrong_submission_gets_a_verdict_and_a_sentence(
    source: str | bytes,
    verdict: str,
    says: tuple[str, ...],
    graded: Grade,
    request: pytest.FixtureRequest,
) -> None:
    if verdict == "limit":
        request.getfixturevalue("hurried")
    report = graded(source)
    words = words_of(report)
    assert report.verdict == verdict, words
    assert all(part in words for part in says), words
    assert words or verdict == "pass"
    if request.node.callspec.id in {str(case.id) for case in NO_PROGRAM}:
        assert report.checks == ()


@pytest.mark.parametrize(
    ("source", "line", "marked"),
    [
        ("a = 1\nb = [1, 2)\n", 2, ")"),
        ("a = 1\n\n\ndef f():\n    return 1 +* 2\n", 5, "*"),
        ("if x = 1:\n    pass\n", 1, "x"),
        ("text = 'cafés' 3\n", 1, "3"),
    ],
)
def test_a_caret_stands_below_a_syntax_error(
    source: str, line: int, marked: str, graded: Grade
) -> None:
    lines = page_of(graded(source)).splitlines()
    number = next(n for n, text in enumerate(lines) if f"submission.py:{line}" in text)
    assert lines[number + 1].strip() == "^"
    assert lines[number][lines[number + 1].index("^")] == marked


def test_a_signature_that_does_not_fit_is_shown_with_the_call(graded: Grade) -> None:
    for parameters in ("", "x, kernel, stride", "x, kernel, stride, padding, dilation"):
        report = graded(around(f"def maxpool2d_forward({parameters}):\n    return 1, 2\n"))
        first = report.checks[0]
        assert (report.verdict, first.verdict) == ("error", "error")
        assert first.raised is not None
        assert first.raised.type == "TypeError"
        assert "argument" in first.raised.message
        assert first.raised.step == "y, ctx = maxpool2d_forward(x, kernel, stride, padding)"
        assert "x (" in first.raised.called_with


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("torch.zeros(2, dtype=torch.float8_e4m3fn)", ""),
        ("torch.zeros(2, device='meta')", "y "),
        ("[None][0]", "y is None"),
        ("_right(x, *w)[..., None]", "y has shape"),
    ],
)
def test_odd_tensors_are_described_too(result: str, says: str, graded: Grade) -> None:
    pytest.importorskip("torch")
    right = question("vram-bottleneck").reference.decode()
    instead = f"def swiglu_mlp(x, *w):\n    return {result}\n"
    report = graded(f"{right}\n\n_right = swiglu_mlp\n\n\n{instead}", "vram-bottleneck")
    assert report.verdict in {"fail", "error"}
    assert says in words_of(report)
    assert "your code raised" not in words_of(report)


EXCEPTIONS = [
    "ValueError('no')", "BaseException('no')", "KeyboardInterrupt", "StopIteration",
    "SystemExit(0)", "SyntaxError('no')", "ExceptionGroup('no', [ValueError(1)])",
]  # fmt: skip


@pytest.mark.parametrize("raised", EXCEPTIONS)
def test_every_exception_is_shown_at_its_line(raised: str, graded: Grade) -> None:
    report = graded(f"import numpy\n\nraise {raised}\n")
    assert report.verdict == "error"
    assert re.match("loading the file raised .*[^: ]$", report.message)
    assert report.raised is not None
    assert [frame.line for frame in report.raised.frames] == [3]
    report = graded(forward(f"raise {raised}"))
    assert report.verdict == "error"
    first = report.checks[0]
    assert first.raised is not None
    assert first.raised.frames[-1].source == f"raise {raised}"
    assert "your maxpool2d_forward raised" in first.message


def test_control_characters_in_shown_texts_are_escaped(graded: Grade) -> None:
    text = "a\\nb\\x1b[2J\\x1b]0;t\\x07\\r\\u202ec\\x00"
    report = graded(forward(f"raise ValueError('{text}{'z' * 5000}')"))
    assert report.verdict == "error"
    name = "E = type('a\\n\\x1b[31mb', (Exception,), {})\n\n\n"
    assert graded(forward("raise E('x')", before=name)).verdict == "error"
    report = graded(forward(f"print('caf\\xe9 {text}')", "raise ValueError"))
    assert "café a\nb\x1b[2J" in report.printed
    assert "\x1b" not in page_of(report)
    assert "\\x1b[2J" in page_of(report)
