"""The variant in Triton, against torch in float64 and against the reference.

With a CUDA device it runs there, else in Triton's interpreter: `pip install '.[torch,triton]'`.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.harness import Array, Program, each, normal

torch = pytest.importorskip("torch")
ON = "cuda" if torch.cuda.is_available() else "cpu"
if ON == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read where a kernel is defined
pytest.importorskip("triton", reason="needs the extra triton")
pytestmark = pytest.mark.filterwarnings("ignore:TRITON_:UserWarning")  # says what it defaults to
SIZES = [(3, 16, 16), (3, 13, 16), (2, 45, 8), (1, 1, 4), (2, 32, 16), (2, 33, 32), (7, 45, 16)]
CLOSE = {"float32": 1e-5, "float16": 2e-3}


@pytest.fixture(scope="module")
def kernels() -> Any:
    path = Path(__file__).parents[2] / "docs" / "examples" / "tile_kernel_triton.py"
    spec = importlib.util.spec_from_file_location("tile_kernel_triton", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def machine(block: int) -> Any:
    return importlib.import_module("tile").Tiles(block)


def given(array: Array) -> Any:
    return torch.tensor(array, device=ON)


def agrees(found: Any, exact: Any, of_reference: Array, dtype: str) -> None:
    assert str(found.dtype) == f"torch.{dtype}"
    values = found.cpu().double().numpy()
    for wanted in (exact.detach().numpy(), of_reference.astype(float)):
        band = CLOSE[dtype] * max(1, abs(wanted).max())
        np.testing.assert_allclose(values, wanted, rtol=CLOSE[dtype], atol=band)


@each("size", SIZES)
@each("dtype", ["float32", "float16"])
def test_softmax_in_triton(
    reference: Program, kernels: Any, size: tuple[int, ...], dtype: str
) -> None:
    *shape, block = size
    for shift in (0.0, 300.0, -200.0, -20_000.0):
        x = (normal(1, tuple(shape))[0] + shift).astype(dtype)
        exact = torch.tensor(x).double().softmax(1)
        of_reference = reference.softmax(machine(block), x, block)
        agrees(kernels.softmax(given(x), block), exact, of_reference, dtype)


def test_minus_infinity_has_no_weight_in_triton(reference: Program, kernels: Any) -> None:
    x = normal(2, (4, 12))[0].astype("float32")
    x[0, :8], x[1, 4:], x[2, 3:9] = -np.inf, -np.inf, -np.inf
    exact = torch.tensor(x).double().softmax(1)
    for block in (2, 4, 16):
        of_reference = reference.softmax(machine(block), x, block)
        agrees(kernels.softmax(given(x), block), exact, of_reference, "float32")


@each("size", SIZES)
@each("dtype", ["float32", "float16"])
def test_rmsnorm_and_its_gradients_in_triton(
    reference: Program, kernels: Any, size: tuple[int, ...], dtype: str
) -> None:
    *shape, block = size
    drawn = normal(3, tuple(shape), (shape[1],), tuple(shape))
    x, gamma, grad_y = (a.astype(dtype) for a in drawn)
    leaves = [torch.tensor(a).double().requires_grad_() for a in (x, gamma)]
    exact = torch.nn.functional.rms_norm(leaves[0], (shape[1],), leaves[1], eps=0.1)
    exact_x, exact_gamma = torch.autograd.grad(exact, leaves, torch.tensor(grad_y).double())
    y, rstd = reference.rmsnorm(machine(block), x, gamma, 0.1, block, True)
    assert kernels.rmsnorm(given(x), given(gamma), 0.1, block)[1] is None
    found, kept = kernels.rmsnorm(given(x), given(gamma), 0.1, block, True)
    agrees(found, exact, y, dtype)
    exact_rstd = (leaves[0] ** 2).mean(1).add(0.1).rsqrt()
    agrees(kept, exact_rstd, rstd, "float32")
    for programs in (1, 3):
        t = machine(block)
        back = reference.rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs)
        found = kernels.rmsnorm_backward(
            given(x), given(gamma), kept, given(grad_y), block, programs
        )
        agrees(found[0], exact_x, back[0], dtype)
        agrees(found[1], exact_gamma, back[1], "float32")
