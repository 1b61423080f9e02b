"""What operations a run consists of, so that a process that is trusted can repeat them.

Products of matrices are recorded by their sizes, whatever called them; all else by how many entries
it gives (see `meter`).  Repeated, it takes about as long as the run itself, and the judge's clock
tells whether it does.
"""

from __future__ import annotations

import functools

import torch

from .messages import MOST_WORK, Header, Task, Work
from .namespace import LoadedModule


def repeat(_: LoadedModule, task: Task) -> Header:
    """Carry out such operations on operands of our own."""
    for one in task.work:
        operands = _operands(one._replace(times=1))
        for _time in range(one.times):
            if one.inner:
                torch.matmul(*operands)
            elif operands[0].is_floating_point():
                torch.sigmoid(*operands)
            else:
                operands[0].clone()
    return Header(True)


@functools.lru_cache(maxsize=MOST_WORK)
def _operands(one: Work) -> tuple[torch.Tensor, ...]:
    dtype = getattr(torch, one.dtype)
    if not one.inner:
        return (torch.ones(one.columns, dtype=dtype),)
    ones = torch.ones(one.batch, one.rows, one.inner, dtype=dtype)
    return ones, torch.ones(one.batch, one.inner, one.columns, dtype=dtype)
