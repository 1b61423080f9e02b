"""What operations a run consists of, so that a process that is trusted can repeat them.

Products of matrices are recorded by their sizes, whatever called them; all else by how many entries
it gives.  Repeated, it takes about as long as the run itself, and the judge's clock tells whether
it does.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import torch

from .messages import MOST_WORK, Header, Task, Work
from .namespace import LoadedModule

# Where the factors are among the arguments.
_FACTORS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot"), 0),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_"), 1),
}
# Views, and memory that is not written.
_FREE = {
    "alias", "as_strided", "detach", "detach_", "diagonal", "empty", "empty_like", "empty_strided",
    "expand", "permute", "reshape", "select", "slice", "split", "squeeze", "t", "transpose",
    "unbind", "unsqueeze", "view", "_unsafe_view", "_reshape_alias", "lift_fresh", "set_",
}  # fmt: skip


class Log:
    """The operations of a run so far, those alike counted together."""

    def __init__(self) -> None:
        """Start with none."""
        self._seen: Counter[Work] = Counter()
        self._known = True

    def add(self, func: Any, args: Any, flops: int, made: list[Any]) -> None:  # noqa: ANN401 torch's types
        """Record one operation, whose results are tensors."""
        name = func._overloadpacket.__name__
        if flops and name in _FACTORS:
            a, b = args[_FACTORS[name] : _FACTORS[name] + 2]
            batch = int(a.shape[0]) if a.dim() == 3 else 1
            rows = int(a.shape[-2]) if a.dim() > 1 else 1
            columns = int(b.shape[-1]) if b.dim() > 1 else 1
            work = Work(_dtype(a), batch, rows, int(a.shape[-1]), columns)
            self._known &= 2 * batch * rows * work.inner * columns == flops
            self._seen[work] += 1
        elif flops:
            self._known = False  # a convolution, a fused attention
        elif name not in _FREE:
            for tensor in made:
                self._seen[Work(_dtype(tensor), 1, 1, 0, int(tensor.numel()))] += 1

    def work(self) -> tuple[Work, ...]:
        """What was recorded; nothing where it is too varied, or of a kind that is not known."""
        if not self._known or len(self._seen) > MOST_WORK:
            return ()
        return tuple(one._replace(times=times) for one, times in self._seen.items())


def _dtype(tensor: Any) -> str:  # noqa: ANN401 a tensor
    return str(tensor.dtype).removeprefix("torch.")


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
