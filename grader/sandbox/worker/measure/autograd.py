"""Counts of an autograd graph: bytes saved, alive, at the peak; matmul FLOPs; a tensor's origin.

All are exact at the granularity of one dispatched operation, repeat to the byte, and read the same
on every machine.  Scratch memory inside one kernel is not seen.
"""

from __future__ import annotations

import gc
import importlib
import math
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .. import steps as stepping
from ..namespace import LoadedModule
from ..protocol import MOST_PRODUCTS, Measure, Measured, Product, Step
from ..steps import Names, StepFault
from ..wire import type_name
from . import kept as keeping

Tensor = torch.Tensor
Details = tuple[tuple[str, int], ...]

# Bytes of Python objects that a forward may leave behind without being asked.
OWN_OBJECTS = 256 << 10

# Where the factors are among the arguments.
_FACTORS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), 0),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_"), 1),
}
# In-place and fused products that torch's registry leaves out, by the out-of-place operation that
# costs the same.
_SAME_COST = {
    "addmm_": "addmm", "baddbmm_": "baddbmm", "addmv_": "addmv",
    "_scaled_dot_product_flash_attention_for_cpu": "_scaled_dot_product_flash_attention",
}  # fmt: skip


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
    found: dict[int, tuple[int, str]] = {}
    kept: list[Tensor] = []  # a freed storage's identity must not be met again

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor.detach())
        key = storage_key(tensor)
        if key not in ignored:
            size, words = storage_size(tensor)
            found.setdefault(key, (min(size, lent.get(key, size)), words))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        stepping.perform_all(program, steps, names)
    called = keeping.names(kept, names)
    return sum(size for size, _ in found.values()), _largest(found.values()), called


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


def tensors_in(value: object) -> list[Tensor]:
    """Every tensor in a value, however nested."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def storage_key(tensor: Tensor) -> int:
    """What is the same for all tensors on the same memory, while that lives."""
    return int(tensor.untyped_storage()._cdata)


def storage_size(tensor: Tensor) -> tuple[int, str]:
    """The bytes of a tensor's storage, and its shape and dtype in words."""
    words = f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
    return tensor.untyped_storage().nbytes(), words


class Meter(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base is untyped
    """Counts the bytes of every storage made while it is on, until it is freed, and matmul FLOPs.

    It holds a weak reference to each storage, so whatever keeps one alive (the graph, an attribute
    of ctx, a global, a closure) is counted, and nothing is kept alive by counting.
    Technique: `torch/distributed/_tools/mem_tracker.py`.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False spares the import of torch._dynamo, 0.7 s, for a mode that is never compiled."""
        return False

    def __init__(self, *, count_flops: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = self.flops = 0
        self.elements = 0  # written by operations that are not matmuls
        self.products: Counter[tuple[int, int, int, int]] = Counter()
        self.alive: dict[int, tuple[Any, int, str, Any]] = {}
        self.count_flops = count_flops

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 torch's signature
        kwargs = kwargs or {}
        known = {storage_key(t) for t in tensors_in((args, kwargs))}
        out = func(*args, **kwargs)
        made = [t for t in tensors_in(out) if storage_key(t) not in known]
        for tensor in made:
            if storage_key(tensor) not in self.alive:
                self._see(tensor)
        flops = matmul_flops(func, args, kwargs, out) if self.count_flops else 0
        self.flops += flops
        if flops:
            self._multiplied(func._overloadpacket.__name__, args)
        else:
            self.elements += sum(t.numel() for t in made)
        return out

    def _multiplied(self, name: str, args: Any) -> None:  # noqa: ANN401 torch's types
        """Record the sizes of a product of matrices; a convolution or fused attention has none."""
        if name in _FACTORS:
            a, b = args[_FACTORS[name] : _FACTORS[name] + 2]
            batch = int(a.shape[0]) if a.dim() == 3 else 1
            rows = int(a.shape[-2]) if a.dim() > 1 else 1
            columns = int(b.shape[-1]) if b.dim() > 1 else 1
            self.products[batch, rows, int(a.shape[-1]), columns] += 1

    def _see(self, tensor: Tensor) -> None:
        storage, key = tensor.untyped_storage(), storage_key(tensor)
        self.alive[key] = (
            weakref.ref(storage, lambda _: self._free(key)),
            *storage_size(tensor),
            tensor.dtype,
        )
        self.live += storage.nbytes()
        self.peak = max(self.peak, self.live)

    def _free(self, key: int) -> None:
        entry = self.alive.pop(key, None)
        if entry is not None:
            self.live -= entry[1]

    def storages(self) -> list[Tensor]:
        """What is alive, as flat tensors."""
        found = [(ref(), dtype) for ref, _, _, dtype in self.alive.values()]
        return [torch.empty(0, dtype=dtype).set_(s) for s, dtype in found if s is not None]

    def forget(self, tensors: Iterable[Tensor]) -> None:
        """Stop counting the storages of these tensors: the caller's results."""
        for tensor in tensors:
            self._free(storage_key(tensor))


def matmul_flops(func: Any, args: Any, kwargs: Any, out: Any) -> int:  # noqa: ANN401 torch's own types
    """FLOPs of one dispatched operation, two a multiply-add; 0 for everything element-wise."""
    from torch.utils.flop_counter import flop_registry

    name = func._overloadpacket.__name__
    if name in {"mv", "dot", "vdot"}:
        return 2 * int(args[0].numel())
    if name in {"addmv", "addmv_"}:
        return 2 * int(args[1].numel())
    if name in {"addr", "addr_", "ger"}:
        return 2 * int(args[-2].numel() * args[-1].numel())
    packet = getattr(torch.ops.aten, _SAME_COST.get(name, name), None)
    count = flop_registry.get(packet)
    return int(count(*args, **kwargs, out_val=out)) if count is not None else 0
