"""Data-parallel training by hooks that exchange gradients."""

from contextlib import contextmanager, nullcontext


class Reducer:
    """Averages gradients over replicas."""

    def __init__(self, replicas, all_reduce):
        self.all_reduce, self.ranks, self.on = all_reduce, len(replicas), True
        for params in zip(*(m.parameters() for m in replicas), strict=True):
            seen = []  # ranks whose gradient of this parameter is there
            for p in params:
                p.register_post_accumulate_grad_hook(self._hook(params, seen))

    def _hook(self, params, seen):
        def hook(p):
            if not self.on:
                return
            seen.append(p)
            if len(seen) == self.ranks:
                seen.clear()
                self.all_reduce([q.grad for q in params])
                for q in params:
                    q.grad /= self.ranks

        return hook

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
    for i in range(micros):
        with reducer.no_sync() if i else nullcontext():
            for model, mine in zip(replicas, batches, strict=True):
                x, y = mine[i]
                (loss_fn(model, x, y) / micros).backward()
    for optimizer in optimizers:
        optimizer.step()
