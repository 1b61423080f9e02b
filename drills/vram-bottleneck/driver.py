"""Steps around `swiglu_mlp` that a single call cannot express: baselines, stacks, and modes.

Every function receives the program first.  `plain` and `plain_stack` are ordinary autograd and do
not call it.
"""

from collections.abc import Callable
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor


def plain(_: SimpleNamespace, x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """Return the block as plain autograd computes it: the yardstick for FLOPs."""
    return _plain_block(x, w_gate, w_up, w_down)


def stack(program: SimpleNamespace, x: Tensor, gates: Tensor, ups: Tensor, downs: Tensor) -> Tensor:
    """Return x (N, D) after B residual blocks; gates, ups (B, F, D), downs (B, D, F)."""
    return _residual(program.swiglu_mlp, x, gates, ups, downs)


def plain_stack(_: SimpleNamespace, x: Tensor, gates: Tensor, ups: Tensor, downs: Tensor) -> Tensor:
    """Return what `stack` returns, by plain autograd: the yardstick for peak memory."""
    return _residual(_plain_block, x, gates, ups, downs)


def inference(
    program: SimpleNamespace, x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor
) -> Tensor:
    """Return the block's output computed under torch.no_grad."""
    with torch.no_grad():
        return program.swiglu_mlp(x, w_gate, w_up, w_down)


def gpu_step(program: SimpleNamespace, rows: int, width: int, hidden: int, blocks: int) -> bool:
    """Run forward and backward of a bfloat16 residual stack on the GPU; return whether it could.

    The tensors are made here, so that nothing of this size has to be sent.  The weights (192 MiB
    for 8 blocks of 1024 by 4096), x, and all gradients are part of the peak.
    """
    if not torch.cuda.is_available():
        return False

    def leaf(*shape: int) -> Tensor:
        value = 1 / shape[-1]
        return torch.full(shape, value, dtype=torch.bfloat16, device="cuda", requires_grad=True)

    x = leaf(rows, width)
    layers = [
        (leaf(hidden, width), leaf(hidden, width), leaf(width, hidden)) for _ in range(blocks)
    ]
    h = x
    for weights in layers:
        h = h + program.swiglu_mlp(h, *weights)
    loss = h.sum()
    del h  # the last block's output is not needed by any gradient
    loss.backward()
    torch.cuda.synchronize()
    return True


def _plain_block(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()


def _residual(
    block: Callable[..., Tensor], x: Tensor, gates: Tensor, ups: Tensor, downs: Tensor
) -> Tensor:
    for weights in zip(gates.unbind(), ups.unbind(), downs.unbind(), strict=True):
        x = x + block(x, *weights)
    return x


def whole(program, number):  # noqa: ARG001
    """Return a number that may have been drawn as a whole number of Python's."""
    return int(number)
