"""What is kept, by name: which input or result of a run an array or a tensor is, or has copied.

How many bytes are kept says little about what they are: two things may be of one size.  So the
values are compared.  A name is given where the memory is the same, or where every entry is; where
that could be chance, because there are few different entries, there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from .. import values
from ..protocol import MOST_KEPT
from ..wire import Array, Tensor

ENOUGH = 4  # different entries, with which two things are equal for a reason
_LOOK = 4096  # entries among which they are looked for
_FLOATS = {"float16", "bfloat16", "float32", "float64"}

Plain = tuple[Array, str] | None


def names(kept: Iterable[object], run: Mapping[str, object]) -> tuple[str, ...]:
    """Say what things are, the largest first, one for each allocation.

    Args:
        kept: arrays and tensors, of any shape; whatever else there is is left out.
        run: the inputs and results of a run by name; only arrays and tensors can be recognized.

    Returns:
        `x` for what lies in the memory of x; `x (copy)` for what has as many entries as x and the
        same ones in the same order, in any shape, after a cast or transposed; `x or y (copy)` for
        what is a copy of either; else `other (4x5 float32)`,
        or `other (view of 4x5 float32)` for what keeps a larger array alive.
    """
    known = {name: bare for name, value in run.items() if (bare := _bare(value)) is not None}
    apart: dict[int, Any] = {}
    bares = [bare for one in kept if (bare := _bare(one)) is not None]
    for one in sorted(bares, key=_bytes, reverse=True):
        apart.setdefault(_allocation(one), one)
    flat: dict[str, Plain] = {}
    return tuple(_name(one, known, flat) for one in list(apart.values())[:MOST_KEPT])


def _bare(value: object) -> Any:  # noqa: ANN401 an array or a tensor
    """An array or a tensor, without its class's say; None where it is neither."""
    if issubclass(type(value), np.ndarray):
        return np.ndarray.view(cast(Array, value), np.ndarray)
    torch = sys.modules.get("torch")
    return value if torch is not None and issubclass(type(value), torch.Tensor) else None


def _bytes(value: Any) -> int:  # noqa: ANN401 an array or a tensor
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return int(value.numel() * value.element_size())


def _allocation(value: Any) -> int:  # noqa: ANN401 an array or a tensor
    """What is the same for all that lies in the same allocation."""
    if not isinstance(value, np.ndarray):
        return int(value.untyped_storage()._cdata)
    value = _base(value)
    return id(value.base if value.base is not None else value)


def _base(value: Any) -> Any:  # noqa: ANN401 an array or a tensor
    """The array that a view keeps alive; of torch itself."""
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return value


def _name(one: Any, known: Mapping[str, Any], flat: dict[str, Plain]) -> str:  # noqa: ANN401 an array or a tensor
    for name, value in known.items():
        if values.share_memory(one, value):
            return name
    mine = _plain(one)
    if mine is not None:
        for name in known.keys() - flat.keys():
            flat[name] = _plain(known[name])
        copied = [name for name in known if _equal(mine, flat[name])]
        if copied:
            return f"{' or '.join(copied)} (copy)"
    whole, of = _base(one), ""
    if _bytes(whole) > _bytes(one):
        one, of = whole, "view of "
    shape = "x".join(map(str, one.shape)) or "one"
    dtype = str(one.dtype).removeprefix("torch.")
    return f"other ({of}{shape} {dtype})"


def _plain(value: Any) -> Plain:  # noqa: ANN401 an array or a tensor
    try:
        plain = values.snapshot(value)
    except (TypeError, RuntimeError):  # a dtype of torch's that numpy does not have
        return None
    if isinstance(plain, Tensor):
        return plain.values, plain.dtype
    return (plain, plain.dtype.name) if type(plain) is np.ndarray else None


def _equal(mine: tuple[Array, str], other: Plain) -> bool:
    """Whether one holds the entries of the other, cast to either's dtype."""
    if other is None or mine[0].size != other[0].size or not _comparable(mine[1], other[1]):
        return False
    for dtype in {mine[1], other[1]}:
        a, b = _cast(mine[0], dtype), _cast(other[0], dtype)
        for turned in (b, b.T):
            if _entries(a, turned) and len(np.unique(a.reshape(-1)[:_LOOK])) >= ENOUGH:
                return True
    return False


def _comparable(a: str, b: str) -> bool:
    """Not a mask and numbers, or numbers and indices: these are not casts of each other."""
    return a == b or {a, b} <= _FLOATS or ("int" in a and "int" in b)


def _cast(array: Array, dtype: str) -> Array:
    if dtype == "bfloat16":  # nobody but torch has it, and so it is there
        torch = sys.modules["torch"]
        rounded = torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
        widened: Array = rounded.float().numpy()
        return widened
    return array.astype(dtype, copy=False)


def _entries(a: Array, b: Array) -> bool:
    return np.array_equal(a.reshape(-1), b.reshape(-1), equal_nan=a.dtype.kind in "fc")
