"""Keeping more than is allowed, and lying about it: the figures that decide are taken outside.

Every submission here is right in all it computes and keeps eight kilobytes more a call than `state`
allows, somewhere; 64 kilobytes where only the system's account can tell, which is in doubt below,
and there its backward needs what is kept.
"""

from __future__ import annotations

import pytest

from grader.model.verdict import Verdict
from tests.attacks.attack import question
from tests.attacks.running import Graded, said
from tests.sandbox.running import FIND

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
HIDE = """
import ctypes, mmap, os, sys
import numpy as np
_right, _right_backward, _kept = centre, centre_backward, []
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
{hide}
def centre(x, w):
    y, (d, v) = _right(x, w)
    return y, (put(d.tobytes() + v.tobytes()), d.shape, d.dtype.str)
def centre_backward(grad_y, ctx):
    handle, shape, dtype = ctx
    size = np.empty(shape, dtype).nbytes
    d, w = np.frombuffer(get(handle, 2 * size), dtype).reshape(2, *shape).copy()
    return _right_backward(grad_y, (d, w))
"""
PLACES = {
    "memory-of-c": """
def put(data):
    handle = libc.malloc(64_000)
    ctypes.memset(handle, 7, 64_000)
    ctypes.memmove(handle, data, len(data))
    return handle
def get(handle, size):
    return ctypes.string_at(handle, size)
""",
    "an-anonymous-map": """
def put(data):
    _kept.append(mmap.mmap(-1, 1 << 16))
    _kept[-1].write(data + b'x' * ((1 << 16) - len(data)))
    return len(_kept) - 1
def get(handle, size):
    return _kept[handle][:size]
""",
    "a-file": """
def put(data):
    _kept.append(f"kept{len(_kept)}")
    with open(_kept[-1], "wb") as file:
        file.write(data + os.urandom(64_000))
    return _kept[-1]
def get(handle, size):
    with open(handle, "rb") as file:
        return file.read(size)
""",
}
CONTEXT = """
class Context(tuple):
    __sizeof__ = lambda self: 0
_old = centre_backward
def centre_backward(grad_y, ctx):
    return _old(grad_y, ctx[:2])
"""
LIES = (
    FIND
    + """
for _name, _module in list(sys.modules.items()):
    if _name.startswith("worker."):
        for _word in ("reachable", "reachable_bytes", "allocation"):
            if hasattr(_module, _word):
                setattr(_module, _word, lambda *a: (0, 0) if _word == "reachable" else 0)
import tracemalloc, gc
tracemalloc.get_traced_memory = lambda: (0, 0)
gc.get_referents = lambda *_: []
"""
)


@pytest.mark.parametrize("lies", [False, True], ids=["honest-meter", "patched-meter"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_is_seen_wherever_it_is(way: str, lies: bool, in_session: Graded) -> None:
    asked = question()
    text = asked.reference.decode() + CONTEXT * (way == "the-context")
    text += KEEP.format(keep=WAYS[way]) + LIES * lies
    report, _ = in_session(asked, text.encode())
    assert report.verdict is not Verdict.PASS, said(report)
    kept = next(check for check in report.checks if check.id == "kept")
    assert kept.verdict is not Verdict.PASS, said(report)


@pytest.mark.parametrize("lies", [False, True], ids=["honest-meter", "patched-meter"])
@pytest.mark.parametrize("place", PLACES)
def test_what_backward_needs_is_seen_wherever_it_is(
    place: str, lies: bool, in_session: Graded
) -> None:
    asked = question()
    text = asked.reference.decode() + HIDE.format(hide=PLACES[place]) + LIES * lies
    report, _ = in_session(asked, text.encode())
    assert report.verdict is not Verdict.PASS, said(report)
    kept = next(check for check in report.checks if check.id == "kept")
    assert kept.verdict is not Verdict.PASS, said(report)
