"""Whether two programs computed the same: for telling ideas apart, not for judging them."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bench.results import array_of, dtype_of, real_parts
from grader.sandbox.worker.wire import Opaque, Tensor

# Relative to the largest entry: two ways of writing one idea differ by less, two ideas by more.
LOOSE = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 5e-2, "float16": 5e-2}


def same_value(
    a: Any,  # noqa: ANN401 any result
    b: Any,  # noqa: ANN401 any result
    dtype: str = "float64",
    *,
    exact: bool = False,
) -> bool:
    """Whether two results are the same, up to what two ways of computing them differ by.

    Args:
        a: a result.
        b: another.
        dtype: of the case, for scalars, which have none of their own.
        exact: to the last bit, zeros of either sign being the same.
    """
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[k], b[k], dtype, exact=exact) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(
            same_value(x, y, dtype, exact=exact) for x, y in zip(a, b, strict=True)
        )
    if (
        isinstance(a, Opaque)
        or isinstance(b, Opaque)
        or a is None
        or b is None
        or isinstance(a, str)
    ):
        return type(a) is type(b) and bool(a == b)
    if any(isinstance(v, (dict, list, tuple, str)) for v in (a, b)):
        return False
    x, y = array_of(a), array_of(b)
    if x.shape != y.shape or (isinstance(a, (np.ndarray, Tensor)) and dtype_of(a) != dtype_of(b)):
        return False
    if x.dtype.kind not in "fc" and y.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    arrays = isinstance(a, (np.ndarray, Tensor)) and x.ndim
    loose = 0.0 if exact else LOOSE.get(dtype_of(a) if arrays else dtype, LOOSE["float64"])
    if "c" in x.dtype.kind + y.dtype.kind:
        x, y = (real_parts(np.asarray(v, np.complex128)) for v in (x, y))
    x, y = x.astype(np.float64), y.astype(np.float64)
    finite = np.isfinite(x) & np.isfinite(y)
    if not bool(np.array_equal(x[~finite], y[~finite], equal_nan=True)):
        return False
    scale = float(np.abs(y[finite]).max(initial=0.0))
    return float(np.abs(x[finite] - y[finite]).max(initial=0.0)) <= loose * scale
