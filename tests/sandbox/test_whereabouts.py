"""Where a program was when its time was over, as its worker says it and as the judge takes it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from grader.sandbox.client import TooSlow, WorkerClient
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.whereabouts import Text
from tests.harness import Lend
from tests.sandbox.running import X, steps

SOURCE = b"import time\r\ndef f(x):\n    while  True:  # for ever\n\n        pass\n"
TEXT = Text("submission.py", SOURCE)


@pytest.mark.parametrize(
    ("line", "name", "said"),
    [
        (3, "f", "`f`, line 3: `while  True:  # for ever`"),
        (0, "f", ""),
        (-1, "f", ""),
        (4, "f", ""),  # there is nothing in it
        (10**9, "f", ""),
        (2, "<module>", "line 2: `def f(x):`"),
        (2, "\x1b[31m", "line 2: `def f(x):`"),
        (2, "f" * 61, "line 2: `def f(x):`"),
    ],
)
def test_the_text_of_a_line_is_the_judges_own(line: int, name: str, said: str) -> None:
    assert TEXT.place(line, name) == said


def test_long_lines_are_cut() -> None:
    text = Text("submission.py", b"x = " + b"9" * 500)
    assert len(text.place(1, "f")) < 90


def stopped(lend: Lend, source: str, *, untrusted: bool = True) -> str:
    """What is said of a program whose time is over."""
    with WorkerClient(torch=False, zygote=lend(torch=False)) as worker:
        program = RemoteProgram(
            worker, "submission", [dedent(source).encode()], untrusted=untrusted
        )
        program.load(["f"])
        program.call_seconds = 0.1
        with pytest.raises(TooSlow) as caught:
            program.run(steps("y = f(x)"), X, ["y"])
        return str(caught.value)


ENDLESS = """
    def f(x):
        for _ in iter(int, 1):
            inner(x)

    def inner(x):
        while True: pass
"""


def test_a_loop_without_end_is_found(lend: Lend) -> None:
    assert stopped(lend, ENDLESS) == (
        "did not finish within 0.1 seconds, stopped in `inner`, line 7: `while True: pass`"
    )


def test_of_a_program_of_the_bank_it_is_not_asked(lend: Lend) -> None:
    assert stopped(lend, ENDLESS, untrusted=False) == "did not finish within 0.1 seconds"


def test_who_lets_nobody_else_run_is_asked_too(lend: Lend) -> None:
    source = """
        def f(x):
            return sum(iter(int, 1))
    """
    assert stopped(lend, source).endswith("`f`, line 3: `return sum(iter(int, 1))`")


def test_nothing_rests_on_an_answer(lend: Lend) -> None:
    source = """
        import signal
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)

        def f(x):
            while True: pass
    """
    assert stopped(lend, source) == "did not finish within 0.1 seconds"
