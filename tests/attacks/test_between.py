"""What one submission leaves in memory, no later fork of the same process finds."""

from __future__ import annotations

import secrets

from grader.sandbox.client import WorkerClient
from grader.sandbox.spawn import Zygote
from tests.attacks.attack import Attack, question
from tests.attacks.running import graded, said
from tests.sandbox.running import load, run

SEARCH = """\
import ctypes
def f(x):
    wanted = {token}[::-1].encode()
    found = 0
    for line in open("/proc/self/maps"):
        span, rights = line.split()[:2]
        start, end = (int(n, 16) for n in span.split("-"))
        if rights[0] != "r" or "[v" in line:
            continue
        while start < end:
            size = min(end - start, 1 << 20)
            found += ctypes.string_at(start, size).count(wanted + b"_END")
            start += size
    return found
"""


def test_the_search_finds_what_is_there(numpy_zygote: Zygote) -> None:
    token = secrets.token_hex(16)
    with WorkerClient(torch=False, zygote=numpy_zygote) as worker:
        load(worker, f"KEPT = '{token}_END'", "other")
        assert run(load(worker, SEARCH.format(token=repr(token[::-1])))).values["y"] > 0


def test_a_fork_finds_nothing_of_the_submission_before_it(numpy_zygote: Zygote) -> None:
    token = secrets.token_hex(16)
    before = Attack("before", "is graded first", f"KEPT = ['{token}_END'] * 3").text({})
    report, _ = graded(question(), before, zygote=numpy_zygote, cold=False)
    assert said(report)
    with WorkerClient(torch=False, zygote=numpy_zygote) as alive:
        load(alive, f"KEPT = '{token}_END'")
        with WorkerClient(torch=False, zygote=numpy_zygote) as worker:
            assert run(load(worker, SEARCH.format(token=repr(token[::-1])))).values["y"] == 0
