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
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .. import steps as stepping
from ..limits import MAX_COURSE_POINTS, MAX_PRODUCTS
from ..protocol import MatmulCount, Measure, Measured, WireStep
from ..steps import LoadedModule, Namespace, StepFault
from ..wire import type_name
from . import kept_memory as keeping

TorchTensor = torch.Tensor
GraphValue = Any  # of torch's own types, or anything at all

# Bytes of Python objects that a forward may leave behind without being asked.
OWN_OBJECTS = 256 << 10

# Where the factors of a product are among the arguments.
_FACTORS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), 0),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_"), 1),
    **dict.fromkeys(("addr", "addr_"), 1),
}
_FUSED = "_scaled_dot_product_flash_attention"  # as torch's registry knows it
_VIEWS = (
    "View", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Permute", "TBackward", "Alias",
    "Expand", "Clone", "ToCopy", "Slice", "Select",
)  # fmt: skip


def vjp(name: str, y: object, cotangent: TorchTensor | None = None, *inputs: TorchTensor) -> Any:  # noqa: ANN401 a tuple or one result
    """Gradients of <y, cotangent> with respect to the inputs; None where there is none.

    The graph is kept, so that a second call is a second backward.

    Raises:
        StepFault: `y`, of that name, is no ordinary tensor, has another shape than its cotangent,
            or has no graph; in the question's words, where torch would use its own.
    """
    if not isinstance(y, TorchTensor):
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


def measure_graph(program: LoadedModule, asked: Measure) -> Measured:
    """Measure one quantity of a run, in bytes or FLOPs, or the origin of a result as a text.

    The `quantity` is `saved`, `live`, `peak`, `flops`, `graph` or `cuda-peak`; the first two look
    at the steps before the first backward only, and `graph` at the result `of`; `without` are
    inputs whose storages are not counted as saved.
    """
    forward = [step for step in asked.steps if step.owner != "torch"]
    names = stepping.build_inputs(asked.inputs)
    match asked.quantity:
        case "saved":
            return _saved(program, forward, names, asked.without)
        case "live":
            return _live(program, forward, names)
        case "graph":
            stepping.perform_steps(program, forward, names)
            return Measured(graph_origin(names[asked.of], program.module.__name__))
        case "cuda-peak":
            return Measured(_cuda_peak(program, asked.steps, names))
    counts = asked.quantity == "flops"
    if counts:  # a table: now, not in the middle of a measurement
        importlib.import_module("torch.utils.flop_counter")
    gc.freeze()
    meter = Meter(count_flops=counts)
    with meter:
        stepping.perform_steps(program, asked.steps, names)
    products = tuple(MatmulCount(*sizes, times) for sizes, times in meter.products.items())
    if meter.unnamed or len(products) > MAX_PRODUCTS:  # not products of matrices alone, or varied
        products = ()
    if counts:
        return Measured(meter.flops, elements=meter.elements, products=products)
    largest, course = meter.memory_course()
    return Measured(meter.peak, largest, course=course)


def _saved(
    program: LoadedModule, steps: Sequence[WireStep], names: Namespace, without: Sequence[str]
) -> Measured:
    given = {name: value for name, value in names.items() if isinstance(value, TorchTensor)}
    ignored = {storage_key(given[name]) for name in without if name in given}
    # Of an input its own values count, not what lies between them in memory.
    lent = {storage_key(t): t.numel() * t.element_size() for t in given.values()}
    found: dict[int, tuple[int, str]] = {}
    kept: list[TorchTensor] = []  # a freed storage's identity must not be met again

    def pack(tensor: TorchTensor) -> TorchTensor:
        kept.append(tensor.detach())
        key = storage_key(tensor)
        if key not in ignored:
            size, words = storage_size(tensor)
            found.setdefault(key, (min(size, lent.get(key, size)), words))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        stepping.perform_steps(program, steps, names)
    return _measured(list(found.values()), keeping.describe_kept(kept, names))


def _live(program: LoadedModule, steps: Sequence[WireStep], names: Namespace) -> Measured:
    """Bytes made by the forward steps and alive after them, torch and numpy, less the results."""
    gc.freeze()  # so that the collection below looks at this run's objects only
    given = set(names)
    tracemalloc.start()
    try:
        with Meter() as meter:
            stepping.perform_steps(program, steps, names)
        for tensor in tensors_in([value for name, value in names.items() if name not in given]):
            meter.forget_storage(storage_key(tensor))  # the caller's results
        gc.collect()
        outside = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # The interpreter's own objects for a graph are a few kilobytes; arrays hidden in numpy are not.
    hidden = outside if outside > OWN_OBJECTS else 0
    alive = [(size, words) for _, size, words, _ in meter.alive.values()]
    return _measured(alive, keeping.describe_kept(meter.live_storages(), names), hidden)


def _measured(found: list[tuple[int, str]], kept: tuple[str, ...], hidden: int = 0) -> Measured:
    """What is kept in storages of so many bytes, the largest in words, and beside them."""
    largest = tuple((words, size) for size, words in sorted(found, reverse=True)[:8])
    return Measured(sum(size for size, _ in found) + hidden, largest, kept=kept)


def _cuda_peak(program: LoadedModule, steps: Sequence[WireStep], names: Namespace) -> int:
    """Peak of `torch.cuda.max_memory_allocated` over what was allocated before the run."""
    device = torch.device("cuda")
    moved = {
        name: value.detach().to(device).requires_grad_(value.requires_grad)
        if isinstance(value, TorchTensor)
        else value
        for name, value in names.items()
    }
    # Workspaces of the matmul library, one a thread, and so of backward's too, are not the run's.
    stepping.perform_steps(program, steps, dict(moved))
    torch.cuda.synchronize()
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    stepping.perform_steps(program, steps, dict(moved))
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


def graph_origin(value: object, module: str) -> str:
    """Say which node made a tensor, looking through views of it.

    Returns:
        `own` when it is an `autograd.Function` that the submission defines; else the node's name,
        or `none` when there is no graph, or the type's name when it is not a tensor.
    """
    if not isinstance(value, TorchTensor):
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


def tensors_in(value: object) -> list[TorchTensor]:
    """Every tensor in a value, however nested."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, TorchTensor)]


def storage_key(tensor: TorchTensor) -> int:
    """What is the same for all tensors on the same memory, while that lives."""
    return int(tensor.untyped_storage()._cdata)


def storage_size(tensor: TorchTensor) -> tuple[int, str]:
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
        self.unnamed = False  # whether something else was multiplied: a convolution, attention
        # By storage: what tells whether it lives, its bytes, these in words, its dtype.
        self.alive: dict[int, tuple[GraphValue, int, str, torch.dtype]] = {}
        self.count_flops = count_flops
        self.events: list[tuple[str, int]] = []  # storages in words, bytes; below 0: freed

    def __torch_dispatch__(
        self, func: GraphValue, types: GraphValue, args: GraphValue = (), kwargs: GraphValue = None
    ) -> GraphValue:
        kwargs = kwargs or {}
        known = {storage_key(t) for t in tensors_in((args, kwargs))}
        out = func(*args, **kwargs)
        made = [t for t in tensors_in(out) if storage_key(t) not in known]
        for tensor in made:
            if storage_key(tensor) not in self.alive:
                self._see(tensor)
        flops = self._matmul_flops(func, args, kwargs, out) if self.count_flops else 0
        self.flops += flops
        self.elements += 0 if flops else sum(t.numel() for t in made)
        return out

    def _matmul_flops(
        self, func: GraphValue, args: GraphValue, kwargs: GraphValue, out: GraphValue
    ) -> int:
        """FLOPs of one operation, two a multiply-add; 0 for everything element-wise."""
        from torch.utils.flop_counter import flop_registry

        name = func._overloadpacket.__name__
        if name in _FACTORS:
            a, b = args[_FACTORS[name] : _FACTORS[name] + 2]
            batch = int(a.shape[0]) if a.dim() == 3 else 1
            rows = int(a.shape[-2]) if a.dim() > 1 else 1
            sizes = batch, rows, int(a.shape[-1]), int(b.shape[-1]) if b.dim() > 1 else 1
            if name.startswith("addr"):
                sizes = 1, int(a.shape[0]), 1, int(b.shape[0])
            self.products[sizes] += 1
            return 2 * math.prod(sizes)
        name = _FUSED if name.startswith(_FUSED) else name
        count = flop_registry.get(getattr(torch.ops.aten, name, None))
        flops = int(count(*args, **kwargs, out_val=out)) if count is not None else 0
        self.unnamed |= flops > 0
        return flops

    def _see(self, tensor: TorchTensor) -> None:
        storage, key = tensor.untyped_storage(), storage_key(tensor)
        size, words = storage_size(tensor)
        alive = weakref.ref(storage, lambda _: self.forget_storage(key))
        self.alive[key] = alive, size, words, tensor.dtype
        self.live += size
        self.peak = max(self.peak, self.live)
        self.events.append((words, size))

    def forget_storage(self, key: int) -> None:
        """Count a storage no more."""
        if entry := self.alive.pop(key, None):
            self.live -= entry[1]
            self.events.append((entry[2], -entry[1]))

    def memory_course(self) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...]]:
        """The largest of what is alive at the peak, and the bytes alive at `MAX_COURSE_POINTS` times."""
        totals, held = [*accumulate(size for _, size in self.events)], Counter[str]()
        for words, size in self.events[: totals.index(self.peak) + 1] if totals else ():
            held[words] += size
        each = -(-len(totals) // MAX_COURSE_POINTS) or 1
        highest = (max(totals[at : at + each]) for at in range(0, len(totals), each))
        return tuple((+held).most_common(8)), tuple(highest)

    def live_storages(self) -> list[TorchTensor]:
        """What is alive, as flat tensors."""
        found = [(alive(), dtype) for alive, _, _, dtype in self.alive.values()]
        return [torch.empty(0, dtype=dtype).set_(s) for s, dtype in found if s is not None]
