"""Whether what measures here is still what it was before a program came.

A program shares this process and can put other functions in place of ours.  What it replaced is
evidence against its figures; that nothing was found proves nothing, because code that can replace a
meter can replace this too.  What the judge measures itself is outside.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# What our meters use of others: members of modules, and of classes in them.
_USED = {
    "gc": "collect freeze get_referents",
    "tracemalloc": "start stop get_traced_memory",
    "time": "process_time_ns",
    "weakref": "ref",
    "numpy": "array asarray ndarray may_share_memory",
    "torch": "Tensor ones empty",
    "torch.Tensor": "untyped_storage numel __torch_dispatch__ __torch_function__",
    "torch.autograd": "grad Function",
    "torch.autograd.graph": "saved_tensors_hooks _engine_run_backward",
    "torch.autograd.graph.saved_tensors_hooks": "__init__ __enter__ __exit__",
    "torch.utils._pytree": "tree_leaves tree_flatten",
    "torch.utils._python_dispatch": "TorchDispatchMode",
    "torch.utils._python_dispatch.TorchDispatchMode": "__enter__ __exit__",
    "torch.utils.flop_counter": "flop_registry",
}

Part = tuple[object, ...]

_own: dict[str, types.ModuleType] = {}  # our modules, once programs cannot find them any more


def _part(holder: Any, name: str) -> Part:  # noqa: ANN401 a module or a class
    """What makes a thing what it is: itself, and the code and defaults of a function."""
    value = vars(holder).get(name)
    value = getattr(value, "__func__", value)
    if isinstance(value, types.FunctionType):
        return (value, value.__code__, value.__defaults__, value.__kwdefaults__)
    return (value,)


def _parts() -> Iterator[tuple[str, Part]]:
    """Everything that the meters are made of, with its dotted name."""
    for name, module in _own.items():
        yield from _members(name, module, (w for w in vars(module) if not w.startswith("__")))
    for name in _USED.keys() & sys.modules.keys():
        yield from _members(name, sys.modules[name], _USED[name].split())


def _members(dotted: str, holder: Any, names: Iterable[str]) -> Iterator[tuple[str, Part]]:  # noqa: ANN401
    for name in tuple(names):
        whole, value = f"{dotted}.{name}", vars(holder).get(name)
        yield whole, _part(holder, name)
        if not isinstance(value, type):
            continue
        if value.__module__ == dotted and dotted not in _USED:
            inside = vars(value).items()
            own = (n for n, v in inside if callable(v) or not n.startswith("__"))
            yield from _members(whole, value, own)
        elif whole in _USED:
            yield from _members(whole, value, _USED[whole].split())


def _same(a: Part, b: Part | None) -> bool:
    return b is not None and len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def take_away() -> list[types.ModuleType]:
    """Take our modules from where programs find modules, and give them; import all first."""
    for name in list(sys.modules):
        if name == __package__ or name.startswith(f"{__package__}."):
            _own[name] = sys.modules.pop(name)
    return list(_own.values())


def close() -> Callable[[], list[str]]:
    """Remember what is there; return a function that says what has been replaced since."""
    look, same = _parts, _same
    before = dict(look())

    def replaced() -> list[str]:
        now = dict(look())
        names = {name for name, what in before.items() if not same(what, now.get(name))}
        return sorted(name for name in names if name.rpartition(".")[0] not in names)

    return replaced
