"""Inputs in memory that the judge maps too: they are what they would be, and it sees what happens.

The programs here lie: their worker never says that anything has changed or is shared.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from grader.sandbox.client import Died, WorkerClient
from grader.sandbox.lending import Lending
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.sending import Inputs
from grader.sandbox.worker import layouts, mapping
from grader.sandbox.worker.protocol import Input
from grader.sandbox.worker.wire import Tensor
from tests.harness import Lend
from tests.sandbox.running import FIND, given, started, steps
from tests.sandbox.test_layouts import ARRAYS, LAYOUTS

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs memfd_create")


@pytest.fixture(scope="module")
def lending() -> Iterator[Lending]:
    """Give memory that is mapped here as a worker would map it."""
    with Lending() as found, pytest.MonkeyPatch.context() as patch:
        whole = ctypes.c_char.from_buffer(found._memory)
        patch.setattr(mapping, "address", ctypes.addressof(whole))
        yield found
        del whole


def lent(lending: Lending, spec: dict[str, Any]) -> Any:
    """Make a lent input as a worker does."""
    lending._used = 0  # in a test all may lie in one place
    sent, _ = lending.lend({"x": spec})
    return layouts.build(sent["x"]) if sent else None


@settings(deadline=None)
@drawn(ARRAYS.filter(lambda array: array.size > 0), st.sampled_from(LAYOUTS))
def test_a_lent_array_is_what_any_other_would_be(lending: Lending, array: Any, layout: str) -> None:
    found = lent(lending, {"value": array, "layout": layout})
    usual = layouts.build(Input(array, layout))
    assert found.tobytes() == usual.tobytes()
    assert found.strides == usual.strides or 1 in array.shape
    assert (found.dtype, found.shape) == (usual.dtype, usual.shape)
    assert found.flags.writeable == usual.flags.writeable


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_lent_tensor_is_what_any_other_would_be(
    lending: Lending, layout: str, dtype: str
) -> None:
    torch = pytest.importorskip("torch")
    values = np.arange(24).reshape(2, 3, 4)
    wide = values.astype("float32" if dtype == "bfloat16" else dtype)
    spec: dict[str, Any] = {
        "value": Tensor(wide, dtype) if dtype == "bfloat16" else wide,
        "layout": layout,
        "tensor": True,
        "grad": True,
    }
    found, usual = lent(lending, spec), layouts.build(Input(**spec))
    assert found.dtype == usual.dtype
    assert torch.equal(found, usual)
    assert found.stride() == usual.stride()
    assert (found.requires_grad, found.is_leaf) == (usual.requires_grad, True)


def test_what_there_is_no_room_for_is_sent_as_ever(lending: Lending) -> None:
    big, small = np.zeros(mapping.SIZE // 8), np.zeros(8)
    lending._used = 64
    sent, written = lending.lend(
        {"big": {"value": big}, "small": {"value": small}, "n": {"value": 3}}
    )
    assert set(sent) == set(written) == {"small"}


def test_no_place_is_lent_twice(lending: Lending) -> None:
    lending._used = 0
    places = [lending.lend({"x": {"value": np.zeros(9)}})[0]["x"].lent for _ in range(3)]
    assert len({place.offset for place in places if place is not None}) == 3


def test_nobody_can_make_the_memory_smaller() -> None:
    with Lending() as found, pytest.raises(PermissionError):
        os.ftruncate(found.descriptor, 0)


LIES = (
    FIND
    + """\
import numpy as np
steps = sys.modules["worker.steps"]
def outcome(self):
    return steps.Outcome(self.first_seen)
steps.Progress.outcome = outcome

def plain(x, w): return x * 2, w * 1
def change(x, w):
    x[...] = 0
    return w * 2, w
def descriptors(x, w):
    import os
    return [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if n != "3"], w
"""
)
TWO: Inputs = given(x=np.arange(3.0), w=np.arange(5.0))
OTHER: Inputs = given(x=np.arange(3.0) + 7, w=np.arange(5.0) + 7)


@pytest.fixture(scope="module")
def liar(lend: Lend) -> Iterator[RemoteProgram]:
    """Give a program that says nothing of what it does."""
    with started(zygote=lend(torch=False)) as worker:
        program = RemoteProgram(worker, "submission", [LIES.encode()], untrusted=True)
        program.load(())
        yield program


def seen(program: RemoteProgram, function: str) -> Any:
    """What is seen of two callers in turn."""
    asked = steps(f"y, z = {function}(x, w)")
    return program.interleave(asked, [TWO, OTHER], ["y", "z"]).runs


@pytest.mark.parametrize("program", ["plain", "change"])
def test_the_judge_sees_what_the_worker_does_not_say(liar: RemoteProgram, program: str) -> None:
    changed = ((0, "x"),) if program == "change" else ()
    assert [one.changed for one in seen(liar, program)] == [changed, changed]


def test_a_trusted_program_is_sent_its_inputs(liar: RemoteProgram) -> None:
    worker: WorkerClient = liar.worker
    assert worker.lending is not None
    used = worker.lending._used
    trusted = RemoteProgram(worker, "reference", [LIES.encode()])
    trusted.load(())
    assert trusted.run(steps("y, z = change(x, w)"), TWO, ["y"]).changed == ()
    assert worker.lending._used == used


@pytest.mark.parametrize("asked", ["run", "interleave"])
def test_a_worker_that_ends_is_said_to_have_ended(lend: Lend, asked: str) -> None:
    dies = "import os\ndef f(x, w): os._exit(3)\n"
    with WorkerClient(torch=False, zygote=lend(torch=False)) as worker:
        program = RemoteProgram(worker, "submission", [dies.encode()], untrusted=True)
        program.load(())
        f = steps("y = f(x, w)")
        ways: dict[str, Callable[[], object]] = {
            "run": lambda: program.run(f, TWO, ["y"]),
            "interleave": lambda: program.interleave(f, [TWO, OTHER], ["y"]),
        }
        for _time in range(2):  # the second time it is known
            with pytest.raises(Died):
                ways[asked]()
