"""Copy results into plain data, compare them, and tell which share memory."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from .limits import MAX_VALUE_DEPTH
from .wire import Array, Opaque, Tensor, type_name

MAX_ARGUMENTS = 8  # arguments of a call that are described


def is_tensor(value: object) -> bool:
    """Return True for a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.Tensor)


def dtype_name(value: Any) -> str:  # noqa: ANN401 an array or a tensor
    """Return the name of the dtype of an array or tensor, such as `float32` for both."""
    return str(value.dtype).removeprefix("torch.")


def snapshot(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 any value
    """Copy a result into plain data, which later changes of the result do not affect.

    Anything but None, arrays, tensors, numbers, texts, and lists, tuples and dicts of them becomes
    `Opaque`.
    """
    if isinstance(value, np.ndarray):
        return _array_snapshot(value)
    if is_tensor(value):
        return _tensor_snapshot(value)
    if type(value) in {types.NoneType, bool, int, float, str} or isinstance(value, np.generic):
        return value
    if depth < MAX_VALUE_DEPTH:
        if isinstance(value, (list, tuple)):
            items = [snapshot(item, depth + 1) for item in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {str(key): snapshot(item, depth + 1) for key, item in value.items()}
    # For subclasses such as IntEnum, call the method of the base class.
    if issubclass(type(value), int):
        return int.__pos__(value)
    if issubclass(type(value), float):
        return float.__pos__(value)
    if issubclass(type(value), str):
        return str.__str__(value)
    return Opaque(type_name(value))


def _array_snapshot(value: Any) -> Array | Opaque | None:  # noqa: ANN401 an array of any class
    masked = sys.modules.get("numpy.ma")  # numpy imports it on first use
    if masked is not None and issubclass(type(value), masked.MaskedArray):
        return Opaque("numpy.ma.MaskedArray")  # its data may hold masked numbers
    if issubclass(type(value), np.matrix):
        return Opaque("numpy.matrix")  # `*` means another product
    # The method of the base class, because a subclass may replace it.
    array: Array = np.ndarray.view(value, np.ndarray)
    if array.dtype == object and array.size and all(entry is None for entry in array.flat):
        return None  # an array of None
    return np.array(array, copy=True, subok=False)


def _tensor_snapshot(value: Any) -> Tensor | Opaque:  # noqa: ANN401 a torch.Tensor
    import torch

    if value.layout != torch.strided or value.device.type == "meta":
        return Opaque(f"torch.Tensor ({value.layout}, {value.device.type})")
    plain = value.detach().to("cpu").contiguous()
    if plain.dtype == torch.bfloat16:
        plain = plain.float()
    else:
        plain = plain.resolve_conj().resolve_neg()
    return Tensor(plain.numpy().copy(), dtype_name(value))


def describe_arguments(frame: types.FrameType) -> str:
    """Describe the arguments of a call, as "x (2, 3) float64, targets: list of 2 arrays (1,)".

    Arguments that the function assigns are left out, because their values may have changed.
    """
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    assigned = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname == "STORE_FAST"
    }
    unchanged = [name for name in names if name not in assigned and name in frame.f_locals]
    descriptions = [_describe(name, frame.f_locals[name]) for name in unchanged[:MAX_ARGUMENTS]]
    return ", ".join(descriptions)


def _describe(name: str, value: object) -> str:
    if type(value) in {bool, int, float} or value is None:
        return f"{name} {value}"
    if type(value) in {list, tuple}:
        items = list(value)  # type: ignore[call-overload]
        text = f"{name}: {type(value).__name__} of {len(items)}"
        kinds = {_kind(item) for item in items}
        if len(kinds) != 1:
            return text
        kind = kinds.pop()
        if kind.startswith("("):
            kind = f"arrays {kind}"
        return f"{text} {kind}".rstrip()
    return f"{name} {_kind(value)}"


def _kind(value: Any) -> str:  # noqa: ANN401 any argument
    """Return the shape and dtype of an array or tensor; else "callable", or the type's name."""
    if type(value) is np.ndarray or type(value) is getattr(sys.modules.get("torch"), "Tensor", 0):
        return f"{tuple(value.shape)} {dtype_name(value)}"
    return "callable" if callable(value) else type_name(value).rpartition(".")[2]


def same_bits(a: object, b: object) -> bool:
    """Return True if two snapshots are equal: arrays bit by bit, other values by type and `==`.

    Two NaN are equal.
    """
    match a, b:
        case Tensor(), Tensor():
            return a.dtype == b.dtype and same_bits(a.values, b.values)
        case np.ndarray(), np.ndarray():
            is_same_kind = a.shape == b.shape and a.dtype == b.dtype
            return is_same_kind and a.tobytes() == b.tobytes()
        case ((list() | tuple()), (list() | tuple())):
            return len(a) == len(b) and all(map(same_bits, a, b))
        case dict(), dict():
            return a.keys() == b.keys() and all(same_bits(a[key], b[key]) for key in a)
    if type(a) is not type(b):
        return False
    if a != a:  # NaN, numpy's scalars included
        return bool(b != b)
    return bool(a == b)


def fingerprint(value: Any) -> object:  # noqa: ANN401 an input
    """Return a value that is different after a call if the call has changed the input.

    It has the shape, dtype, strides and content of an array or tensor, and the repr of other
    inputs.
    """
    if isinstance(value, np.ndarray):
        return (value.shape, value.strides, value.dtype.str, value.flags.writeable, value.tobytes())
    if is_tensor(value):
        plain = snapshot(value)
        content = plain.values.tobytes() if isinstance(plain, Tensor) else b""
        return (value.shape, value.stride(), value.dtype, value.requires_grad, content)
    return repr(value)


def mutable_parts(value: object, depth: int = 0) -> Iterator[Any]:
    """Yield every array, tensor, list and dict in a result, itself included."""
    if isinstance(value, np.ndarray) or is_tensor(value):
        yield value
    elif depth < MAX_VALUE_DEPTH and isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from mutable_parts(item, depth + 1)


def share_memory(a: object, b: object) -> bool:
    """Return True if changing one result or input could change the other."""
    return any(_overlap(x, y) for x in mutable_parts(a) for y in mutable_parts(b))


def _overlap(a: Any, b: Any) -> bool:  # noqa: ANN401 arrays, tensors, lists or dicts
    if a is b:
        return not isinstance(a, np.ndarray) or a.size > 0
    a_memory = _memory(a)
    b_memory = _memory(b)
    if a_memory is None or b_memory is None:
        return False
    # Bounds of two allocations never overlap, so overlapping bounds mean a common allocation.
    return bool(np.may_share_memory(a_memory, b_memory))


def _memory(value: Any) -> Any:  # noqa: ANN401 arrays, tensors, lists or dicts
    if isinstance(value, np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    if is_tensor(value):
        import torch

        if value.device.type == "cpu" and value.layout == torch.strided:
            return torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage()).numpy()
    return None
