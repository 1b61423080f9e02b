"""How wide bands are beside right code in other styles, and beside code in float32.

    python benchmarks/bands.py [DRAWS]

Each operation is computed in float64 as a reference would, and otherwise: in long double, with sums
in another order, with a transform, by another formula.  Printed are the share of draws on which
the style is outside its band (it should be 0 for right ones), the same for the rule of one width
for the whole result, and the largest part of the band that was used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.grading.tolerance_bands import tolerance_band
from grader.grading.values import NUDGES, largest_magnitude, nudge

Array = np.ndarray[Any, np.dtype[Any]]
Inputs = tuple[Array, ...]
Operation = Callable[..., Array]


@dataclass
class Workload:
    """An operation, how its inputs are drawn, and other ways to compute it."""

    draw: Callable[[np.random.Generator], Inputs]
    compute: Operation
    styles: dict[str, Operation] = field(default_factory=dict)


def in_dtype(compute: Operation, dtype: Any) -> Operation:  # noqa: ANN401 a dtype
    """The operation in another precision, cast back."""
    return lambda *given: compute(*(a.astype(dtype) for a in given)).astype(np.float64)


def reversed_sums(a: Array, b: Array) -> Array:
    """A matrix product whose sums run from the end."""
    return np.asarray(np.cumsum((a[:, None, :] * b.T[None])[..., ::-1], axis=-1)[..., -1])


def attention(q: Array, k: Array, v: Array, grad: Array) -> Array:
    """The gradient of attention with respect to the queries."""
    p = _softmax(q @ k.T / np.sqrt(q.shape[-1]))
    dp = grad @ v.T
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    return np.asarray(ds @ k / np.sqrt(q.shape[-1]))


def flash(q: Array, k: Array, v: Array, grad: Array) -> Array:
    """The same with the row's sum taken from the output."""
    p = _softmax(q @ k.T / np.sqrt(q.shape[-1]))
    delta = (grad * (p @ v)).sum(-1, keepdims=True)
    return np.asarray(p * (grad @ v.T - delta) @ k / np.sqrt(q.shape[-1]))


def normalize(x: Array) -> Array:
    """Each row less its mean, over its deviation."""
    d = x - x.mean(-1, keepdims=True)
    return np.asarray(d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5))


def one_pass(x: Array) -> Array:
    """The same from the mean of squares."""
    mean = x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True) - mean**2
    return np.asarray((x - mean) / np.sqrt(variance + 1e-5))


def transformed(x: Array, h: Array) -> Array:
    """A convolution by way of Fourier transforms."""
    n = len(x) + len(h) - 1
    return np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(h, n), n)


def _softmax(s: Array) -> Array:
    e = np.exp(s - s.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def normal(*shapes: tuple[int, ...], scale: float = 1.0) -> Callable[..., Inputs]:
    """Standard normal inputs of these shapes, times a number."""
    return lambda rng: tuple(scale * rng.standard_normal(shape) for shape in shapes)


def steep(rng: np.random.Generator) -> Inputs:
    """A signal of nine orders of magnitude, and a filter."""
    return rng.standard_normal(64) * np.logspace(0, 9, 64), rng.standard_normal(9)


def certain(rng: np.random.Generator) -> Inputs:
    """Attention whose scores are in the hundreds."""
    q, k, v, grad = (rng.standard_normal((5, 4)) for _ in range(4))
    return 30 * q, 30 * k, v, grad


WORKLOADS = {
    "matmul": Workload(normal((4, 200), (200, 3)), np.matmul, {"reversed": reversed_sums}),
    "softmax": Workload(normal((4, 9), scale=30), _softmax),
    "attention": Workload(normal(*[(5, 4)] * 4), attention, {"flash": flash}),
    "one token": Workload(normal(*[(1, 64)] * 4), attention, {"flash": flash}),
    "certain": Workload(certain, attention, {"flash": flash}),
    "normalize": Workload(lambda rng: (rng.standard_normal((4, 50)) + 100,), normalize,
                          {"one pass": one_pass}),
    "convolve": Workload(steep, np.convolve, {"transform": transformed}),
}  # fmt: skip


def entered(given: Inputs) -> float:
    """As `compare.entered`: the last of four inputs is a gradient that comes in."""
    sizes = [largest_magnitude(a) for a in given]
    coming = sizes.pop() if len(given) == 4 else 1.0
    return coming * min([1.0, *sizes])


def main(draws: int) -> None:
    """Print a line for each operation and style."""
    print(f"{'':24}{'outside':>9}{'one width':>11}{'used':>10}")
    for name, work in WORKLOADS.items():
        styles = {"long double": in_dtype(work.compute, np.longdouble), **work.styles}
        styles["float32 (wrong)"] = in_dtype(work.compute, np.float32)
        if name == "convolve":  # numpy's works in float64 and below
            del styles["long double"]
        for style, other in styles.items():
            outside = before = 0
            used = 0.0
            for seed in range(draws):
                given = work.draw(np.random.default_rng(seed))
                want, got = work.compute(*given), other(*given)
                moved = [
                    work.compute(*(nudge(a, "float64", which) for a in given))
                    for which in range(len(NUDGES))
                ]
                off = np.abs(got - want)
                size = entered(given)
                wide = tolerance_band("float64", want, lambda: moved, input_scale=lambda: size)  # noqa: B023
                effect = max(largest_magnitude(m - want) for m in moved[:2])
                scale = largest_magnitude(want)
                plain = max(1e-10 * scale, 16 * (effect + 4 * 2.0**-52 * scale))
                outside += bool((off > wide).any())
                before += bool((off > plain).any())
                used = max(used, float(np.max(off / wide)))
            print(
                f"{name + ', ' + style:24.24}{outside / draws:>9.0%}{before / draws:>11.0%}"
                f"{used:>10.1g}"
            )


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
