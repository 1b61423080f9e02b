"""Bytes and FLOPs of autograd graphs equal counts made by hand.

One worker with torch serves the whole file: starting it takes longer than all of its tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.sandbox.client import WorkerClient
from grader.sandbox.messages import Measured, Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.protocol import MatmulCount
from grader.sandbox.worker.wire import Opaque, Tensor
from tests.harness import Lend
from tests.sandbox.running import load, started, steps

pytest.importorskip("torch")

SOURCE = """\
import functools
import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

kept = []

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

class Stash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.h = x + 1
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return 2 * g

class Numpy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.h = np.zeros(100_000)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return 2 * g

def product(x, w): return x @ w
def double(x): return x * 2
def square(x): return x * x
def relu(x): return torch.relu(x)
def rows(x): return x[:1] * x[:1]
def twice(x): return (x * x) * (x * x)
def flattened(v): return Square.apply(v.reshape(-1, v.shape[-1])).reshape(v.shape)
def kept_whole(v): return Square.apply(v)
def chain(x): return (x + 1) * 2
def freed(x):
    h = x + 1
    del h
    return x * 2
def inplace(x): return x.clone().mul_(2).add_(1)
def hidden(x):
    kept[:] = [x + 1]
    return x * 2
@functools.cache
def table(n): return torch.ones(n, n)
def cached(x): return x * table(64).sum()
def own(x): return Square.apply(x)
def own_reshaped(x): return Square.apply(x).reshape(-1, 2).t()[:1]
def own_scaled(x): return Square.apply(x) * 2
def stash(x): return Stash.apply(x)
def in_numpy(x): return Numpy.apply(x)
def again(x): return checkpoint(square, x, use_reentrant=False)
def reentrant(x): return checkpoint(square, x, use_reentrant=True)
def detached(x): return (x * x).detach()
def number(x): return 3.0
def several(x, w): return (x @ w).relu() + (x[:2] @ w).sum()
def one(x, k): return x[:1, :1].expand(1, k) @ x[:1, :1].expand(k, 1)
def varied(x, w): return sum(one(x, k).sum() for k in range(1, 300))
def spelled(x, w): return (x[:, :, None] * w[None]).sum(1)
def einsum(x, w): return torch.einsum("ij,jk->ik", x, w)
def linear(x, w): return torch.nn.functional.linear(x, w.t(), x.new_zeros(w.shape[1]))
def vector(x, w): return w.t() @ x[0]
def inner(x, w): return torch.dot(x[0], w[:, 0])
def added(x, w): return x.new_zeros(x.shape[0], w.shape[1]).addmm_(x.detach(), w.detach())
def batched(x, w): return torch.bmm(x.expand(6, *x.shape), w.expand(6, *w.shape))
def conv(x, w): return torch.conv1d(x[None], torch.ones(2, x.shape[0], 2, dtype=x.dtype))
def fails(x): raise ValueError("no")
def change(x):
    with torch.no_grad():
        x += 1
    return x.detach() * 2
def restore(x, y):
    with torch.no_grad():
        x -= 1
    return y * 2
def alias(x): return x.detach().view(-1)
def views(x): return [x.detach()[:1], x.detach()[1:], {"again": x.detach()}]
def shape(x): return list(x.shape), list(x.stride()), str(x.dtype), x.requires_grad, x.is_leaf
def odd(x): return [x.detach().to_sparse(), torch.empty(2, device="meta"), torch.tensor(1j),
                    x.detach().to(torch.float16), x.detach().conj(), torch.nn.Linear(2, 2)]
"""

ROWS, WIDTH, OUT = 3, 4, 5
X, W, Y = ROWS * WIDTH * 8, WIDTH * OUT * 8, ROWS * OUT * 8  # bytes in float64
PRODUCT = 2 * ROWS * WIDTH * OUT
# What autograd keeps; what the forward leaves alive besides its results; the most that is alive at
# once; two for each multiplication and addition of a product; and what made the result.
QUANTITIES: dict[str, dict[str, int | str]] = {
    "saved": {
        "product(x, w)": X + W,
        "double(x)": 0,
        "square(x)": X,
        "relu(x)": X,
        "twice(x)": 3 * X,
        "rows(x)": X,
        "own(x)": X,
        "stash(x)": 0,
        "detached(x)": X,
    },
    "live": {
        "square(x)": 0,
        "product(x, w)": 0,
        "twice(x)": 2 * X,
        "freed(x)": 0,
        "hidden(x)": X,
        "stash(x)": X,
        "cached(x)": 4,
        "own(x)": 0,
    },
    "peak": {
        "double(x)": X,
        "chain(x)": 2 * X,
        "freed(x)": X,
        "inplace(x)": X,
        "twice(x)": 3 * X,
        "product(x, w)": Y,
        "spelled(x, w)": ROWS * WIDTH * OUT * 8 + Y,
    },
    "flops": {
        "einsum(x, w)": PRODUCT,
        "linear(x, w)": PRODUCT,
        "conv(x, w)": 2 * 2 * ROWS * 2 * (WIDTH - 1),
        "double(x)": 0,
        "spelled(x, w)": 0,
    },
    "graph": {
        "own(x)": "own",
        "own_reshaped(x)": "own",
        "own_scaled(x)": "MulBackward0",
        "square(x)": "MulBackward0",
        "again(x)": "MulBackward0",
        "product(x, w)": "MmBackward0",
        "detached(x)": "none",
        "number(x)": "float",
    },
}


@pytest.fixture(scope="module")
def program(lend: Lend) -> Iterator[RemoteProgram]:
    """Return the program of this file, loaded in a worker."""
    with started(torch=True, zygote=lend(torch=True)) as worker:
        yield load(worker, SOURCE, seconds=60)


@pytest.fixture(scope="module")
def worker(program: RemoteProgram) -> WorkerClient:
    """Return the worker of the program."""
    return program.worker


def tensor(*shape: int, layout: str = "contiguous", grad: bool = True, of: str = "float64") -> Any:
    """Return a tensor input."""
    values = np.arange(1, 1 + int(np.prod(shape)), dtype=np.float64).reshape(shape)
    value: Any = values
    if of != "float64":
        value = Tensor(values.astype(np.float32), of) if of == "bfloat16" else values.astype(of)
    return {"value": value, "layout": layout, "tensor": True, "grad": grad}


INPUTS = {"x": tensor(ROWS, WIDTH), "w": tensor(WIDTH, OUT)}


def measure(program: RemoteProgram, quantity: str, *texts: str, **more: Any) -> Measured:
    """Measure a run; from the second time on, every measurement is equal."""
    wanted = steps(*texts)
    needed = {n: INPUTS[n] for n in {r for s in wanted for r in s.names_read} & INPUTS.keys()}
    given = more.pop("inputs", {}) | {n: v for n, v in needed.items() if n not in more}
    program.measure(quantity, wanted, given, **more)
    first = program.measure(quantity, wanted, given, **more)
    assert program.measure(quantity, wanted, given, **more) == first
    return first


def _step(error: ProgramError) -> str:
    return "" if error.step is None else error.step.text


def run(program: RemoteProgram, *texts: str, want: str = "y", inputs: Any = None) -> Outcome:
    """Run steps and return their results."""
    return program.run(steps(*texts), inputs or {"x": INPUTS["x"]}, want.split())


@pytest.mark.parametrize(
    ("quantity", "call"), [(quantity, call) for quantity, of in QUANTITIES.items() for call in of]
)
def test_measured_quantities_equal_the_arithmetic(
    program: RemoteProgram, quantity: str, call: str
) -> None:
    found = measure(program, quantity, f"y = {call}", of="y")
    assert found.value == QUANTITIES[quantity][call]


def test_saved_bytes_leave_out_some_inputs_and_name_the_rest(
    program: RemoteProgram,
) -> None:
    found = measure(program, "saved", "y = product(x, w)", without=["w"])
    assert found.value == X
    assert found.details == (("(3, 4) float64", X),)
    whole = measure(program, "saved", "y = product(x, w)")
    assert whole.details == (("(4, 5) float64", W), ("(3, 4) float64", X))


@pytest.mark.parametrize(
    ("layout", "step", "saved", "live"),
    [
        ("contiguous", "flattened", X, 0),
        ("fortran", "flattened", X, X),
        ("fortran", "kept_whole", X, 0),
        ("strided", "flattened", X, 0),
        ("strided", "kept_whole", X, 0),
    ],
)
def test_only_the_values_of_an_input_count_and_a_copy_of_it_is_alive(
    program: RemoteProgram, layout: str, step: str, saved: int, live: int
) -> None:
    v = tensor(2, ROWS // 2 + 1, 3, layout=layout)
    size = 2 * (ROWS // 2 + 1) * 3 * 8
    for quantity, expected in (("saved", saved), ("live", live)):
        found = measure(program, quantity, f"y = {step}(v)", inputs={"v": v})
        assert found.value == expected // X * size, quantity


def test_saved_and_live_bytes_are_of_the_forward_only(program: RemoteProgram) -> None:
    texts = ("y = square(x)", "dx = vjp(y, x, x)")
    assert [measure(program, quantity, *texts).value for quantity in ("saved", "live")] == [X, 0]


def test_live_bytes_include_arrays_hidden_in_numpy(program: RemoteProgram) -> None:
    found = program.measure("live", steps("y = in_numpy(x)"), {"x": INPUTS["x"]}).value
    assert isinstance(found, int)
    assert 800_000 <= found < 1_100_000


@pytest.mark.parametrize(
    ("function", "products"),
    [
        ("product", [MatmulCount(1, 3, 4, 5, 1)]),
        ("several", [MatmulCount(1, 2, 4, 5, 1), MatmulCount(1, 3, 4, 5, 1)]),
        ("batched", [MatmulCount(6, 3, 4, 5, 1)]),
        ("vector", [MatmulCount(1, 5, 4, 1, 1)]),
        ("inner", [MatmulCount(1, 1, 4, 1, 1)]),
        ("added", [MatmulCount(1, 3, 4, 5, 1)]),
        ("conv", []),
        ("varied", []),
    ],
)
def test_products_of_few_sizes_are_listed_by_size(
    program: RemoteProgram, function: str, products: list[MatmulCount]
) -> None:
    found = measure(program, "flops", f"y = {function}(x, w)")
    assert sorted(found.products) == products
    assert not products or sum(2 * math.prod(one) for one in products) == found.value


def test_a_backward_costs_two_products_and_a_frozen_input_one_less(program: RemoteProgram) -> None:
    inputs = {"x": INPUTS["x"], "w": INPUTS["w"], "g": tensor(ROWS, OUT, grad=False)}
    texts = ("y = product(x, w)", "dx, dw = vjp(y, g, x, w)")
    assert measure(program, "flops", *texts, inputs=inputs).value == 3 * PRODUCT
    frozen = inputs | {"w": tensor(WIDTH, OUT, grad=False)}
    assert program.measure("flops", steps(*texts), frozen).value == 2 * PRODUCT


def test_checkpointing_is_not_the_programs_own_function(program: RemoteProgram) -> None:
    found = program.measure("graph", steps("y = reentrant(x)"), {"x": INPUTS["x"]}, of="y").value
    assert "Checkpoint" in str(found)


def test_a_step_that_fails_during_a_measurement_is_the_programs_fault(
    program: RemoteProgram,
) -> None:
    for quantity in ("saved", "live", "peak", "flops", "graph"):
        with pytest.raises(ProgramError) as told:
            program.measure(quantity, steps("y = fails(x)"), {"x": INPUTS["x"]}, of="y")
        assert told.value.raised is not None
        assert (told.value.raised.type, _step(told.value)) == ("ValueError", "y = fails(x)")
        assert told.value.raised.frames[-1].function == "fails"


def test_gradients_of_frozen_or_unused_inputs_are_none(program: RemoteProgram) -> None:
    inputs = {name: tensor(2, grad=name in "xw") for name in "xwzg"}
    texts = ("y = square(x)", "dx, dw, dz = vjp(y, g, x, w, z)")
    found = run(program, *texts, want="dx dw dz", inputs=inputs).values
    assert found["dx"].values.tolist() == [2.0, 8.0]
    assert found["dw"] is None
    assert found["dz"] is None


def test_a_second_backward_goes_through_the_same_graph(program: RemoteProgram) -> None:
    texts = ("y = own(x)", "a = vjp(y, g, x)", "b = vjp(y, h, x)")
    inputs = {"x": tensor(2), "g": tensor(2, grad=False), "h": tensor(2, grad=False)}
    found = run(program, *texts, want="a b", inputs=inputs).values
    assert found["a"].values.tolist() == found["b"].values.tolist() == [2.0, 8.0]


def test_a_sentence_refuses_the_gradient_of_a_value_that_is_not_a_tensor(
    program: RemoteProgram,
) -> None:
    with pytest.raises(ProgramError) as told:
        run(program, "y = number(x)", "dx = vjp(y, x, x)", want="dx")
    assert told.value.raised is None
    assert told.value.message == "y is a float, expected a tensor"
    assert _step(told.value) == "dx = vjp(y, x, x)"


@pytest.mark.parametrize(
    ("layout", "strides"),
    [
        ("contiguous", [4, 1]),
        ("fortran", [1, 3]),
        ("reversed", [1, 3]),
        ("strided", [8, 2]),
        ("readonly", [4, 1]),
        ("broadcast", [0, 1]),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_tensors_have_the_requested_strides_and_dtype(
    program: RemoteProgram, layout: str, strides: list[int], dtype: str
) -> None:
    given = {"x": tensor(3, 4, layout=layout, of=dtype)}
    shape, stride, kind, grad, leaf = run(program, "y = shape(x)", inputs=given).values["y"]
    assert (shape, stride, kind, grad, leaf) == ([3, 4], strides, f"torch.{dtype}", True, True)
    values = run(program, "y = double(x)", inputs=given).values["y"].values
    expected = np.arange(1, 13).reshape(3, 4) * 2.0
    assert np.array_equal(values, expected[:1].repeat(3, 0) if layout == "broadcast" else expected)


def test_an_input_tensor_that_is_changed_and_restored_is_noticed(program: RemoteProgram) -> None:
    found = run(program, "y = change(x)", "z = restore(x, y)", want="y z")
    assert found.changed == ((0, "x"),)
    assert found.stale == ()


def test_a_result_in_the_memory_of_an_input_tensor_is_noticed(program: RemoteProgram) -> None:
    assert run(program, "y = alias(x)").shared == (("y", "x"),)
    assert run(program, "y = double(x)").shared == ()


def test_only_the_type_of_a_tensor_without_plain_memory_is_sent(program: RemoteProgram) -> None:
    sparse, meta, scalar, half, conjugate, module = run(program, "y = odd(x)").values["y"]
    assert isinstance(sparse, Opaque)
    assert meta == Opaque("torch.Tensor (torch.strided, meta)")
    assert isinstance(scalar, Tensor)
    assert scalar.dtype == "complex64"
    assert (half.dtype, half.values.dtype) == ("float16", np.float16)
    assert conjugate.values.tolist() == INPUTS["x"]["value"].tolist()
    assert module == Opaque("torch.nn.modules.linear.Linear")


def test_the_state_of_tensors_counts_each_storage_once(program: RemoteProgram) -> None:
    found = program.measure("state", steps("ctx = views(x)"), {"x": INPUTS["x"]}, of="ctx")
    assert found.value == X
