"""The meters of an autograd graph: what each dispatched operation makes, saves and multiplies.

All counts are exact at the granularity of one dispatched operation.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Tensor = torch.Tensor
Sizes = tuple[int, int, int, int]  # batch, rows, inner, columns: see `protocol.Product`

# Where the factors are among the arguments.
_FACTORS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), 0),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_"), 1),
}


def tensors_in(value: object) -> list[Tensor]:
    """Every tensor in a value, however nested."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def storage_key(tensor: Tensor) -> int:
    """What is the same for all tensors on the same memory, while that lives."""
    return int(tensor.untyped_storage()._cdata)


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
        """Start at zero; FLOPs are counted only when asked for."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = self.flops = 0
        self.elements = 0  # written by operations that are not matmuls
        self.products: Counter[Sizes] = Counter()
        self.alive: dict[int, tuple[Any, int, str, Any]] = {}
        self.count_flops = count_flops

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 torch's signature
        """Count what one operation makes."""
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


# In-place and fused products that torch's registry leaves out, by the out-of-place operation that
# costs the same.
_SAME_COST = {
    "addmm_": "addmm", "baddbmm_": "baddbmm", "addmv_": "addmv",
    "_scaled_dot_product_flash_attention_for_cpu": "_scaled_dot_product_flash_attention",
}  # fmt: skip


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


class Saved:
    """What a graph saves: the bytes and the form of each storage, by its identity."""

    def __init__(self, lent: Mapping[int, int], ignored: Container[int]) -> None:
        """Start with nothing; of inputs their own bytes count, and some do not at all."""
        self.lent, self.ignored = lent, ignored
        self.found: dict[int, tuple[int, str]] = {}
        self.kept: list[Tensor] = []  # a freed storage's identity must not be met again

    def pack(self, tensor: Tensor) -> Tensor:
        """Note a tensor that is saved."""
        self.kept.append(tensor.detach())
        key = storage_key(tensor)
        if key not in self.ignored:
            size, words = storage_size(tensor)
            self.found.setdefault(key, (min(size, self.lent.get(key, size)), words))
        return tensor

    def unpack(self, tensor: Tensor) -> Tensor:
        """Give it back."""
        return tensor


def storage_size(tensor: Tensor) -> tuple[int, str]:
    """The bytes of a tensor's storage, and its shape and dtype in words."""
    words = f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
    return tensor.untyped_storage().nbytes(), words
