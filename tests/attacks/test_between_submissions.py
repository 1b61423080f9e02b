"""No fork of a zygote finds what an earlier submission left in memory."""

from __future__ import annotations

import secrets

from grader.sandbox.client import WorkerClient
from grader.sandbox.spawn import Zygote
from tests.attacks.attack import Attack, question
from tests.attacks.running import one_session, said
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


def test_a_fork_finds_nothing_of_the_submission_before_it(numpy_zygote: Zygote) -> None:
    token = secrets.token_hex(16)
    kept = f"KEPT = ['{token}_END'] * 3"
    search = SEARCH.format(token=repr(token[::-1]))
    with one_session(numpy_zygote) as graded:
        report, _ = graded(question(), Attack("before", "", kept).text({}))
        assert said(report)
    with (
        WorkerClient(torch=False, zygote=numpy_zygote) as alive,
        WorkerClient(torch=False, zygote=numpy_zygote) as worker,
    ):
        load(alive, kept, "other")
        assert run(load(worker, search)).values["y"] == 0
        assert run(load(alive, search)).values["y"] > 0, "the search finds what is there"
