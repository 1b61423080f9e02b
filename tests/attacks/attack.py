"""An attack: a submission that tries to get a pass it does not deserve, or to do harm.

Every one is a text of Python, layered over a right solution of a small real question and graded as
any submission is.  Before it stand the lines of `PRELUDE`: what an attacker knows or can guess
(`T`), raw system calls, and `attempt`, which says aloud when an act was not refused.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import bank
from grader.model.limits import CPU_SECONDS
from grader.model.question import Question
from grader.model.report import Verdict
from tests.asking import with_checks

MINI = Path(__file__).parents[1] / "banks" / "mini"
PASS, FAIL, ERROR, LIMIT = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT
# What a submission prints when an act worked, or failed for another reason.
DONE, ODD = "DID", "ODD"

PRELUDE = '''\
import ctypes, errno, os, platform, sys, threading, time
import numpy as np
X86 = platform.machine() == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}


def call(x86, aarch64, *arguments):
    """Make a system call by its number."""
    if (number := x86 if X86 else aarch64) is None:
        raise PermissionError(errno.ENOSYS, "this machine has no such call")
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if (result := libc.syscall(ctypes.c_long(number), *plain)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attempt(name, act, *arguments, also=()):
    """Print if an act was done, refused, or failed for a reason that proves nothing."""
    try:
        result = act(*arguments)
    except OSError as error:
        fine = error.errno in REFUSED or error.errno in also
        print("refused" if fine else "ODD", name, error, flush=True)
    except BaseException as error:
        fine = type(error) in also
        print("refused" if fine else "ODD", name, type(error).__name__, error, flush=True)
    else:
        print("DID", name, repr(result)[:200], flush=True)
        return result


'''

# An attack given as acts is carried out once, in the first call, and hands in zeros afterwards.
_ACTING = """

def centre(x, w, _done=[]):
    if not _done:
        _done.append(1)
        attack()
    return np.zeros_like(x), (x, w)
"""


@dataclass(frozen=True)
class Attack:
    """The program of an attack, and the verdict that it must get."""

    name: str
    tries: str
    source: str = ""  # text of a submission, over the right solution
    acts: str = ""  # or acts, each by `attempt`, of a submission that is wrong besides
    verdict: Verdict | tuple[Verdict, ...] = FAIL  # where systems differ, any of them
    says: str = ""  # a pattern that is in what the report says
    seconds: float | None = None  # of a call, where it is meant to overrun
    cpu_seconds: int = CPU_SECONDS
    alive: bool = True  # whether `attempt` is expected to have said something

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts it may get."""
        return self.verdict if isinstance(self.verdict, tuple) else (self.verdict,)

    def text(self, known: Mapping[str, Any]) -> bytes:
        """The submission, with what is known to the attacker at its head."""
        body = textwrap.dedent(self.source)
        if self.acts:
            body = f"def attack():\n{textwrap.indent(textwrap.dedent(self.acts), '    ')}{_ACTING}"
        right = question().reference.decode()
        return f"T = {dict(known)!r}\n{PRELUDE}{right}\n\n{body}".encode()


@functools.cache
def question(question_id: str = "deviations") -> Question:
    """Return a question of the miniature bank, without its check of speed."""
    found = bank.load_question([MINI], question_id)
    checks = [c for c in found.spec.checks if c.kind != "performance"]
    return with_checks(found, checks)
