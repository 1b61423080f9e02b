"""Whether what measures here is still what it was before a program came.

A program shares this process and can put other functions in place of ours.  What it replaced is
evidence against its figures; that nothing was found proves nothing, because whoever can replace a
meter can replace this too.  The judge's own witnesses are outside.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

# What our meters use of others.
_USED = {
    "gc": ("collect", "freeze", "get_referents"),
    "tracemalloc": ("start", "stop", "get_traced_memory"),
    "time": ("process_time_ns",),
    "weakref": ("ref",),
    "numpy": ("array", "asarray", "ndarray", "may_share_memory"),
    "torch": ("Tensor", "ones", "empty"),
    "torch.autograd": ("grad", "Function"),
    "torch.autograd.graph": ("saved_tensors_hooks",),
    "torch.utils._pytree": ("tree_leaves", "tree_flatten"),
    "torch.utils._python_dispatch": ("TorchDispatchMode",),
    "torch.utils.flop_counter": ("flop_registry",),
}
_MEMBERS = {
    "torch.Tensor": ("untyped_storage", "numel", "__torch_dispatch__", "__torch_function__"),
    "torch.autograd.graph.saved_tensors_hooks": ("__init__", "__enter__", "__exit__"),
    "torch.utils._python_dispatch.TorchDispatchMode": ("__enter__", "__exit__"),
}
_ABSENT = object()

Parts = dict[str, tuple[object, ...]]


def _ours() -> Iterator[tuple[str, types.ModuleType]]:
    for name, module in list(sys.modules.items()):
        if name == __package__ or name.startswith(f"{__package__}."):
            yield name, module


def _code(value: Any) -> tuple[object, ...]:  # noqa: ANN401 anything that a module holds
    """What makes a thing what it is: itself, and the code and defaults of a function."""
    if isinstance(value, types.FunctionType):
        return (value, value.__code__, value.__defaults__, value.__kwdefaults__)
    return (value,)


def _members(name: str, kind: type, only: tuple[str, ...] | None = None) -> Iterator[Any]:
    for member in only if only is not None else tuple(vars(kind)):
        if only is None and member.startswith("__") and not callable(vars(kind)[member]):
            continue
        found = vars(kind).get(member, _ABSENT)
        yield f"{name}.{member}", _code(getattr(found, "__func__", found))


def _parts() -> Parts:
    """By dotted name, everything that the meters are made of."""
    parts: Parts = {}
    for name, module in _ours():
        parts[name] = (module,)
        for word, value in list(vars(module).items()):
            if word.startswith("__"):
                continue
            parts[f"{name}.{word}"] = _code(value)
            if isinstance(value, type) and value.__module__ == name:
                parts.update(_members(f"{name}.{word}", value))
    for name, words in _USED.items():
        holder = sys.modules.get(name)
        if holder is None:
            continue
        for word in words:
            dotted = f"{name}.{word}"
            value = vars(holder).get(word, _ABSENT)
            parts[dotted] = _code(value)
            if isinstance(value, type) and dotted in _MEMBERS:
                parts.update(_members(dotted, value, _MEMBERS[dotted]))
    return parts


def _same(a: tuple[object, ...], b: tuple[object, ...] | None) -> bool:
    return b is not None and len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def close() -> Callable[[], list[str]]:
    """Remember what is there; return a function that says what has been replaced since."""
    before, look, same = _parts(), _parts, _same

    def replaced() -> list[str]:
        now = look()
        names = {name for name, what in before.items() if not same(what, now.get(name))}
        return sorted(name for name in names if name.rpartition(".")[0] not in names)

    return replaced
