"""Data-parallel training by hooks: gradients travel in buckets while backward runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

Ranks = tuple[Tensor, ...]  # one parameter, of every replica
LossFn = Callable[[nn.Module, Tensor, Tensor], Tensor]


class Reducer:
    """Averages gradients over replicas, a bucket at a time."""

    def __init__(
        self,
        replicas: Sequence[nn.Module],
        all_reduce: Callable[[list[Tensor]], None],
        bucket_bytes: int = 1,
    ) -> None:
        self.replicas, self.ranks = replicas, len(replicas)
        self.all_reduce, self.on = all_reduce, True
        self.buckets = _buckets(_listed(replicas), bucket_bytes)
        self._reset()
        self._watch()

    def _watch(self) -> None:
        """Have every parameter say when its gradient is complete."""
        for number, bucket in enumerate(self.buckets):
            for params in bucket:
                for p in params:
                    p.register_post_accumulate_grad_hook(self._hook(number))

    def _hook(self, number: int) -> Callable[[Tensor], None]:
        def hook(_: Tensor) -> None:
            if self.on:
                self._arrived(number)

        return hook

    def _reset(self) -> None:
        self.missing = [self.ranks * len(bucket) for bucket in self.buckets]

    def _arrived(self, number: int) -> None:
        """Count a gradient; send its bucket if it was the last one."""
        self.missing[number] -= 1
        if self.missing[number] == 0:
            self._send(self.buckets[number])

    def finish(self) -> None:
        """Send the buckets that some rank did not complete, and count from the start again."""
        for bucket, missing in zip(self.buckets, self.missing, strict=True):
            if missing:
                self._send(bucket)
        self._reset()

    def _send(self, bucket: list[Ranks]) -> None:
        """Average a bucket over ranks; a parameter that no rank used keeps None."""
        flat = [torch.cat([_or_zeros(params[r]) for params in bucket]) for r in range(self.ranks)]
        used = [any(p.grad is not None for p in params) for params in bucket]
        self.all_reduce(flat)
        sizes = [params[0].numel() for params in bucket]
        for rank, total in enumerate(flat):
            pieces = self._mean(total).split(sizes)
            for params, piece, of_any in zip(bucket, pieces, used, strict=True):
                if of_any:
                    params[rank].grad = piece.view_as(params[rank])

    def _mean(self, total: Tensor) -> Tensor:
        return total / self.ranks

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, backward adds to .grad and nothing is sent."""
        self.on = False
        try:
            yield
        finally:
            self.on = True


def step(
    replicas: Sequence[nn.Module],
    optimizers: Sequence[torch.optim.Optimizer],
    reducer: Reducer,
    batches: Sequence[Sequence[tuple[Tensor, Tensor]]],
    loss_fn: LossFn,
) -> None:
    """One step: batches[rank] is that rank's list of micro-batches (x, y)."""
    for optimizer in optimizers:
        optimizer.zero_grad()
    micros = len(batches[0])
    with reducer.no_sync():
        for i in range(micros - 1):
            _backward(replicas, batches, i, loss_fn)
    _backward(replicas, batches, micros - 1, loss_fn)
    reducer.finish()
    for optimizer in optimizers:
        optimizer.step()


def cost(
    nbytes: Sequence[int],
    ready: Sequence[float],
    bucket_bytes: int,
    ranks: int,
    bandwidth: float,
    latency: float,
) -> tuple[float, float]:
    """Return the bytes that a rank sends, and how long a step waits for the last all-reduce."""
    sent = wire = 0.0
    for full, complete in _filled(nbytes, ready, bucket_bytes):
        sent += _traffic(full, ranks)
        wire = max(wire, complete) + _takes(full, ranks, bandwidth, latency)
    return sent, wire - ready[-1]


def _listed(replicas: Sequence[nn.Module]) -> list[Ranks]:
    """Return the parameters in the order of buckets, each of all ranks."""
    return list(zip(*(model.parameters() for model in replicas), strict=True))[::-1]


def _buckets(order: list[Ranks], bucket_bytes: int) -> list[list[Ranks]]:
    """Fill buckets: one that holds bucket_bytes is full."""
    buckets: list[list[Ranks]] = []
    held = bucket_bytes
    for params in order:
        if held >= bucket_bytes:
            buckets.append([])
            held = 0
        buckets[-1].append(params)
        held += params[0].numel() * params[0].element_size()
    return buckets


def _or_zeros(p: Tensor) -> Tensor:
    """Return the gradient, flat; zeros where there is none."""
    return (torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1)


def _backward(
    replicas: Sequence[nn.Module],
    batches: Sequence[Sequence[tuple[Tensor, Tensor]]],
    i: int,
    loss_fn: LossFn,
) -> None:
    """Add the gradients of one micro-batch of every rank."""
    for rank, model in enumerate(replicas):
        x, y = batches[rank][i]
        (_weight(batches, rank, i) * loss_fn(model, x, y)).backward()


def _weight(batches: Sequence[Sequence[tuple[Tensor, Tensor]]], rank: int, i: int) -> float:
    """Return what a micro-batch counts, so that the mean over ranks is that over all rows."""
    rows = sum(len(x) for mine in batches for x, _ in mine)
    return len(batches[rank][i][0]) * len(batches) / rows


def _filled(
    nbytes: Sequence[int], ready: Sequence[float], bucket_bytes: int
) -> Iterator[tuple[int, float]]:
    """Yield the bytes of each bucket, and when its last gradient is there."""
    held = 0
    for i, (size, at) in enumerate(zip(nbytes, ready, strict=True), 1):
        held += size
        if held >= bucket_bytes or i == len(nbytes):
            yield held, at
            held = 0


def _traffic(full: int, ranks: int) -> float:
    return 2 * (ranks - 1) * full / ranks


def _takes(full: int, ranks: int, bandwidth: float, latency: float) -> float:
    return 2 * (ranks - 1) * (latency + full / ranks / bandwidth)
