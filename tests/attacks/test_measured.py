"""Keeping more than is allowed, in places of Python's own."""

from __future__ import annotations

import pytest

from grader.model.report import Verdict
from tests.attacks.attack import question
from tests.attacks.running import Graded, said

pytestmark = pytest.mark.same_for_every_user

KEEP = """
import ctypes, mmap, os, sys, threading
import numpy as np
_right, _right_backward, _kept = centre, centre_backward, []
def centre(x, w):
    y, ctx = _right(x, w)
    {keep}
    return y, ctx
"""
MORE = "np.random.default_rng(0).random(1000)"  # 8 KB that compress to nothing less

WAYS = {
    "a-global": f"_kept.append({MORE})",
    "a-default": f"centre.__dict__.setdefault('kept', []).append({MORE})",
    "a-module": f"vars(np).setdefault('_kept', []).append({MORE})",
    "a-thread's-frame": (
        f"threading.Thread(target=lambda a, e=threading.Event(): e.wait(), args=({MORE},), "
        "daemon=True).start() if len(_kept) < 30 else _kept; _kept.append(0)"
    ),
    "the-context": f"ctx = (*ctx, {MORE})\n    y, ctx = y, Context(ctx)",
}
CONTEXT = """
class Context(tuple):
    __sizeof__ = lambda self: 0
_old = centre_backward
def centre_backward(grad_y, ctx):
    return _old(grad_y, ctx[:2])
"""


@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_is_seen_wherever_it_is(way: str, in_session: Graded) -> None:
    asked = question()
    text = asked.reference.decode() + CONTEXT * (way == "the-context")
    text += KEEP.format(keep=WAYS[way])
    report, _ = in_session(asked, text.encode())
    assert report.verdict is not Verdict.PASS, said(report)
    kept = next(check for check in report.checks if check.id == "kept")
    assert kept.verdict is not Verdict.PASS, said(report)
