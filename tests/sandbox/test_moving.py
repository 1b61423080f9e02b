"""What a run keeps, taken to another process of the same program: enough there, or not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from grader.sandbox.client import Garbled, WorkerClient
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError
from tests.harness import Lend
from tests.sandbox.running import given, steps

FIRST, REST = steps("ctx = forward(x)"), steps("y = backward(ctx)")
X = given(x=np.arange(6.0).reshape(2, 3))
HEAD = """
import array, collections, dataclasses, functools, types
import numpy as np

@dataclasses.dataclass
class Data:
    x: object
    more: object = None

class Slots:
    __slots__ = ("x",)

class Static:
    @staticmethod
    def closed(x):
        def inner(k):
            return k * x
        return inner

Named = collections.namedtuple("Named", "x kind")
def times(x, k):
    return k * x
"""
MOVED = {
    "tuple": ("(x, x.shape, slice(None))", "2 * ctx[0]"),
    "list": ("[x.tolist(), None, 2.5, True]", "2 * np.array(ctx[0])"),
    "keys of numbers": ("{0: x, (1, 'a'): x}", "ctx[0] + ctx[(1, 'a')]"),
    "bytes": ("(x.tobytes(), x.dtype)", "2 * np.frombuffer(ctx[0], ctx[1]).reshape(2, 3)"),
    "array": ("array.array('d', x.ravel())", "2 * np.array(ctx).reshape(2, 3)"),
    "dataclass": ("Data(x, Data(x.shape))", "2 * ctx.x.reshape(ctx.more.x)"),
    "named tuple": ("Named(x, 'k')", "2 * ctx.x"),
    "namespace": ("types.SimpleNamespace(x=x)", "2 * ctx.x"),
    "partial": ("functools.partial(times, x)", "ctx(2)"),
    "a closure": ("Static.closed(x)", "ctx(2)"),
    "a lambda": ("(lambda k, by=1: by * k * x)", "ctx(2)"),
    "a closure over a closure": ("(lambda f: lambda: f(2))(lambda k: k * x)", "ctx()"),
    "a module": ("(np, x)", "2 * ctx[0].asarray(ctx[1])"),
    "Fortran order": ("np.asfortranarray(x)", "2 * ctx"),
    "a view": ("np.repeat(x, 2, 1)[:, ::2]", "2 * ctx"),
}
NOT_MOVED = {
    "a generator": "(a for a in x)",
    "a thread's lock": "__import__('threading').Lock()",
    "a hostile class": "Hostile()",
}
HOSTILE = """
import sys
class Hostile:
    def __reduce__(self):
        raise SystemExit(3)
"""


@pytest.fixture(scope="module")
def pair(lend: Lend) -> Iterator[tuple[WorkerClient, WorkerClient]]:
    """Give two processes."""
    zygote = lend(torch=False)
    with (
        WorkerClient(torch=False, zygote=zygote) as one,
        WorkerClient(torch=False, zygote=zygote) as other,
    ):
        yield one, other


def loaded(worker: WorkerClient, source: str) -> RemoteProgram:
    program = RemoteProgram(worker, "submission", [source.encode()])
    program.load(["forward", "backward"])
    return program


@pytest.mark.parametrize("way", MOVED)
def test_a_run_goes_on_elsewhere(way: str, pair: tuple[WorkerClient, WorkerClient]) -> None:
    kept, used = MOVED[way]
    source = f"{HEAD}\ndef forward(x):\n    return {kept}\ndef backward(ctx):\n    return {used}\n"
    here, there = (loaded(worker, source) for worker in pair)
    packed = here.pack(FIRST, X, ["ctx"])
    assert 48 < packed.nbytes < 1024
    found = there.go_on(packed, REST, {}, ["y"]).values["y"]
    assert np.array_equal(found, 2 * X["x"]["value"])


@pytest.mark.parametrize("way", NOT_MOVED)
def test_what_cannot_be_moved_gives_nothing(
    way: str, pair: tuple[WorkerClient, WorkerClient]
) -> None:
    source = f"{HOSTILE}\ndef forward(x):\n    return {NOT_MOVED[way]}\ndef backward(ctx): pass\n"
    assert loaded(pair[0], source).pack(FIRST, X, ["ctx"]).nbytes == 0


def test_what_a_program_remembers_stays_behind(pair: tuple[WorkerClient, WorkerClient]) -> None:
    source = (
        "kept = {}\ndef forward(x):\n    kept[0] = x\n    return 0\n"
        "def backward(ctx): return kept[ctx]"
    )
    here, there = (loaded(worker, source) for worker in pair)
    packed = here.pack(FIRST, X, ["ctx"])
    with pytest.raises(ProgramError, match="KeyError"):
        there.go_on(packed, REST, {}, ["y"])


def test_what_was_not_packed_is_no_run(pair: tuple[WorkerClient, WorkerClient]) -> None:
    there = loaded(pair[1], "def forward(x): pass\ndef backward(ctx): pass")
    with pytest.raises(Garbled, match="UnpicklingError"):
        there.go_on(np.frombuffer(b"no pickle", np.uint8), REST, {}, ["y"])
