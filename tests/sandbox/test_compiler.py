"""Torch's compiler is imported for programs that need it, and no call is charged for that."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.sandbox import Deadline
from grader.sandbox.client import ProtocolViolation, RequestLimits
from grader.sandbox.messages import parse_message, parse_reply
from grader.sandbox.spawn import Zygote, zygote_if_safe
from grader.sandbox.worker import protocol
from grader.sandbox.worker.protocol import PassedValue, PeerMessage
from grader.sandbox.worker.wire import message_fields
from tests.sandbox.running import X, load, run, started

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")

# `had` is whether the compiler was there before the program, so that the program did not import it.
HAD = """
import sys
had = "torch._dynamo" in sys.modules
import torch
"""
PLAIN = HAD + "def f(x): return had\n"
OPTIMIZER = (
    HAD
    + """
def f(x):
    weight = torch.nn.Parameter(torch.as_tensor(x))
    optimizer = torch.optim.AdamW([weight], lr=1.0, weight_decay=0.0)
    weight.sum().backward()
    optimizer.step()
    return [had, weight.detach().numpy()]
"""
)
CHECKPOINT = (
    HAD
    + """
from torch.utils.checkpoint import checkpoint
def f(x):
    weight = torch.nn.Parameter(torch.as_tensor(x))
    checkpoint(lambda w: w * w, weight, use_reentrant=False).sum().backward()
    return [had, weight.grad.numpy()]
"""
)
FUNC = (
    HAD
    + """
def f(x):
    import torch._dynamo  # some versions of torch do this in vjp
    _, vjp = torch.func.vjp(lambda w: w * w, torch.as_tensor(x))
    return [had, vjp(torch.ones(3, dtype=torch.float64))[0].numpy()]
"""
)
NEEDS = {
    "optimizer": (OPTIMIZER, X["x"]["value"] - 1),
    "checkpoint": (CHECKPOINT, 2 * X["x"]["value"]),
    "func": (FUNC, 2 * X["x"]["value"]),
}


WHO = """
import getpass, os, tempfile, torch
from torch.utils.checkpoint import checkpoint
def f(x):
    names = ("HOME", "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME")
    torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))])
    folders = {tempfile.gettempdir(), *(os.environ[name] for name in names)}
    return [getpass.getuser(), list(folders), os.getcwd()]
"""


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    made = zygote_if_safe(torch=True)
    if made is None:
        pytest.skip("forks are not safe here")
    with made:
        yield made


@pytest.mark.parametrize(
    "kind", ["optimizer", *(pytest.param(k, marks=pytest.mark.slow) for k in (*NEEDS,)[1:])]
)
def test_a_program_that_needs_the_compiler_finds_it_imported(kind: str, zygote: Zygote) -> None:
    source, expected = NEEDS[kind]
    with started(torch=True, zygote=zygote) as worker:
        had, found = run(load(worker, source)).values["y"]
    assert had is True
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    "forked", [pytest.param(False, marks=pytest.mark.slow), True], ids=["cold", "forked"]
)
def test_no_library_looks_up_the_worker_user_and_caches_are_in_the_scratch_folder(
    forked: bool, zygote: Zygote
) -> None:
    with started(torch=True, zygote=zygote if forked else None) as worker:
        user, folders, here = run(load(worker, WHO)).values["y"]
        assert (user, folders) == ("drill", [here])
        assert here == worker.scratch


def test_a_program_without_the_compiler_never_waits_for_it(zygote: Zygote) -> None:
    with started(torch=True, zygote=zygote) as worker:
        pid = worker.pid
        assert run(load(worker, PLAIN)).values["y"] is False
        assert worker.pid == pid
    with started(torch=True, zygote=zygote) as worker:
        run(load(worker, OPTIMIZER))
    with started(torch=True, zygote=zygote) as worker:  # once for all that are forked later
        assert run(load(worker, PLAIN)).values["y"] is True


@pytest.mark.slow
def test_a_worker_without_a_zygote_imports_it_while_it_starts() -> None:
    with started(torch=True) as worker:
        assert run(load(worker, PLAIN)).values["y"] is False
        had, _ = run(load(worker, OPTIMIZER)).values["y"]
        assert had is True


def test_loaded_programs_stay_loaded_and_the_deadline_waits(zygote: Zygote) -> None:
    times = itertools.count()
    with started(torch=True, zygote=zygote) as worker:
        plain = load(worker, "def f(x): return 2 * x\n", "plain")
        worker.deadline = Deadline(1e6, lambda: float(next(times)))
        before = worker.deadline._end
        had, _ = run(load(worker, OPTIMIZER)).values["y"]
        assert had is True
        assert worker.deadline._end > before
        worker.deadline = None
        np.testing.assert_array_equal(run(plain).values["y"], 2 * X["x"]["value"])


@pytest.mark.slow
def test_a_program_may_use_an_optimizer_while_it_is_loaded(zygote: Zygote) -> None:
    source = HAD + "torch.optim.SGD([torch.nn.Parameter(torch.ones(1))])\ndef f(x): return had\n"
    with started(torch=True, zygote=zygote) as worker:
        assert run(load(worker, source)).values["y"] is True


TEST = (
    HAD
    + """
import numpy as np
def examine(tested):
    first = float(tested(np.ones(2)))
    torch.optim.SGD([torch.nn.Parameter(torch.ones(1))])
    return [had, first, float(tested(np.full(2, 2.0)))]
"""
)


@pytest.mark.slow
def test_a_test_that_has_called_the_tested_code_is_repeated_from_its_beginning(
    zygote: Zygote,
) -> None:
    asked = protocol.Call(
        "submission", PeerMessage("ask", "examine", given=(PassedValue(function=0),))
    )
    request: dict[str, Any] = {"op": "call", **message_fields(asked)}
    limits: RequestLimits | None = RequestLimits()
    with started(torch=True, zygote=zygote) as worker:
        load(worker, TEST)
        while "said" in (reply := worker.ask(request, limits)):
            called = parse_message(PeerMessage, reply["said"], "call")
            total = PassedValue(float(np.sum(called.given[0].value)))
            request, limits = {"said": PeerMessage("gives", given=(total,))}, None
    assert parse_reply(PeerMessage, reply, "call", ()).given[0].value == [True, 2.0, 4.0]


@pytest.mark.slow
def test_a_process_with_the_compiler_cannot_request_it_again(zygote: Zygote) -> None:
    forged = "import sys\nsys.modules['worker.compiler']._refusal.needed = True\n"
    with started(torch=True, zygote=zygote) as worker, pytest.raises(ProtocolViolation):
        load(worker, forged)
