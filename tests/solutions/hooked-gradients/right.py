# %% repaired_starter
"""The starter with its repair."""

from contextlib import contextmanager, nullcontext

import torch


class Reducer:
    """Averages gradients over replicas."""

    def __init__(self, replicas, all_reduce, bucket_bytes=1):
        self.all_reduce, self.ranks, self.on = all_reduce, len(replicas), True
        self.buckets, held = [[]], 0
        for params in reversed(list(zip(*(m.parameters() for m in replicas), strict=True))):
            if held >= bucket_bytes:
                self.buckets.append([])
                held = 0
            self.buckets[-1].append(params)
            held += params[0].numel() * params[0].element_size()
        self.reset()
        for number, bucket in enumerate(self.buckets):
            for params in bucket:
                for p in params:
                    p.register_post_accumulate_grad_hook(self._hook(number))

    def reset(self):
        """Begin to count again."""
        self.left = [len(bucket) * self.ranks for bucket in self.buckets]

    def _hook(self, number):
        def hook(p):
            if not self.on:
                return
            self.left[number] -= 1
            if self.left[number] == 0:
                self.send(number)

        return hook

    def send(self, number):
        """Average one bucket over ranks."""
        bucket = self.buckets[number]
        used = [any(p.grad is not None for p in params) for params in bucket]
        flat = []
        for rank in range(self.ranks):
            mine = [params[rank] for params in bucket]
            grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in mine]
            flat.append(torch.cat([g.reshape(-1) for g in grads]))
        self.all_reduce(flat)
        for rank, total in enumerate(flat):
            pieces = total.split([params[rank].numel() for params in bucket])
            for params, piece, one in zip(bucket, pieces, used, strict=True):
                if one:
                    params[rank].grad = piece.view_as(params[rank]) / self.ranks

    def finish(self):
        """Send what has not gone."""
        for number, left in enumerate(self.left):
            if left:
                self.send(number)
        self.reset()

    @contextmanager
    def no_sync(self):
        """Inside, backward adds to .grad and nothing is sent."""
        self.on = False
        try:
            yield
        finally:
            self.on = True


def step(replicas, optimizers, reducer, batches, loss_fn):
    """One step: batches[rank] is that rank's list of micro-batches (x, y)."""
    for optimizer in optimizers:
        optimizer.zero_grad()
    micros = len(batches[0])
    rows = sum(len(x) for mine in batches for x, _ in mine) / len(batches)
    for i in range(micros):
        with reducer.no_sync() if i < micros - 1 else nullcontext():
            for model, mine in zip(replicas, batches, strict=True):
                x, y = mine[i]
                (loss_fn(model, x, y) * (len(x) / rows)).backward()
    reducer.finish()
    for optimizer in optimizers:
        optimizer.step()


def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    """The bytes that a rank sends, and how long a step waits for the last all-reduce."""
    sent = free = held = 0
    for i, (size, at) in enumerate(zip(nbytes, ready, strict=True), 1):
        held += size
        if held >= bucket_bytes or i == len(nbytes):
            sent += 2 * (ranks - 1) * held / ranks
            free = max(free, at) + 2 * (ranks - 1) * (latency + held / ranks / bandwidth)
            held = 0
    return sent, free - ready[-1]
