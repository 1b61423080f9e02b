"""Data-parallel training in one process: a replica per rank, and an all-reduce that keeps a log.

The arrays x and y are (steps, ranks, micro-batches, rows, features).
"""

import torch
from torch import nn


class Chain(nn.Module):
    """Linear layers without biases, tanh between them."""

    def __init__(self, *weights):
        super().__init__()
        self.layers = nn.ModuleList(map(_linear, weights))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


class Tied(nn.Module):
    """Two layers with one weight, the first and the third of four."""

    def __init__(self, middle, shared, out):
        super().__init__()
        self.middle, self.first, self.third = _linear(middle), _linear(shared), _linear(shared)
        self.third.weight = self.first.weight
        self.out = _linear(out)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        x = torch.tanh(self.middle(x))
        x = torch.tanh(self.third(x))
        return self.out(x)


class Experts(nn.Module):
    """A layer for all rows, then for each row the expert whose number stands first in it."""

    def __init__(self, base, experts):
        super().__init__()
        self.base = _linear(base)
        self.experts = nn.ModuleList(map(_linear, experts))

    def forward(self, x):
        number, h = x[:, 0], torch.tanh(self.base(x[:, 1:]))
        y = h
        for k, expert in enumerate(self.experts):
            mine = number == k
            if mine.any():
                y = torch.where(mine[:, None], expert(h), y)
        return y


class Cluster:
    """The replicas, their data, and what is sent between them."""

    def __init__(self, models, x, y, decay, momentum, loss, rows):
        self.replicas, self.x, self.y = models, x.detach(), y.detach()
        self.rows, self.loss_fn = rows, _LOSSES[loss]
        self.log = []  # of a step: the bytes of a call, or None for a gradient that has arrived
        self.unused = []
        self.optimizers = [_Watched(model, self.unused, decay, momentum) for model in models]
        for model in models:
            for p in model.parameters():
                p.register_post_accumulate_grad_hook(lambda _: self.log.append(None))

    def all_reduce(self, tensors):
        """Put the sum of the tensors into each of them; there is one per rank."""
        if len(tensors) != len(self.replicas):
            raise ValueError(
                f"all_reduce takes a tensor per rank, {len(self.replicas)}; it got {len(tensors)}"
            )
        if any(t is None or t.shape != tensors[0].shape for t in tensors):
            raise ValueError("all_reduce takes tensors of one shape")
        with torch.no_grad():
            total = sum(t.detach().clone() for t in tensors)
            for t in tensors:
                t.copy_(total)
        self.log.append(total.numel() * total.element_size())

    def steps(self, program, reducer):
        """Carry out all steps; yield the log of each."""
        for x, y in zip(self.x, self.y, strict=True):
            self.log.clear()
            batches = [
                [self._cut(r, m, x[r, m], y[r, m]) for m in range(x.shape[1])]
                for r in range(len(x))
            ]
            program.step(self.replicas, self.optimizers, reducer, batches, self.loss_fn)
            yield list(self.log)

    def _cut(self, r, m, x, y):
        rows = len(x) if self.rows is None else int(self.rows[r][m])
        return x[:rows].clone(), y[:rows].clone()

    def weights(self):
        """Return all weights, a row per rank."""
        return torch.stack([_flat(model) for model in self.replicas])


class _Watched(torch.optim.SGD):
    """SGD that notes, before it steps, which parameters have no gradient."""

    def __init__(self, model, unused, decay, momentum):
        super().__init__(model.parameters(), lr=0.1, weight_decay=decay, momentum=momentum)
        self.unused = unused

    def step(self, closure=None):
        self.unused.append([p.grad is None for p in self.param_groups[0]["params"]])
        return super().step(closure)


def chain(_, w1, w2, w3, x, y, loss="plain", rows=None):
    """Return the replicas, all_reduce, and the cluster that has both; w2 and w3 may be None."""
    weights = [w for w in (w1, w2, w3) if w is not None]
    return _cluster(lambda: Chain(*weights), x, y, 0.0, 0.0, loss, rows)


def tied(_, middle, shared, out, x, y):
    """Return what `chain` returns, of models that use a weight twice."""
    return _cluster(lambda: Tied(middle, shared, out), x, y, 0.0, 0.9, "plain", None)


def experts(_, base, experts, route, x, y):
    """Return what `chain` returns, of models with experts; route says which one a row goes to."""
    x = torch.cat([route[..., None].to(x.dtype), x.detach()], dim=-1)
    return _cluster(lambda: Experts(base, experts), x, y, 0.05, 0.9, "plain", None)


def reducer(program, replicas, all_reduce, bucket_bytes):
    """Return a Reducer; bucket_bytes is left out where it is None."""
    if bucket_bytes is None:
        return program.Reducer(replicas, all_reduce)
    return program.Reducer(replicas, all_reduce, bucket_bytes=bucket_bytes)


def train(program, cluster, reducer):
    """Return the weights of all ranks, and the bytes sent in each step."""
    sent = [sum(filter(None, log)) for log in cluster.steps(program, reducer)]
    return cluster.weights(), sent


def watch(program, cluster, reducer):
    """Return the weights of all ranks, a log of each step, and what each optimizer lacked.

    That is, for each of its steps, which parameters had no gradient.
    """
    logs = list(cluster.steps(program, reducer))
    return cluster.weights(), logs, cluster.unused


def equal(weights):
    """Return whether all ranks have the same weights, bit for bit."""
    return bool((weights == weights[0]).all())


def buckets(logs):
    """Return how buckets were sent in each step.

    That is the bytes of its calls, smallest first, and of each call but the last whether gradients
    were still to come.
    """
    sizes, early = [], []
    for log in logs:
        calls = [i for i, one in enumerate(log) if one is not None]
        sizes.append(sorted(log[i] for i in calls))
        early.append([None in log[i:] for i in calls[:-1]])
    return sizes, early


def listed(_, array):
    """Return the entries of an array as a list of Python's numbers."""
    return array.tolist()


def _cluster(make, x, y, decay, momentum, loss, rows):
    found = Cluster([make() for _ in range(x.shape[1])], x, y, decay, momentum, loss, rows)
    return found.replicas, found.all_reduce, found


def _linear(weight):
    layer = nn.Linear(*reversed(weight.shape), bias=False, dtype=weight.dtype)
    with torch.no_grad():
        layer.weight.copy_(weight)
    return layer


def _flat(model):
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def _plain(model, x, y):
    return ((model(x) - y) ** 2).mean()


def _penalty(model, x, y):
    loss = _plain(model, x, y)
    grads = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
    return loss + 0.1 * sum((g**2).sum() for g in grads)


def _measured(model, x, y):
    loss = _plain(model, x, y)
    torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    return loss


_LOSSES = {"plain": _plain, "penalty": _penalty, "measured": _measured}
