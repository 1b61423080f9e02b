"""Whatever a file does, it becomes a verdict and a clear sentence, and nothing of it stays behind.

Every submission here is graded as any other is.  What is promised for each: the verdict; a
sentence that names the fault; nothing of our own code in what is said; a report that can be stored
and shown; and no process left.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from grader import bank
from grader.model.question import Question
from grader.model.report import Report
from grader.reports.json import dumps
from grader.sandbox import client, remote
from grader.session import GradingSession
from tests.leftovers import all_end
from tests.pages import page_of
from tests.reports.decoding import from_json
from tests.sandbox.running import FIND

ROOT = Path(__file__).parents[2]
SEED = 7
SHORT = 0.5  # seconds of a call where one is meant to overrun

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.usefixtures("one_zygote"),
]


@functools.cache
def question(question_id: str = "maxpool-routing") -> Question:
    """A question without its misconceptions: what is named is not the matter here."""
    return replace(bank.load([ROOT], question_id), variants={})


REFERENCE = question().reference.decode()
FORWARD = "def maxpool2d_forward(x, kernel, stride, padding=0):\n"
BACKWARD = "def maxpool2d_backward(grad_y, ctx):\n"


def around(body: str) -> str:
    """A right solution with one function in its way; `_f` and `_b` are the right ones."""
    return f"{REFERENCE}\n\n_f, _b = maxpool2d_forward, maxpool2d_backward\n\n\n{body}"


def forward(*lines: str, before: str = "") -> str:
    return around(before + FORWARD + "".join(f"    {line}\n" for line in lines))


def backward(*lines: str, before: str = "") -> str:
    return around(before + BACKWARD + "".join(f"    {line}\n" for line in lines))


RIGHT = "return _f(x, kernel, stride, padding)"


@dataclass(frozen=True, slots=True)
class Bad:
    """A submission, the verdict it must get, and what must be said of it."""

    name: str
    source: str | bytes
    verdict: str
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()  # must not be said


def bad(name: str, source: str | bytes, verdict: str, *says: str, never: Sequence[str] = ()) -> Bad:
    return Bad(name, source, verdict, says, tuple(never))


def rendered(report: Report, width: int = 80) -> str:
    return page_of(report, width)


def said(report: Report) -> str:
    """Everything that the report says in words."""
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
    """One session for each question: only a submission's own process starts within a test."""
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
    """Grade, and hold the report to what is promised for all of them."""

    def run(source: str | bytes, question_id: str = "maxpool-routing") -> Report:
        data = source.encode() if isinstance(source, str) else source
        session = session_of(question_id)
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path))  # so that its worker can be told
            report = session.grade(data, seed=SEED)
            if any(tmp_path.iterdir()):
                session.bank.close()  # the bank's own programs had to start again meanwhile
        assert from_json(json.loads(dumps(report, whole=True))) == report
        for width in (60, 80, 120):
            shown = rendered(report, width)
            assert all(c.isprintable() or c == "\n" for c in shown)
        words = said(report)
        for ours in ("grader/", "worker/", "Traceback", 'File "', "^^^", "judge/", "0x7f"):
            assert ours not in words
        assert "\n" not in report.message
        assert report.verdict not in {"invalid", "internal"}
        assert all_end(tmp_path)
        assert list(tmp_path.iterdir()) == []  # the scratch folders are removed
        return report

    return run


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the limits, for those who run into them."""
    monkeypatch.setattr(remote, "CALL_SECONDS", SHORT)
    monkeypatch.setattr(client, "MOST_SLACK", SHORT)


def check(case: Bad, report: Report) -> None:
    words = said(report)
    assert report.verdict == case.verdict, words
    for part in case.says:
        assert part in words
    for part in case.never:
        assert part not in words
    if case.verdict != "pass":
        assert words


def by_name(case: Bad) -> str:
    return case.name


# -- files that are no program ---------------------------------------------------------------------

NO_PROGRAM = [
    bad("empty", b"", "error", "is empty", "maxpool2d_forward and maxpool2d_backward"),
    bad("white space", b" \t\r\n\f\n", "error", "is empty"),
    bad("a BOM alone", b"\xef\xbb\xbf\r\n", "error", "is empty"),
    bad("a comment alone", b"# to do\n", "error", "expected maxpool2d_forward", "no functions"),
    bad("HTML", b"<html><body>hello</body></html>", "error", "not valid Python", "line 1"),
    bad("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "error"),
    bad("a NUL byte", REFERENCE.encode() + b"\n\0\n", "error", "null"),
    bad("UTF-16", REFERENCE.encode("utf-16"), "error"),
    bad("Latin-1", b"# caf\xe9\n" + REFERENCE.encode(), "error", "UTF-8"),
    bad("Latin-1 in a text", b"s = '\xe9'\n" + REFERENCE.encode(), "error", "UTF-8"),
    bad("an unknown coding", b"# coding: nonsense\n" + REFERENCE.encode(), "error", "nonsense"),
    bad("10 MB", b"#" * 10_000_000, "limit", "10,000,000 bytes"),
    bad("a Markdown fence", f"```python\n{REFERENCE}\n```\n", "error", "line 1"),
    bad("deep nesting", f"x = {'(' * 500}{')' * 500}\n", "error", "nested parentheses"),
    bad("Python 2", f"print 'hello'\n{REFERENCE}", "error", "line 1", "print"),
    bad("a return outside", "return 1\n", "error", "line 1", "outside function"),
    bad("an open bracket", f"{REFERENCE}\nx = (1,\n", "error", "never closed"),
    bad("an open text", f"{REFERENCE}\ns = '''\n", "error", "unterminated"),
    bad("tabs and spaces", "if True:\n\tx = 1\n        y = 2\n", "error", "line 3", "tabs"),
    bad("no indent", "def f():\nreturn 1\n", "error", "line 2", "indented block"),
]


@pytest.mark.parametrize("case", NO_PROGRAM, ids=by_name)
def test_a_file_that_is_no_program_is_told_so(case: Bad, graded: Grade) -> None:
    report = graded(case.source)
    check(case, report)
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
def test_a_caret_stands_below_what_does_not_parse(
    source: str, line: int, marked: str, graded: Grade
) -> None:
    lines = rendered(graded(source)).splitlines()
    shown = next(n for n, text in enumerate(lines) if f"submission.py:{line}" in text)
    assert lines[shown + 1].strip() == "^"
    assert lines[shown][lines[shown + 1].index("^")] == marked


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbf" + REFERENCE.encode(),
        REFERENCE.replace("\n", "\r\n").encode(),
        REFERENCE.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + REFERENCE.replace("\n", "\r\n").encode(),
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + REFERENCE.encode(),
        b"\f\n" + REFERENCE.encode() + b"\n\n\x0c",
    ],
    ids=["BOM", "CRLF", "CR", "BOM and CRLF", "Latin-1 declared", "form feeds"],
)
def test_any_text_that_python_reads_is_read(source: bytes, graded: Grade) -> None:
    assert graded(source).verdict == "pass"


# -- files without what is asked for ---------------------------------------------------------------

NOT_DEFINED = [
    bad("nothing", "import numpy as np\n", "error", "no functions"),
    bad(
        "a misspelt name",
        REFERENCE.replace("def maxpool2d_backward", "def maxpool2d_backwards"),
        "error",
        "expected maxpool2d_backward",
        "is maxpool2d_backwards meant to be maxpool2d_backward?",
    ),
    bad(
        "other capitals",
        REFERENCE.replace("def maxpool2d_backward", "def MaxPool2D_backward"),
        "error",
        "is MaxPool2D_backward meant to be maxpool2d_backward?",
    ),
    bad(
        "one of two missing",
        REFERENCE.replace("def maxpool2d_backward", "def unrelated"),
        "error",
        "expected maxpool2d_backward",
        never=["maxpool2d_forward meant"],  # it is what it should be
    ),
    bad("None", "maxpool2d_forward = maxpool2d_backward = None\n", "error", "maxpool2d_forward"),
    bad("numbers", "maxpool2d_forward = maxpool2d_backward = 3\n", "error", "found an int"),
    bad("texts", "maxpool2d_forward = maxpool2d_backward = ''\n", "error", "found a str"),
    bad("a wrong import", f"import pandas\n{REFERENCE}", "error", "pandas", "this question allows"),
    bad("torch", f"import torch\n{REFERENCE}", "error", "torch", "this question allows numpy"),
    bad("a helper of theirs", f"import mine\n{REFERENCE}", "error", "mine"),
    bad("our package", f"import grader\n{REFERENCE}", "error", "grader"),
    bad(
        "an evil module",
        "def __getattr__(name):\n    raise ValueError('no ' + name)\n",
        "error",
        "no maxpool2d_forward",
    ),
]


@pytest.mark.parametrize("case", NOT_DEFINED, ids=by_name)
def test_a_file_that_lacks_what_is_asked_for_says_what_was_found(case: Bad, graded: Grade) -> None:
    report = graded(case.source)
    check(case, report)
    assert report.checks == ()


# -- wrong results ---------------------------------------------------------------------------------

EXPECTED = "expected 2 results (y, ctx)"
RESULTS = [
    bad("None", forward("return None"), "fail", "returned None", EXPECTED),
    bad("a number", forward("return 3.0"), "fail", "one float", EXPECTED),
    bad("an array", forward("return np.zeros((2, 3))"), "fail", "numpy.ndarray", EXPECTED),
    bad("a text", forward("return 'ab'"), "fail", "one str", EXPECTED),
    bad("a dict", forward("return {'y': 1, 'ctx': 2}"), "fail", "one dict", EXPECTED),
    bad("a tuple of three", forward("return 1, 2, 3"), "fail", "a tuple of 3", EXPECTED),
    bad("a tuple of one", forward("return (1,)"), "fail", "a tuple of 1", EXPECTED),
    bad("a list of three", forward("return [1, 2, 3]"), "fail", "a list of 3", EXPECTED),
    bad("a generator", forward("yield 1", "yield 2"), "fail", "one generator", EXPECTED),
    bad("a coroutine", around(f"async {FORWARD}    {RIGHT}\n"), "fail", "one coroutine"),
    bad("a coroutine behind", around(f"async {BACKWARD}    return 1\n"), "fail", "a coroutine"),
    bad("a generator behind", backward("yield _b(grad_y, ctx)"), "fail", "a generator"),
    bad("nothing behind", backward("pass"), "fail", "grad_x is None"),
    bad("nested lists", backward("return _b(grad_y, ctx).tolist()"), "fail", "a list of 1"),
    bad("a scalar", backward("return 3.0"), "fail", "the number 3"),
    bad("an empty array", backward("return np.zeros(0)"), "fail", "shape"),
    bad(
        "float32",
        backward("return _b(grad_y, ctx).astype('f4')"),
        "fail",
        "float32, expected float64",
    ),
    bad("whole numbers", backward("return _b(grad_y, ctx).astype(int)"), "fail", "int64"),
    bad("complex", backward("return _b(grad_y, ctx) + 0j"), "fail", "complex128"),
    bad("objects", backward("return _b(grad_y, ctx).astype(object)"), "fail", "object"),
    bad("a longer shape", backward("return _b(grad_y, ctx)[..., None]"), "fail", "shape"),
    bad("a shorter shape", backward("return _b(grad_y, ctx)[0]"), "fail", "shape"),
    bad("flat", backward("return _b(grad_y, ctx).ravel()"), "fail", "shape"),
    bad("NaN", backward("return _b(grad_y, ctx) * np.nan"), "fail", "NaN"),
    bad("infinity", backward("return _b(grad_y, ctx) + np.inf"), "fail", "inf"),
    bad("a huge integer", backward("return 10**400"), "fail", "expected"),
    bad(
        "a huge integer as y", forward("return 10**5000, _f(x, kernel, stride, padding)[1]"), "fail"
    ),
    bad("dates", backward("return np.zeros(_b(grad_y, ctx).shape, 'M8[s]')"), "fail"),
    bad("twenty dimensions", backward("return np.zeros((1,) * 20)"), "fail"),
    bad("a record", backward("return np.zeros(_b(grad_y, ctx).shape, 'f8,i4')"), "fail"),
    bad(
        "a list that holds itself",
        forward("a = []", "a.append(a)", "return a, _f(x, kernel, stride, padding)[1]"),
        "fail",
    ),
    bad(
        "more than can be sent",
        backward("return [0] * 21_000"),
        "fail",
    ),
    bad(
        "a billion entries that take no room",
        backward("return np.broadcast_to(0.0, (1 << 15, 1 << 15))"),
        "limit",
        "MemoryError",
    ),
    bad(
        "a view of the input",
        forward(
            "y, ctx = _f(x, kernel, stride, padding)", "return (x[...] if kernel == 1 else y), ctx"
        ),
        "fail",
        "y shares its memory with x",
    ),
    bad(
        "a subclass that will not be read",
        forward(
            "return A(a=1), _f(x, kernel, stride, padding)[1]",
            before="class A(dict):\n    def __iter__(self):\n        raise ValueError('no')\n\n\n",
        ),
        "error",
    ),
    bad(
        "a float that is none",
        forward(
            "return A(1), _f(x, kernel, stride, padding)[1]",
            before="class A(float):\n    def __float__(self):\n        raise TypeError\n\n\n",
        ),
        "fail",
    ),
]


@pytest.mark.parametrize("case", RESULTS, ids=by_name)
def test_a_result_of_the_wrong_form_is_described(case: Bad, graded: Grade) -> None:
    check(case, graded(case.source))


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


ELSEWHERE = [
    ("conv1d-per-step", "train_step", "r[:2]", "expected 3 results (w_new, b_new, loss)"),
    ("conv1d-per-step", "train_step", "(*r[:2], None)", "loss is None"),
    ("conv1d-per-step", "train_step", "(*r[:2], 'low')", "loss is the text 'low'"),
    ("conv1d-per-step", "train_step", "(*r[:2], True)", "loss is True"),
    ("conv1d-per-step", "train_step", "(*r[:2], 10**400)", "loss is"),
    ("conv1d-per-step", "train_step", "(*r[:2], [r[2]])", "loss is a list of 1"),
    ("conv1d-per-step", "conv1d_backward", "dict(zip('xwb', r))", "one dict"),
    ("softmax-cross-entropy", "cross_entropy", "10**400", "cross_entropy is"),
    ("softmax-cross-entropy", "dloss_dz", "r.tolist()", "dloss_dz is a list"),
    ("softmax-cross-entropy", "softmax_jacobian", "r[0]", "softmax_jacobian has shape"),
    ("adam-7b-memory", "training_state", "112e9", "expected a dict with weights"),
    ("adam-7b-memory", "training_state", "{}", "missing: weights"),
    ("adam-7b-memory", "training_state", "{1: 2}", "dict"),
    ("adam-7b-memory", "training_state", "dict.fromkeys(r, 10**400)", "wrong"),
    ("adam-7b-memory", "training_state", "dict.fromkeys(r, None)", "wrong"),
    ("adam-7b-memory", "to_gb", "10**400", "gb is"),
    ("adam-7b-memory", "to_gb", "float('nan')", "gb is NaN"),
    ("adam-7b-memory", "min_gpus", "10**400", "gpus is"),
    ("adam-7b-memory", "min_gpus", "'many'", "gpus is the text 'many'"),
]


@pytest.mark.parametrize(("question_id", "function", "result", "says"), ELSEWHERE)
def test_odd_results_of_other_questions_are_described_too(
    question_id: str, function: str, result: str, says: str, graded: Grade
) -> None:
    right = question(question_id).reference.decode()
    instead = f"def {function}(*a, **k):\n    r = _right(*a, **k)\n    return {result}\n"
    report = graded(f"{right}\n\n_right = {function}\n\n\n{instead}", question_id)
    assert report.verdict in {"fail", "error"}
    assert says in said(report)


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("x.detach().numpy()", "y is a"),
        ("torch.zeros(2, dtype=torch.float8_e4m3fn)", ""),
        ("torch.zeros(2, 2).to_sparse()", "y "),
        ("torch.zeros(2, device='meta')", "y "),
        ("None", "y is None"),
        ("_right(x, *w)[..., None]", "y has shape"),
    ],
)
def test_odd_tensors_are_described_too(result: str, says: str, graded: Grade) -> None:
    pytest.importorskip("torch")
    right = question("vram-bottleneck").reference.decode()
    instead = f"def swiglu_mlp(x, *w):\n    return {result}\n"
    report = graded(f"{right}\n\n_right = swiglu_mlp\n\n\n{instead}", "vram-bottleneck")
    assert report.verdict in {"fail", "error"}
    assert says in said(report)
    assert "your code raised" not in said(report)


# -- what is raised --------------------------------------------------------------------------------

EXCEPTIONS = [
    "ValueError('no')", "BaseException('no')", "KeyboardInterrupt", "GeneratorExit",
    "StopIteration", "StopAsyncIteration", "RecursionError", "AssertionError", "SystemExit(0)",
    "SystemExit('bye')", "SyntaxError('no')", "ExceptionGroup('no', [ValueError(1)])",
    "OSError(2, 'no')", "UnicodeDecodeError('utf-8', b'', 0, 1, 'no')", "ConnectionResetError",
]  # fmt: skip


@pytest.mark.parametrize("raised", EXCEPTIONS)
def test_whatever_is_raised_in_a_call_is_shown_at_its_line(raised: str, graded: Grade) -> None:
    report = graded(forward(f"raise {raised}"))
    assert report.verdict == "error"
    first = report.checks[0]
    assert first.raised is not None
    assert first.raised.frames[-1].source == f"raise {raised}"
    assert "your maxpool2d_forward raised" in first.message


@pytest.mark.parametrize("raised", [*EXCEPTIONS[:8], "SystemExit(0)", "SyntaxError('no')"])
def test_whatever_is_raised_on_loading_is_shown_at_its_line(raised: str, graded: Grade) -> None:
    report = graded(f"import numpy\n\nraise {raised}\n")
    assert report.verdict == "error"
    assert report.message.startswith("loading the file raised ")
    assert not report.message.endswith((":", " "))
    assert report.raised is not None
    assert [frame.line for frame in report.raised.frames] == [3]


def test_hostile_texts_are_shown_harmless(graded: Grade) -> None:
    text = "a\\nb\\x1b[2J\\x1b]0;t\\x07\\r\\u202ec\\x00" + "z" * 5000
    report = graded(forward(f"raise ValueError('{text}')"))
    assert report.verdict == "error"
    name = "E = type('a\\n\\x1b[31mb', (Exception,), {})\n\n\n"
    assert graded(forward("raise E('x')", before=name)).verdict == "error"
    shown = rendered(graded(forward(f"print('{text}')", RIGHT)))
    assert "\x1b" not in shown


def test_an_exception_whose_text_cannot_be_made_is_shown_without_it(graded: Grade) -> None:
    for body in ("raise self", "return 3", "raise SystemExit"):
        before = f"class E(Exception):\n    def __str__(self):\n        {body}\n\n\n"
        report = graded(forward("raise E()", before=before))
        assert report.verdict == "error"
        assert "E: " in said(report)


def test_endless_recursion_is_an_error_of_theirs(graded: Grade) -> None:
    report = graded(forward("return maxpool2d_forward(x, kernel, stride, padding)"))
    assert report.verdict == "error"
    assert "RecursionError" in said(report)
    assert len(rendered(report).splitlines()) < 60


# -- limits ----------------------------------------------------------------------------------------

OVERRUNS = [
    bad("sleeps", forward("import time", "time.sleep(1000)"), "limit", "did not finish"),
    bad("loops", forward("while True: pass"), "limit", "did not finish"),
    bad(
        "loops and will not be interrupted",
        forward(
            "while True:",
            "    try:",
            "        while True: pass",
            "    except BaseException: pass",
        ),
        "limit",
        "did not finish",
    ),
    bad("loops on loading", "while True: pass\n", "limit", "did not finish", "loaded"),
    bad("stops itself", forward("import os", "os.kill(os.getpid(), 19)"), "limit"),
    bad(
        "recurses without a limit",
        forward(
            "return maxpool2d_forward(x, kernel, stride, padding)",
            before="import sys\nsys.setrecursionlimit(10**9)\n\n\n",
        ),
        "limit",
    ),
    bad(
        "has an endless text",
        forward(
            "raise E()",
            before="class E(Exception):\n    def __str__(self):\n        while True: pass\n\n\n",
        ),
        "limit",
    ),
    bad(
        "answers half",
        forward("import os, time", "for fd in range(3, 64):", "    try: os.write(fd, b'drl1')",
                "    except OSError: pass", "time.sleep(1000)"),
        "limit",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", OVERRUNS, ids=by_name)
@pytest.mark.usefixtures("hurried")
def test_what_takes_for_ever_is_stopped(case: Bad, graded: Grade) -> None:
    check(case, graded(case.source))


FLOODS = [
    bad("prints 20 MB", forward("print('x' * (20 << 20))"), "limit", "printed more than 16 MB"),
    bad(
        "prints 20 MB on loading",
        f"import sys\nfor _ in range(20): sys.stderr.write('x' * (1 << 20))\n{REFERENCE}",
        "limit",
        "printed more than 16 MB",
    ),
    bad("asks for 32 GB", forward("return np.ones(1 << 32), 1"), "limit", "MemoryError"),
    bad("asks for 1 TB on loading", "x = bytearray(1 << 40)\n", "limit", "memory"),
    bad("raises MemoryError", forward("raise MemoryError"), "limit", "MemoryError"),
    bad("writes 100 MB", "open('t', 'wb').write(bytes(100 << 20))\n", "error", "OSError"),
    bad(
        "claims an enormous answer",
        forward("import os, struct", "for fd in range(3, 64):",
                "    try: os.write(fd, struct.pack('<4sIQ', b'drl1', 10, 1 << 60))",
                "    except OSError: pass", RIGHT),
        "error",
        "far too much data",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", FLOODS, ids=by_name)
def test_what_is_too_much_is_refused(case: Bad, graded: Grade) -> None:
    check(case, graded(case.source))


# -- harm to its own process -----------------------------------------------------------------------

ALL_FDS = "for fd in range(3, 64):\n    try: os.write(fd, b'A' * 64)\n    except OSError: pass\n"
HARM = [
    bad("sys.exit on loading", "import sys\nsys.exit(0)\n", "error", "sys.exit(0)"),
    bad("sys.exit in a call", forward("import sys", "sys.exit(0)"), "error", "sys.exit(0)"),
    bad("os._exit on loading", "import os\nos._exit(0)\n", "error", "exit status 0"),
    bad("os._exit in a call", forward("import os", "os._exit(0)"), "error", "exit status 0"),
    bad("SIGKILL", forward("import os", "os.kill(os.getpid(), 9)"), "error", "SIGKILL"),
    bad("SIGTERM on loading", "import os\nos.kill(os.getpid(), 15)\n", "error", "SIGTERM"),
    bad("abort", forward("import os", "os.abort()"), "error", "SIGABRT"),
    bad("a bad pointer", forward("import ctypes", "ctypes.string_at(0)"), "error", "SIGSEGV"),
    bad("writes to the channel", forward("import os", *ALL_FDS.splitlines(), RIGHT), "error"),
    bad("writes to the channel on loading", f"import os\n{ALL_FDS}{REFERENCE}", "error"),
    bad("closes everything", forward("import os", "os.closerange(0, 64)", RIGHT), "error"),
    bad("closes everything on loading", f"import os\nos.closerange(0, 64)\n{REFERENCE}", "error"),
    bad("closes its output", f"import os\nos.close(1)\nos.close(2)\n{REFERENCE}", "pass"),
    bad("has no output", f"import sys\nsys.stdout = sys.stderr = None\n{REFERENCE}", "pass"),
    bad("clears builtins", f"{REFERENCE}\n__builtins__.clear()\n", "error"),
    bad(
        "clears builtins in a call",
        forward("import builtins", "vars(builtins).clear()", "return 1, 2"),
        "error",
    ),
    bad("breaks numpy", f"{REFERENCE}\nnp.array = np.ndarray = None\n", "error"),
    bad("forks and answers twice", forward("import os", "os.fork()", RIGHT), "error"),
    bad("reads the keyboard", forward("input()"), "error", "EOFError"),
]


@pytest.mark.parametrize("case", HARM, ids=by_name)
def test_harm_to_its_own_process_is_a_verdict_on_it(case: Bad, graded: Grade) -> None:
    check(case, graded(case.source))


LIES = (
    "maxpool2d_forward = lambda *a: (np.zeros((1, 1, 1, 1)), None)\n"
    "maxpool2d_backward = lambda g, c: g\n"
)
FORGERIES = {
    "numpy": (
        "import numpy as np\n"
        "np.allclose = np.array_equal = np.isfinite = np.all = np.any = lambda *a, **k: True\n"
    ),
    "the worker": (
        FIND + "import sys\nimport numpy as np\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith('worker'):\n"
        "        for key, value in list(vars(module).items()):\n"
        "            if callable(value) and key in {'same', 'share_memory', 'fingerprint', 'parts',"
        " 'reachable_bytes', 'allocation', 'describe'}:\n"
        "                setattr(module, key, lambda *a, **k: True)\n"
    ),
    "a reply of its own": (
        FIND + "import sys\nimport numpy as np\n"
        "serve = sys.modules['worker.serve']\n"
        "serve.Server.answer = lambda self, request: {'ok': True, 'verdict': 'pass',"
        " 'values': {}, 'missing': [], 'uncallable': [], 'defined': []}\n"
    ),
    "an exception of ours": (
        FIND + "import sys\nimport numpy as np\n"
        "steps = sys.modules['worker.steps']\n"
        "steps.Progress.advance = lambda self, index: None\n"
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_values_are_judged_where_a_submission_cannot_reach(name: str, graded: Grade) -> None:
    report = graded(FORGERIES[name] + LIES)
    assert report.verdict in {"fail", "error"}


# -- what does no harm -----------------------------------------------------------------------------

HARMLESS = {
    "prints": forward("print('x' * 1000)", RIGHT),
    "prints to both": forward(
        "print('a')", "print('b', file=sys.stderr)", RIGHT, before="import sys\n\n\n"
    ),
    "threads": forward(
        "out = []",
        "t = threading.Thread(target=lambda: out.append(_f(x, kernel, stride, padding)))",
        "t.start()",
        "t.join()",
        "return out[0]",
        before="import threading\n\n\n",
    ),
    "a thread that stays": (
        "import threading\nthreading.Thread(target=threading.Event().wait).start()\n" + REFERENCE
    ),
    "an exit handler": f"import atexit, time\natexit.register(time.sleep, 1000)\n{REFERENCE}",
    "signals ignored": (
        "import signal\nfor s in (1, 2, 15):\n    signal.signal(s, signal.SIG_IGN)\n" + REFERENCE
    ),
    "errors for warnings": f"import warnings\nwarnings.simplefilter('error')\n{REFERENCE}",
    "floating-point errors raised": f"import numpy\nnumpy.seterr(all='raise')\n{REFERENCE}",
    "no garbage collection": f"import gc\ngc.disable()\n{REFERENCE}",
    "a demonstration": f"{REFERENCE}\n\nif __name__ == '__main__':\n    raise SystemExit(1)\n",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_passes(name: str, graded: Grade) -> None:
    report = graded(HARMLESS[name])
    assert report.verdict == "pass", said(report)


def test_what_was_printed_is_kept_harmless(graded: Grade) -> None:
    report = graded(forward("print('caf\\xe9 \\x1b[31mred')", "raise ValueError"))
    assert "café \x1b[31mred\n" in report.printed
    assert "\\x1b[31mred" in rendered(report)
