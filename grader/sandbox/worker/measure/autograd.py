"""Measure an autograd graph: bytes saved, alive and at the peak, matmul FLOPs, origin of a tensor.

The counts are exact for each dispatched operation, and are equal in every run and on every machine.
Scratch memory inside a kernel is not counted.  Only a peak on a CUDA device is read from torch's
allocator instead.
"""

from __future__ import annotations

import gc
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
from .. import values
from ..limits import MAX_COURSE_POINTS, MAX_PRODUCTS
from ..protocol import MatmulCount, Measure, Measured, WireStep
from ..steps import LoadedProgram, Namespace, StepFault
from ..wire import type_name
from .kept_memory import describe_kept

TorchTensor = torch.Tensor
GraphValue = Any  # an object of torch, or an argument of an operation

MAX_DETAILS = 8  # allocations that a reply lists
UNCOUNTED_GRAPH_BYTES = 256 << 10  # bytes of Python objects of a graph, which are not counted

# Index of the first factor among the arguments of a matmul.
_FIRST_FACTOR = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), 0),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_"), 1),
    **dict.fromkeys(("addr", "addr_"), 1),
}
_FUSED = "_scaled_dot_product_flash_attention"  # as torch's registry knows it
# Words in the names of nodes that only copy a tensor or change its shape.
_VIEWS = (
    "View", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Permute", "TBackward", "Alias",
    "Expand", "Clone", "ToCopy", "Slice", "Select",
)  # fmt: skip


def vjp(name: str, y: object, cotangent: TorchTensor | None = None, *inputs: TorchTensor) -> Any:  # noqa: ANN401 a tuple or one result
    """Return the gradients of <y, cotangent> with respect to the inputs; None for unused ones.

    The gradient of a single input is returned without a tuple.  Without a cotangent, y must be a
    scalar.  The graph is kept, so a second call is a second backward.

    Raises:
        StepFault: `y` is not an ordinary tensor, its shape is not that of the cotangent, or it has
            no graph.  The message calls it by `name`, as the question does.
    """
    if not isinstance(y, TorchTensor):
        actual = "None" if y is None else f"a {type_name(y)}"
        raise StepFault(f"{name} is {actual}, expected a tensor")
    if y.layout != torch.strided or y.device.type == "meta":
        raise StepFault(f"{name} is a tensor without ordinary memory ({y.layout}, {y.device.type})")
    if cotangent is not None and y.shape != cotangent.shape:
        raise StepFault(f"{name} has shape {tuple(y.shape)}, expected {tuple(cotangent.shape)}")
    leaves = [x for x in inputs if x.requires_grad]
    if not leaves:
        return tuple(None for _ in inputs)
    if not y.requires_grad:
        raise StepFault(f"{name} has no graph: nothing can flow back through it")
    if cotangent is None:
        computed = iter(torch.autograd.grad(y, leaves, retain_graph=True, allow_unused=True))
    else:  # `grad` does the same, but imports sympy to compare shapes, which takes 0.2 s
        run_backward = torch.autograd.graph._engine_run_backward
        computed = iter(run_backward((y,), (cotangent,), True, False, tuple(leaves), True, False))
    grads = tuple(next(computed) if x.requires_grad else None for x in inputs)
    return grads if len(grads) != 1 else grads[0]


stepping.differentiate[:] = [vjp]


def measure_graph(program: LoadedProgram, request: Measure) -> Measured:
    """Measure one quantity of a run, in bytes or FLOPs, or the origin of a result as a text.

    The quantity is `saved`, `live`, `peak`, `flops`, `graph` or `cuda-peak`.  For `saved`, `live`
    and `graph`, backward steps are left out.  `graph` is the origin of the result `of`; storages of
    the inputs `without` do not count as saved.
    """
    forward = [step for step in request.steps if step.owner != "torch"]
    names = stepping.build_inputs(request.inputs)
    match request.quantity:
        case "saved":
            return _measure_saved(program, forward, names, request.without)
        case "live":
            return _measure_live(program, forward, names)
        case "graph":
            stepping.perform_steps(program, forward, names)
            return Measured(graph_origin(names[request.of], program.module.__name__))
        case "cuda-peak":
            return Measured(_cuda_peak(program, request.steps, names))
        case "flops":
            return _measure_flops(program, request.steps, names)
    gc.freeze()
    meter = Meter()
    with meter:
        stepping.perform_steps(program, request.steps, names)
    largest, course = meter.memory_course()
    return Measured(meter.peak, largest, course=course)


def _measure_flops(program: LoadedProgram, steps: Sequence[WireStep], names: Namespace) -> Measured:
    meter = Meter(count_flops=True)
    gc.freeze()
    with meter:
        stepping.perform_steps(program, steps, names)
    products = tuple(MatmulCount(*sizes, times) for sizes, times in meter.products.items())
    if meter.has_other_flops or len(products) > MAX_PRODUCTS:
        products = ()
    return Measured(meter.flops, elements=meter.elements, products=products)


def _measure_saved(
    program: LoadedProgram, steps: Sequence[WireStep], names: Namespace, without: Sequence[str]
) -> Measured:
    inputs = {name: value for name, value in names.items() if isinstance(value, TorchTensor)}
    ignored = {storage_key(inputs[name]) for name in without if name in inputs}
    # The gaps between the elements of a strided input do not count.
    input_bytes = {storage_key(x): x.nbytes for x in inputs.values()}
    storages: dict[int, tuple[int, str]] = {}
    saved: list[TorchTensor] = []  # otherwise a new storage could get the key of a freed one

    def pack(tensor: TorchTensor) -> TorchTensor:
        saved.append(tensor.detach())
        key = storage_key(tensor)
        if key not in ignored:
            size, text = storage_size(tensor)
            storages.setdefault(key, (min(size, input_bytes.get(key, size)), text))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        stepping.perform_steps(program, steps, names)
    return _measured(list(storages.values()), describe_kept(saved, names))


def _measure_live(program: LoadedProgram, steps: Sequence[WireStep], names: Namespace) -> Measured:
    """Measure bytes that the forward steps leave alive in torch and numpy, without the results."""
    gc.freeze()  # the collection below then visits only objects of this run
    input_names = set(names)
    tracemalloc.start()
    try:
        with Meter() as meter:
            stepping.perform_steps(program, steps, names)
        results = [value for name, value in names.items() if name not in input_names]
        for tensor in tensors_in(results):
            meter.forget_storage(storage_key(tensor))
        gc.collect()
        outside_torch = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # Python objects of a graph take a few kilobytes.  More than that are arrays hidden in numpy.
    hidden = outside_torch if outside_torch > UNCOUNTED_GRAPH_BYTES else 0
    alive = [(size, text) for _, size, text, _ in meter.alive.values()]
    return _measured(alive, describe_kept(meter.live_storages(), names), hidden)


def _measured(storages: list[tuple[int, str]], kept: tuple[str, ...], hidden: int = 0) -> Measured:
    """Build the reply: the bytes of all storages and of hidden memory, and the largest storages."""
    largest = sorted(storages, reverse=True)[:MAX_DETAILS]
    return Measured(
        value=sum(size for size, _ in storages) + hidden,
        details=tuple((text, size) for size, text in largest),
        kept=kept,
    )


def _cuda_peak(program: LoadedProgram, steps: Sequence[WireStep], names: Namespace) -> int:
    """Return the peak of CUDA memory that a second run allocates beyond the memory before it."""
    device = torch.device("cuda")
    moved = dict(names)
    for name, value in names.items():
        if isinstance(value, TorchTensor):
            moved[name] = value.detach().to(device).requires_grad_(value.requires_grad)
    # The first run allocates workspaces of the matmul library, one for each thread.
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
    """Return which node of the graph made a tensor, ignoring views and copies of it.

    Returns:
        `own` if the node is an `autograd.Function` that the submission defines, otherwise the name
        of the node; `none` if the tensor has no graph; the name of the type if it is not a tensor.
    """
    if not isinstance(value, TorchTensor):
        return type(value).__name__
    node: Any = value.grad_fn
    while node is not None:
        forward = getattr(type(node), "_forward_cls", None)
        if forward is not None:
            return "own" if forward.__module__ == module else str(forward.__qualname__)
        name = type(node).__name__
        if not any(word in name for word in _VIEWS):
            return name
        node = node.next_functions[0][0]
    return "none"


def tensors_in(value: object) -> list[TorchTensor]:
    """Return every tensor in a nested value."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, TorchTensor)]


def storage_key(tensor: TorchTensor) -> int:
    """Return a number, equal for tensors in the same memory while that memory is allocated."""
    return int(tensor.untyped_storage()._cdata)


def storage_size(tensor: TorchTensor) -> tuple[int, str]:
    """Return the size of a tensor's storage in bytes, and the tensor as text: "(2, 3) float32"."""
    text = f"{tuple(tensor.shape)} {values.dtype_name(tensor)}"
    return tensor.untyped_storage().nbytes(), text


class Meter(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base is untyped
    """Counts matmul FLOPs, and the bytes of new storages until they are freed.

    Only weak references are held.  So a storage counts as long as anything keeps it alive (the
    graph, an attribute of ctx, a global, a closure), and counting itself keeps none alive.
    Technique: `torch/distributed/_tools/mem_tracker.py`.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: this mode is never compiled, and importing torch._dynamo takes 0.7 s."""
        return False

    def __init__(self, *, count_flops: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = 0  # bytes
        self.peak = 0  # bytes
        self.flops = 0
        self.elements = 0  # written by operations that are not matmuls
        self.products: Counter[tuple[int, int, int, int]] = Counter()
        self.has_other_flops = False  # of a convolution or attention
        # Maps the key of a storage to its weak reference, bytes, description and dtype.
        self.alive: dict[int, tuple[GraphValue, int, str, torch.dtype]] = {}
        self.count_flops = count_flops
        if count_flops:  # imported now, not during the measurement
            from torch.utils.flop_counter import flop_registry

            self.flop_registry = flop_registry
        self.events: list[tuple[str, int]] = []  # description and bytes, negative if freed

    def __torch_dispatch__(
        self, func: GraphValue, types: GraphValue, args: GraphValue = (), kwargs: GraphValue = None
    ) -> GraphValue:
        kwargs = kwargs or {}
        argument_keys = {storage_key(tensor) for tensor in tensors_in((args, kwargs))}
        out = func(*args, **kwargs)
        new_tensors = [t for t in tensors_in(out) if storage_key(t) not in argument_keys]
        for tensor in new_tensors:
            if storage_key(tensor) not in self.alive:
                self._add_storage(tensor)
        flops = self._matmul_flops(func, args, kwargs, out) if self.count_flops else 0
        if flops:
            self.flops += flops
        else:
            self.elements += sum(tensor.numel() for tensor in new_tensors)
        return out

    def _matmul_flops(
        self, func: GraphValue, args: GraphValue, kwargs: GraphValue, out: GraphValue
    ) -> int:
        """Return the FLOPs of one operation, and add it to `products` or set `has_other_flops`.

        A multiply-add counts 2.  An operation that torch's registry does not know counts 0, such as
        an element-wise one, and is not noted.
        """
        name = func._overloadpacket.__name__
        if name in _FIRST_FACTOR:
            first = _FIRST_FACTOR[name]
            sizes = _product_sizes(name, *args[first : first + 2])
            self.products[sizes] += 1
            return 2 * math.prod(sizes)
        if name.startswith(_FUSED):
            name = _FUSED
        count = self.flop_registry.get(getattr(torch.ops.aten, name, None))
        if count is None:
            return 0
        flops = int(count(*args, **kwargs, out_val=out))
        if flops > 0:
            self.has_other_flops = True
        return flops

    def _add_storage(self, tensor: TorchTensor) -> None:
        key = storage_key(tensor)
        size, text = storage_size(tensor)
        storage = weakref.ref(tensor.untyped_storage(), lambda _: self.forget_storage(key))
        self.alive[key] = (storage, size, text, tensor.dtype)
        self.live += size
        self.peak = max(self.peak, self.live)
        self.events.append((text, size))

    def forget_storage(self, key: int) -> None:
        """Stop counting a storage as alive, if it is counted."""
        if entry := self.alive.pop(key, None):
            _, size, text, _ = entry
            self.live -= size
            self.events.append((text, -size))

    def memory_course(self) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...]]:
        """Return the largest storages at the peak, and the bytes alive over the run.

        Storages of one shape and dtype are summed.  The run is cut into at most `MAX_COURSE_POINTS`
        intervals, each with its maximum.
        """
        totals = list(accumulate(size for _, size in self.events))
        if not totals:
            return (), ()
        at_peak = Counter[str]()
        for text, size in self.events[: totals.index(self.peak) + 1]:
            at_peak[text] += size
        interval = math.ceil(len(totals) / MAX_COURSE_POINTS)
        starts = range(0, len(totals), interval)
        maxima = [max(totals[start : start + interval]) for start in starts]
        largest = (+at_peak).most_common(MAX_DETAILS)
        return tuple(largest), tuple(maxima)

    def live_storages(self) -> list[TorchTensor]:
        """Return the storages that are alive, as flat tensors."""
        tensors = []
        for reference, _, _, dtype in self.alive.values():
            storage = reference()
            if storage is not None:
                tensors.append(torch.empty(0, dtype=dtype).set_(storage))
        return tensors


def _product_sizes(name: str, left: TorchTensor, right: TorchTensor) -> tuple[int, int, int, int]:
    """Return the batch size, rows, inner size and columns of a product of matrices or vectors."""
    if name.startswith("addr"):
        return 1, int(left.shape[0]), 1, int(right.shape[0])
    batch = int(left.shape[0]) if left.dim() == 3 else 1
    rows = int(left.shape[-2]) if left.dim() > 1 else 1
    columns = int(right.shape[-1]) if right.dim() > 1 else 1
    return batch, rows, int(left.shape[-1]), columns
