"""Counts of an autograd graph: bytes saved, alive, at the peak; matmul FLOPs; a tensor's origin.

All are exact at the granularity of one dispatched operation, repeat to the byte, and read the same
on every machine.  Scratch memory inside one kernel is not seen.
"""

from __future__ import annotations

import gc
import importlib
import math
import tracemalloc
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from .. import steps as stepping
from ..namespace import LoadedModule
from ..protocol import MOST_PRODUCTS, Measure, Measured, Product, Step
from ..steps import Names, StepFault
from ..wire import type_name
from . import kept as keeping
from .meter import Meter, Saved, storage_key, tensors_in

Tensor = torch.Tensor
Details = tuple[tuple[str, int], ...]

# Bytes of Python objects that a forward may leave behind without being asked.
OWN_OBJECTS = 256 << 10


def vjp(name: str, y: object, cotangent: Tensor | None = None, *inputs: Tensor) -> Any:  # noqa: ANN401 a tuple or one result
    """Gradients of <y, cotangent> with respect to the inputs; None where there is none.

    The graph is kept, so that a second call is a second backward.

    Raises:
        StepFault: `y`, of that name, is no ordinary tensor, has another shape than its cotangent,
            or has no graph; in the question's words, where torch would use its own.
    """
    if not isinstance(y, Tensor):
        found = "None" if y is None else f"a {type_name(y)}"
        raise StepFault(f"{name} is {found}, expected a tensor")
    if y.layout != torch.strided or y.device.type == "meta":
        raise StepFault(f"{name} is a tensor without ordinary memory ({y.layout}, {y.device.type})")
    if cotangent is not None and y.shape != cotangent.shape:
        raise StepFault(f"{name} has shape {tuple(y.shape)}, expected {tuple(cotangent.shape)}")
    wanted = [t for t in inputs if t.requires_grad]
    if wanted and not y.requires_grad:
        raise StepFault(f"{name} has no graph: nothing can flow back through it")
    if not wanted:
        return tuple(None for _ in inputs)
    if cotangent is None:
        some = iter(torch.autograd.grad(y, wanted, retain_graph=True, allow_unused=True))
    else:  # what `grad` ends in: to compare shapes, as above, it imports sympy, 0.2 s
        run_backward = torch.autograd.graph._engine_run_backward
        some = iter(run_backward((y,), (cotangent,), True, False, tuple(wanted), True, False))
    grads = tuple(next(some) if t.requires_grad else None for t in inputs)
    return grads if len(grads) != 1 else grads[0]


stepping.differentiate[:] = [vjp]


def measure(program: LoadedModule, asked: Measure) -> Measured:
    """Measure one quantity of a run, in bytes or FLOPs, or the origin of a result as a text.

    The `quantity` is `saved`, `live`, `peak`, `flops`, `graph` or `cuda-peak`; the first two look
    at the steps before the first backward only, and `graph` at the result `of`; `without` are
    inputs whose storages are not counted as saved.
    """
    forward = [step for step in asked.steps if not step.backward]
    names = stepping.build(asked.inputs)
    value: int | str
    details: Details = ()
    kept: tuple[str, ...] = ()
    products: tuple[Product, ...] = ()
    elements = 0
    match asked.quantity:
        case "saved":
            value, details, kept = _saved(program, forward, names, asked.without)
        case "live":
            value, details, kept = _live(program, forward, stepping.build(asked.inputs), names)
        case "graph":
            stepping.perform_all(program, forward, names)
            value = origin(names[asked.of], program.module.__name__)
        case "cuda-peak":
            return Measured(_cuda_peak(program, asked.steps, names))
        case _:
            if asked.quantity == "flops":  # a table: now, not in the middle of a measurement
                importlib.import_module("torch.utils.flop_counter")
            # Caches made by a first call are not its cost.
            stepping.perform_all(program, asked.steps, stepping.build(asked.inputs))
            gc.freeze()
            with Meter(count_flops=asked.quantity == "flops") as meter:
                stepping.perform_all(program, asked.steps, names)
            value = int(meter.flops if asked.quantity == "flops" else meter.peak)
            elements, products = int(meter.elements), _products(meter)
    return Measured(value, details, elements, kept, products)


def _products(meter: Meter) -> tuple[Product, ...]:
    """What was multiplied; nothing where it is too varied, or not products of matrices alone."""
    found = meter.products.items()
    counted = sum(2 * math.prod(sizes) * times for sizes, times in found)
    if counted != meter.flops or len(found) > MOST_PRODUCTS:
        return ()
    return tuple(Product(*sizes, times) for sizes, times in found)


def _saved(
    program: LoadedModule, steps: Sequence[Step], names: Names, without: Sequence[str]
) -> tuple[int, Details, tuple[str, ...]]:
    ignored = {storage_key(names[name]) for name in without if isinstance(names[name], Tensor)}
    # Of an input its own values count, not what lies between them in memory.
    lent = {
        storage_key(t): t.numel() * t.element_size()
        for t in names.values()
        if isinstance(t, Tensor)
    }
    saved = Saved(lent, ignored)
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, saved.unpack):
        stepping.perform_all(program, steps, names)
    found = saved.found.values()
    called = keeping.names(saved.kept, names)
    return sum(size for size, _ in found), _largest(found), called


def _live(
    program: LoadedModule, steps: Sequence[Step], first: Names, names: Names
) -> tuple[int, Details, tuple[str, ...]]:
    """Bytes made by the forward steps and alive after them, torch and numpy, less the results."""
    with Meter():  # what a first call imports or caches is not what this one keeps
        stepping.perform_all(program, steps, first)
    first.clear()
    gc.freeze()  # so that the collection below looks at this run's objects only
    given = set(names)
    tracemalloc.start()
    try:
        with Meter() as meter:
            stepping.perform_all(program, steps, names)
        meter.forget(tensors_in([value for name, value in names.items() if name not in given]))
        gc.collect()
        outside = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # The interpreter's own objects for a graph are a few kilobytes; arrays hidden in numpy are not.
    hidden = outside if outside > OWN_OBJECTS else 0
    details = _largest(entry[1:3] for entry in meter.alive.values())
    return int(meter.live + hidden), details, keeping.names(meter.storages(), names)


def _largest(found: Iterable[tuple[int, str]]) -> Details:
    return tuple((what, size) for size, what in sorted(found, reverse=True)[:8])


def _cuda_peak(program: LoadedModule, steps: Sequence[Step], names: Names) -> int:
    """Peak of `torch.cuda.max_memory_allocated` over what was allocated before the run."""
    device = torch.device("cuda")
    moved = {
        name: value.detach().to(device).requires_grad_(value.requires_grad)
        if isinstance(value, Tensor)
        else value
        for name, value in names.items()
    }
    warm = torch.ones(64, 64, device=device)
    (warm @ warm).sum().item()  # the matmul library's workspace is not the run's
    stepping.perform_all(program, steps, dict(moved))
    torch.cuda.synchronize()
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    stepping.perform_all(program, steps, dict(moved))
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


_VIEWS = (
    "View", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Permute", "TBackward", "Alias",
    "Expand", "Clone", "ToCopy", "Slice", "Select",
)  # fmt: skip


def origin(value: object, module: str) -> str:
    """Say which node made a tensor, looking through views of it.

    Returns:
        `own` when it is an `autograd.Function` that the submission defines; else the node's name,
        or `none` when there is no graph, or the type's name when it is not a tensor.
    """
    if not isinstance(value, Tensor):
        return type(value).__name__
    node: Any = value.grad_fn
    while node is not None and getattr(type(node), "_forward_cls", None) is None:
        if not any(word in type(node).__name__ for word in _VIEWS):
            break
        node = node.next_functions[0][0]
    if node is None:
        return "none"
    forward = getattr(type(node), "_forward_cls", None)
    if forward is None:
        return type(node).__name__
    return "own" if forward.__module__ == module else str(forward.__qualname__)
