"""The kernels of tile-kernel in Triton: on a GPU, or on a CPU with TRITON_INTERPRET=1.

One to one with the reference: t.load is tl.load, `program` is tl.program_id(0), and t.launch is
kernel[grid](...).  Three things differ.  What is masked in a tl.load without `other` is undefined,
not 0.  A loop has no list of tiles, so the backward takes a row as one tile.  And programs run at
the same time; the interpreter runs them one after the other, and notices no races.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    top = tl.full((), float("-inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + cols, mask=cols < n, other=float("-inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(v, 0))
        base = tl.where(new == float("-inf"), 0.0, new)  # minus infinity less itself is NaN
        total = total * tl.exp(top - base) + tl.sum(tl.exp(v - base), 0)
        top = new
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + cols, mask=cols < n, other=float("-inf")).to(tl.float32)
        tl.store(y + row + cols, tl.exp(v - top) / total, mask=cols < n)


@triton.jit
def _rmsnorm_kernel(x, gamma, y, rstd, n, eps, TRAIN: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + cols, mask=cols < n, other=0.0).to(tl.float32)
        total += tl.sum(v * v, 0)
    scale = 1 / tl.sqrt(total / n + eps)
    if TRAIN:
        tl.store(rstd + tl.program_id(0), scale)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + cols, mask=cols < n, other=0.0).to(tl.float32)
        w = tl.load(gamma + cols, mask=cols < n, other=0.0).to(tl.float32)
        tl.store(y + row + cols, v * scale * w, mask=cols < n)


@triton.jit
def _backward_kernel(x, gamma, rstd, grad_y, grad_x, parts, rows, n, WIDTH: tl.constexpr):
    program = tl.program_id(0)
    cols = tl.arange(0, WIDTH)
    w = tl.load(gamma + cols, mask=cols < n, other=0.0).to(tl.float32)
    share = tl.zeros((WIDTH,), tl.float32)
    at = program.to(tl.int64) * n + cols
    for row in range(program, rows, tl.num_programs(0)):
        scale = tl.load(rstd + row)
        h = tl.load(x + at, mask=cols < n, other=0.0).to(tl.float32) * scale
        d = tl.load(grad_y + at, mask=cols < n, other=0.0).to(tl.float32)
        share += d * h
        dot = tl.sum(d * w * h, 0)
        tl.store(grad_x + at, scale * (d * w - h * dot / n), mask=cols < n)
        at += tl.num_programs(0) * n
    tl.store(parts + program * n + cols, share, mask=cols < n)


@triton.jit
def _add_kernel(parts, total, programs, n, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.zeros((BLOCK,), tl.float32)
    for i in range(programs):
        found += tl.load(parts + i * n + cols, mask=cols < n, other=0.0)
    tl.store(total + cols, found, mask=cols < n)


def softmax(x, block):
    """Return the softmax along the rows of x, (rows, n); block is a power of two."""
    y = torch.empty_like(x)
    _softmax_kernel[(len(x),)](x, y, x.shape[1], BLOCK=block)
    return y


def rmsnorm(x, gamma, eps, block, train=False):
    """Return y, and one over the root of each row's mean square if it is to be trained."""
    y = torch.empty_like(x)
    rstd = torch.empty(len(x), dtype=torch.float32, device=x.device) if train else None
    grid = (len(x),)
    _rmsnorm_kernel[grid](x, gamma, y, rstd, x.shape[1], eps, TRAIN=train, BLOCK=block)
    return y, rstd


def rmsnorm_backward(x, gamma, rstd, grad_y, block, programs):
    """Return grad_x like x, and grad_gamma (n,) in float32."""
    rows, n = x.shape
    grad_x = torch.empty_like(x)
    parts = torch.empty(programs, n, dtype=torch.float32, device=x.device)
    grad_gamma = torch.empty(n, dtype=torch.float32, device=x.device)
    width = triton.next_power_of_2(n)
    given = (x, gamma, rstd, grad_y)
    _backward_kernel[(programs,)](*given, grad_x, parts, rows, n, WIDTH=width)
    _add_kernel[(triton.cdiv(n, block),)](parts, grad_gamma, programs, n, BLOCK=block)
    return grad_x, grad_gamma
