"""Results as plain data, and questions about whose memory they are."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from .limits import MAX_VALUE_DEPTH
from .wire import Array, Opaque, Tensor, type_name

MAX_ARGUMENTS = 8  # of a call, that are described


def is_tensor(value: object) -> bool:
    """Whether a value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def snapshot(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 any value
    """Copy a result into plain data: later changes to it do not show."""
    if isinstance(value, np.ndarray):
        masked = sys.modules.get("numpy.ma")  # numpy imports it when it is first used
        if masked is not None and issubclass(type(value), masked.MaskedArray):
            return Opaque("numpy.ma.MaskedArray")  # numbers that say they are none
        if issubclass(type(value), np.matrix):
            return Opaque("numpy.matrix")  # what its caller multiplies becomes another product
        # `view` on the class itself: a subclass cannot have its say.
        array: Array = np.ndarray.view(value, np.ndarray)
        if array.dtype == object and array.size and all(entry is None for entry in array.flat):
            return None  # what becomes of None in an array
        return np.array(array, copy=True, subok=False)
    if is_tensor(value):
        return _tensor(value)
    if value is None or type(value) in {bool, int, float, str} or isinstance(value, np.generic):
        return value
    if depth < MAX_VALUE_DEPTH:
        if isinstance(value, (list, tuple)):
            items = [snapshot(v, depth + 1) for v in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, dict) and all(isinstance(k, str) for k in value):
            return {str(k): snapshot(v, depth + 1) for k, v in value.items()}
    # Subclasses: an IntEnum, a float with a name; they have no say themselves.
    for kind, plain in ((int, int.__pos__), (float, float.__pos__), (str, str.__str__)):
        if issubclass(type(value), kind):
            return plain(value)
    return Opaque(type_name(value))


def describe_arguments(frame: types.FrameType) -> str:
    """Describe the arguments of a call, as "x (2, 3) float64, targets: list of 2 arrays (1,)".

    An argument that the function assigns anew is left out: it may be another value by then.
    """
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    assigned = {one.argval for one in dis.get_instructions(code) if one.opname == "STORE_FAST"}
    shown = [name for name in names if name not in assigned and name in frame.f_locals]
    return ", ".join(_in_words(name, frame.f_locals[name]) for name in shown[:MAX_ARGUMENTS])


def _in_words(name: str, value: object) -> str:
    if type(value) in {bool, int, float} or value is None:
        return f"{name} {value}"
    if type(value) in {list, tuple}:
        items = list(value)  # type: ignore[call-overload]
        kind, *others = dict.fromkeys(map(_kind, items)) or [""]
        if kind.startswith("("):
            kind = f"arrays {kind}"
        return f"{name}: {type(value).__name__} of {len(items)} {'' if others else kind}".rstrip()
    return f"{name} {_kind(value)}"


def _kind(value: object) -> str:
    """Return the shape and dtype of an array or tensor, else the type without its module."""
    if type(value) is np.ndarray or type(value) is getattr(sys.modules.get("torch"), "Tensor", 0):
        dtype = str(value.dtype).removeprefix("torch.")  # type: ignore[attr-defined]
        return f"{tuple(value.shape)} {dtype}"  # type: ignore[attr-defined]
    return "callable" if callable(value) else type_name(value).rpartition(".")[2]


def _tensor(value: Any) -> Tensor | Opaque:  # noqa: ANN401 a torch.Tensor
    import torch

    name = str(value.dtype).removeprefix("torch.")
    if value.layout != torch.strided or value.device.type == "meta":
        return Opaque(f"torch.Tensor ({value.layout}, {value.device.type})")
    plain = value.detach().to("cpu").contiguous()
    wide = plain.float() if plain.dtype == torch.bfloat16 else plain.resolve_conj().resolve_neg()
    return Tensor(wide.numpy().copy(), name)


def same_bits(a: object, b: object) -> bool:
    """Whether two snapshots hold the same bits."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.dtype == b.dtype and same_bits(a.values, b.values)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same_bits(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_bits(a[k], b[k]) for k in a)
    if isinstance(a, (float, np.inexact)) and isinstance(b, (float, np.inexact)) and a != a:
        return type(a) is type(b) and bool(b != b)  # NaN, numpy's scalars included
    return type(a) is type(b) and bool(a == b)


def fingerprint(value: Any) -> object:  # noqa: ANN401 an input
    """What must stay as it is while an input is lent: shape, dtype, strides and content."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.strides, value.dtype.str, value.flags.writeable, value.tobytes())
    if is_tensor(value):
        plain = snapshot(value)
        content = plain.values.tobytes() if isinstance(plain, Tensor) else b""
        return (value.shape, value.stride(), value.dtype, value.requires_grad, content)
    return repr(value)


def mutable_parts(value: object, depth: int = 0) -> Iterator[Any]:
    """Every mutable thing in a result: its arrays and tensors, and its lists and dicts."""
    if isinstance(value, np.ndarray) or is_tensor(value):
        yield value
    elif depth < MAX_VALUE_DEPTH and isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from mutable_parts(item, depth + 1)


def share_memory(a: object, b: object) -> bool:
    """Whether changing one result or input could change the other."""
    return any(_overlap(x, y) for x in mutable_parts(a) for y in mutable_parts(b))


def _overlap(a: Any, b: Any) -> bool:  # noqa: ANN401 arrays, tensors, lists or dicts
    if a is b:
        return not isinstance(a, np.ndarray) or a.size > 0
    a, b = _memory(a), _memory(b)
    if a is None or b is None or not a.size or not b.size:
        return False
    # Two allocations never overlap in their bounds, so bounds that overlap mean one allocation.
    return bool(np.may_share_memory(a, b))


def _memory(value: Any) -> Array | None:  # noqa: ANN401 arrays, tensors, lists or dicts
    if isinstance(value, np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    if is_tensor(value):
        import torch

        if value.device.type == "cpu" and value.layout == torch.strided:
            storage = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
            whole: Array = storage.numpy()
            return whole
    return None


def allocated_bytes(value: object) -> int:
    """Bytes of the allocations behind a result's arrays, each counted once."""
    roots: dict[int, int] = {}
    for part in mutable_parts(value):
        if isinstance(part, np.ndarray):
            root = part
            while isinstance(root.base, np.ndarray):
                root = root.base
            roots[id(root)] = root.nbytes
    return sum(roots.values())
