"""Whatever a file does, it becomes a verdict with one clear sentence, and nothing of it stays behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank
from grader.judge import grade
from grader.model.question import Question
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.programs import process, program

ROOT = Path(__file__).parents[2]

BACKWARD = "\ndef maxpool2d_backward(grad_y, ctx):\n    return np.zeros(ctx)\n"
SIZES = "*((n + 2 * padding - kernel) // stride + 1 for n in x.shape[2:])"
RIGHT_SHAPE = f"np.zeros((*x.shape[:2], {SIZES}))"


@pytest.fixture(scope="module")
def question() -> Question:
    return bank.load([ROOT], "maxpool-routing")


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


def children() -> set[int]:
    """The processes that this one has started and that are still there."""
    own = os.getpid()
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == own:
                found.add(int(entry.name))
    return found


def graded(question: Question, source: str | bytes) -> Report:
    data = source if isinstance(source, bytes) else source.encode()
    return grade(question, data, seed=1)


def forward(body: str) -> str:
    """A submission whose forward has this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"import numpy as np\ndef maxpool2d_forward(x, kernel, stride, padding=0):\n{lines}{BACKWARD}"


def sentence(report: Report) -> str:
    failing = [c for c in report.checks if c.verdict not in {Verdict.PASS, Verdict.SKIPPED}]
    return report.message or failing[0].message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"", "the file is empty"),
        (b"  \n\t\r\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"this isn't python", "not valid Python at line 1"),
        (b"x = '\xff'\n", "not UTF-8"),
        (b"x = 1\x00\n", "null bytes"),
        (b"def f(:\n", "not valid Python at line 1"),
        (b"if True:\n\tx = 1\n        y = 2\n", "not valid Python at line 3"),
        (b"x = 1\n", "expected maxpool2d_forward and maxpool2d_backward, found no functions"),
        (b"def maxpool_forward(): pass\ndef maxpool2d_backward(): pass\n",
         "is maxpool_forward meant to be maxpool2d_forward?"),
        (b"maxpool2d_forward = 3\ndef maxpool2d_backward(): pass\n",
         "expected a function called maxpool2d_forward, found a int"),
        (b"import torch\n", "this question allows numpy and the standard library"),
        (b"raise ValueError('no')\n", "loading the file raised ValueError: no"),
        (b"raise SyntaxError('mine')\n", "loading the file raised SyntaxError: mine"),
        (b"import sys\nsys.exit(0)\n", "called sys.exit(0)"),
        (b"import os\nos._exit(0)\n", "ended its process (exit status 0)"),
        (b"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "SIGKILL"),
        (b"def f(): return f()\nf()\n", "RecursionError"),
        (b"class E(BaseException):\n    def __str__(self): raise self\nraise E\n", "raised E"),
        (b"import os\nos.closerange(3, 64)\nimport time\ntime.sleep(60)\n", "closed its channel"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_loaded_is_told_why(
    question: Question, source: bytes, said: str
) -> None:
    report = graded(question, source)
    assert report.verdict is Verdict.ERROR
    assert said in report.message
    assert report.checks == ()
    assert "Traceback" not in report.message


def test_a_huge_file_is_not_read(question: Question) -> None:
    report = graded(question, b"#" * 10_000_000)
    assert report.verdict is Verdict.LIMIT
    assert report.message == "the file has 10,000,000 bytes, at most 1,048,576 are read"


@pytest.mark.parametrize(
    ("body", "verdict", "said"),
    [
        ("return None", Verdict.FAIL, "returned None, expected 2 results (y, ctx)"),
        ("return x", Verdict.FAIL, "returned one numpy.ndarray, expected 2 results"),
        ("return x, 1, 2", Verdict.FAIL, "returned a tuple of 3, expected 2 results"),
        ("yield x", Verdict.FAIL, "returned one generator, expected 2 results"),
        ("return None, x.shape", Verdict.FAIL, "y is None, expected a float64 array"),
        ("return [[1.0]], x.shape", Verdict.FAIL, "y is a list of 1, expected a float64 array"),
        ("return 1.5, x.shape", Verdict.FAIL, "y is the number 1.500, expected a float64 array"),
        ("return 10**400, x.shape", Verdict.FAIL, "y is an int of more than 300 digits"),
        ("return (i for i in x), x.shape", Verdict.FAIL, "y is a generator, expected"),
        ("return x.astype(object), x.shape", Verdict.FAIL, "y is a numpy.ndarray of object"),
        ("return np.zeros((0, 3)), x.shape", Verdict.FAIL, "y has shape (0, 3), expected"),
        (f"return {RIGHT_SHAPE}.astype('f4'), x.shape", Verdict.FAIL, "y is float32, expected float64"),
        (f"return {RIGHT_SHAPE}.astype('>f8'), x.shape", Verdict.FAIL, "y differs in"),
        (f"return {RIGHT_SHAPE} * np.nan, x.shape", Verdict.FAIL, "y holds NaN where"),
        (f"return {RIGHT_SHAPE} + np.inf, x.shape", Verdict.FAIL, "y holds inf where"),
        ("raise KeyError('k')", Verdict.ERROR, "your maxpool2d_forward raised KeyError in case"),
        ("raise KeyboardInterrupt", Verdict.ERROR, "raised KeyboardInterrupt"),
        ("raise StopIteration", Verdict.ERROR, "raised StopIteration"),
        ("return maxpool2d_forward(x, kernel, stride)", Verdict.ERROR, "raised RecursionError"),
        ("import sys; sys.exit(0)", Verdict.ERROR, "raised SystemExit"),
        ("import os; os._exit(0)", Verdict.ERROR, "ended its process (exit status 0)"),
        ("import ctypes; ctypes.string_at(0)", Verdict.ERROR, "ended its process (SIGSEGV)"),
        ("return np.ones(1 << 40), x.shape", Verdict.LIMIT, "MemoryError"),
        ("print('x' * (20 << 20)); return x, x.shape", Verdict.LIMIT, "printed more than 16 MB"),
        ("import worker.wire as w; w.encode = None; return x, x.shape", Verdict.FAIL, "y has shape"),
        ("import worker.values as v; v.snapshot = lambda *a: 0; return x, x.shape", Verdict.FAIL,
         "y is the number 0"),
        ("import worker.steps as s; s.Progress.reply = lambda self: {'values': 3}; return x, x.shape",
         Verdict.ERROR, "broke the protocol"),
        ("np.allclose = lambda *a: True; np.array = None; return x, x.shape", Verdict.ERROR, ""),
    ],
)  # fmt: skip
def test_a_function_that_misbehaves_is_told_so(
    question: Question, body: str, verdict: Verdict, said: str
) -> None:
    report = graded(question, forward(body))
    assert report.verdict is verdict
    assert said in sentence(report)
    assert "Traceback" not in sentence(report)


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(100)"])
def test_a_function_that_never_ends_meets_the_limit(
    question: Question, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "CALL_SECONDS", 0.5)
    report = graded(question, forward(body))
    assert report.verdict is Verdict.LIMIT
    assert "your code did not finish within 0.5 seconds" in sentence(report)
    assert all(c.verdict is Verdict.SKIPPED for c in report.checks[1:])


def test_bytes_written_to_the_judge_are_no_verdict(question: Question) -> None:
    body = (
        "import os, socket, stat\n"
        "for fd in range(3, 64):\n"
        "    try:\n"
        "        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'drl1' * 100)\n"
        "    except OSError: pass\n"
        "return x, x.shape"
    )
    report = graded(question, forward(body))
    assert report.verdict is Verdict.ERROR
    assert "broke the protocol" in sentence(report) or "far too much data" in sentence(report)


def test_a_child_process_does_not_outlive_the_grade(question: Question, tmp_path: Path) -> None:
    late = tmp_path / "late"
    body = f"import os, time\nif os.fork() == 0:\n    time.sleep(3)\n    open({str(late)!r}, 'w')\nraise ValueError"
    assert graded(question, forward(body)).verdict is Verdict.ERROR
    assert not late.exists()


def test_printing_is_allowed_and_kept(question: Question) -> None:
    noisy = b"print('hello from the file')\n" + question.reference
    report = graded(question, noisy)
    assert report.verdict is Verdict.PASS
    assert "hello from the file" in report.printed


def test_traceback_frames_are_the_files_own(question: Question) -> None:
    report = graded(question, forward("return np.concatenate([x, 3]), x"))
    raised = next(c.raised for c in report.checks if c.raised)
    assert [f.line for f in raised.frames] == [3]
    assert raised.frames[0].source == "return np.concatenate([x, 3]), x"
    assert raised.step.startswith("y, ctx = maxpool2d_forward(")
    assert raised.called_with == "x (1, 1, 2, 2), kernel 2, stride 2, padding 1"


def test_the_call_limit_is_read_when_a_grade_starts() -> None:
    assert process.CALL_SECONDS == 5.0
