# %% token-by-token
"""One token after the other, in Python."""

import torch

def moe(x, router, experts, k, capacity=None):
    count = router.shape[1]
    scores = torch.softmax(x @ router, dim=-1)
    order = [sorted(range(count), key=lambda e: (-row[e], e))[:k] for row in scores.tolist()]
    taken = [0] * count
    rows = [torch.zeros(experts.shape[2], dtype=x.dtype) for _ in x]
    for choice in range(k):
        for n, wanted in enumerate(order):
            e = wanted[choice]
            if capacity is not None and taken[e] >= capacity:
                continue
            taken[e] += 1
            gate = scores[n, e] / sum(scores[n, other] for other in wanted)
            rows[n] = rows[n] + gate * (x[n] @ experts[e])
    load = [sum(wanted.count(e) for wanted in order) / (k * len(x)) for e in range(count)]
    balance = count * sum(share * scores[:, e].mean() for e, share in enumerate(load))
    return torch.stack(rows), balance

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    tokens, per = len(chosen), experts // devices
    sent = once = 0
    for n, wanted in enumerate(chosen.tolist()):
        home = n * devices // tokens
        away = [e // per for e in wanted if e // per != home]
        sent += len(away)
        once += len(set(away))
    padded = sum(slots for _ in range(devices) for _ in range(experts - per))
    return {name: rows * width * itemsize for name, rows in
            {"per_choice": sent, "per_device": once, "padded": padded}.items()}

# %% softmax-of-the-chosen
"""A softmax over the chosen logits: the same weights. Places by a loop over choices."""

import torch

def moe(x, router, experts, k, capacity=None):
    logits = x @ router
    top = torch.sort(logits, dim=1, descending=True, stable=True)
    chosen, gates = top.indices[:, :k], top.values[:, :k].softmax(dim=1)
    count = logits.shape[1]
    load = torch.zeros(count, dtype=x.dtype)
    y = torch.zeros(len(x), experts.shape[2], dtype=x.dtype)
    for choice in range(k):
        for e in range(count):
            token = torch.where(chosen[:, choice] == e)[0]
            before = int(load[e])
            load[e] += len(token)
            if capacity is not None:
                token = token[: max(0, capacity - before)]
            y = y.index_add(0, token, gates[token, choice].unsqueeze(1) * (x[token] @ experts[e]))
    p = torch.exp(logits - logits.logsumexp(1, keepdim=True))
    return y, count * torch.dot(load / load.sum(), p.mean(0))

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    home = torch.arange(len(chosen)).reshape(devices, -1)
    per = experts // devices
    goes = torch.zeros(len(chosen), devices, dtype=torch.int64)
    goes.scatter_add_(1, torch.div(chosen, per, rounding_mode="floor"), torch.ones_like(chosen))
    for device, tokens in enumerate(home):
        goes[tokens, device] = 0
    row = width * itemsize
    return {"per_choice": goes.sum().item() * row, "per_device": (goes > 0).sum().item() * row,
            "padded": devices * (devices - 1) * per * slots * row}

# %% sorted-requests
"""All requests sorted by expert, cut into runs, and scattered back."""

import torch

def moe(x, router, experts, k, capacity=None):
    n, count = len(x), experts.shape[0]
    p = torch.nn.functional.softmax(x @ router, dim=1)
    ranked = torch.argsort(-p.detach(), dim=1, stable=True)[:, :k]
    weights = torch.take_along_dim(p, ranked, 1)
    weights = weights / weights.sum(dim=1, keepdim=True)
    expert = ranked.t().reshape(-1)
    token = torch.arange(n).repeat(k)
    gate = weights.t().reshape(-1)
    order = torch.argsort(expert, stable=True)
    counts = torch.bincount(expert, minlength=count)
    out = torch.zeros((n, experts.shape[2]), dtype=x.dtype)
    start = 0
    for e, many in enumerate(counts.tolist()):
        some = order[start : start + (many if capacity is None else min(many, capacity))]
        start += many
        if len(some):
            out = out.index_add(0, token[some], (x[token[some]] @ experts[e]) * gate[some][:, None])
    return out, (counts / (n * k) * p.mean(dim=0)).sum() * count

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    import numpy as np

    wanted = chosen.numpy() // (experts // devices)
    home = np.repeat(np.arange(devices), len(wanted) // devices)[:, None]
    pairs = np.unique(np.column_stack([np.repeat(np.arange(len(wanted)), wanted.shape[1]),
                                       np.where(wanted == home, -1, wanted).ravel()]), axis=0)
    row = width * itemsize
    return {"per_choice": int(np.count_nonzero(wanted - home)) * row,
            "per_device": int((pairs[:, 1] >= 0).sum()) * row,
            "padded": row * slots * experts * (devices - 1)}

# %% buffers
"""Dense buffers of fixed capacity, as a device would send them: bmm over experts."""

import torch

def moe(x, router, experts, k, capacity=None):
    n, count = x.shape[0], router.shape[1]
    p = (x @ router).softmax(-1)
    chosen = p.sort(dim=-1, descending=True, stable=True)[1][:, :k]
    picked = p.gather(-1, chosen)
    gates = picked / picked.sum(-1, keepdim=True)
    load = torch.zeros(count, dtype=torch.int64)
    places = torch.empty_like(chosen)
    for j in range(k):
        for i in range(n):
            places[i, j] = load[chosen[i, j]]
            load[chosen[i, j]] += 1
    size = int(load.max()) if capacity is None else min(capacity, int(load.max()))
    y = x.new_zeros(n, experts.shape[2])
    if size:
        inside = places < size
        i, j = inside.nonzero(as_tuple=True)
        buffer = x.new_zeros(count, size, x.shape[1]).index_put((chosen[i, j], places[i, j]), x[i])
        used = [min(size, int(c)) for c in load]
        out = [buffer[e, : used[e]] @ experts[e] for e in range(count)]
        flat = torch.cat([torch.nn.functional.pad(o, (0, 0, 0, size - len(o))) for o in out])
        y = y.index_add(0, i, gates[i, j].unsqueeze(-1) * flat[chosen[i, j] * size + places[i, j]])
    return y, count * ((load.to(p.dtype) / load.sum()) @ p.mean(0))

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    at = [run.tolist() for run in torch.chunk(chosen, devices)]
    holds = [set(range(d * experts // devices, (d + 1) * experts // devices)) for d in range(devices)]
    requests = tokens = rows = 0
    for device, run in enumerate(at):
        for wanted in run:
            for other in range(devices):
                hits = sum(e in holds[other] for e in wanted)
                requests += hits if other != device else 0
                tokens += bool(hits) and other != device
        rows += sum(slots * len(h) for other, h in enumerate(holds) if other != device)
    bytes_of = lambda count: count * width * itemsize
    return dict(per_choice=bytes_of(requests), per_device=bytes_of(tokens), padded=bytes_of(rows))

# %% a-module
"""A module that keeps its last routing, as many code bases have it."""

from dataclasses import dataclass

import torch
from torch import nn

@dataclass
class Routing:
    p: torch.Tensor
    chosen: torch.Tensor
    gates: torch.Tensor

    @classmethod
    def of(cls, logits, k):
        p = logits.softmax(dim=-1)
        chosen = torch.sort(p, dim=-1, descending=True, stable=True).indices.narrow(1, 0, k)
        gates = nn.functional.normalize(p.gather(1, chosen), p=1, dim=1)
        return cls(p, chosen, gates)

    def load(self):
        hot = nn.functional.one_hot(self.chosen, self.p.shape[1]).to(self.p.dtype)
        return hot.mean(dim=(0, 1))

class Experts(nn.Module):
    def __init__(self, weights, capacity):
        super().__init__()
        self.weights, self.capacity = weights, capacity

    def forward(self, x, routing):
        y = torch.zeros(x.shape[0], self.weights.shape[-1], dtype=x.dtype)
        used = [0] * len(self.weights)
        for choice, gate in zip(routing.chosen.unbind(1), routing.gates.unbind(1)):
            for e in choice.unique().tolist():
                token = torch.nonzero(choice == e)[:, 0]
                free = len(token) if self.capacity is None else max(self.capacity - used[e], 0)
                used[e] += len(token)
                token = token[:free]
                y = y.index_add(0, token, gate[token, None] * x[token].matmul(self.weights[e]))
        return y

def moe(x, router, experts, k, capacity=None):
    routing = Routing.of(x.matmul(router), k)
    balance = routing.load().mul(routing.p.mean(0)).sum() * len(experts)
    return Experts(experts, capacity)(x, routing), balance

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    table = torch.zeros(devices, devices, dtype=torch.int64)
    once = torch.zeros(devices, devices, dtype=torch.int64)
    for n, wanted in enumerate(chosen):
        home = n // (chosen.shape[0] // devices)
        to, many = (wanted // (experts // devices)).unique(return_counts=True)
        table[home, to] += many
        once[home, to] += 1
    off = ~torch.eye(devices, dtype=torch.bool)
    row = width * itemsize
    return {
        "per_choice": int(table[off].sum()) * row,
        "per_device": int(once[off].sum()) * row,
        "padded": int(off.sum()) * (experts // devices) * slots * row,
    }

# %% one-matrix-of-weights
# part: 2
"""A dense matrix of weights, and every expert on every token: right, and not cheap."""

import torch

def moe(x, router, experts, k, capacity=None):
    p = torch.softmax(x @ router, 1)
    order = torch.argsort(p, dim=1, descending=True, stable=True)[:, :k]
    asked = torch.zeros(k, *p.shape, dtype=x.dtype)
    asked.scatter_(2, order.t()[:, :, None], 1.0)
    queue = asked.reshape(-1, p.shape[1])
    kept = asked
    if capacity is not None:
        kept = (queue * (queue.cumsum(0) <= capacity)).reshape(asked.shape)
    weight = p / (p * asked.sum(0)).sum(1, keepdim=True)
    y = torch.einsum("ne,nd,edf->nf", weight * kept.sum(0), x, experts)
    return y, p.shape[1] * (asked.sum((0, 1)) / asked.sum() * p.mean(0)).sum()

# %% topk-and-mask
# part: 1
"""What is usually merged first: topk, and the logits of the others at minus infinity."""

import torch

def moe(x, router, experts, k):
    logits = x @ router
    kth = logits.topk(k, dim=1).values[:, -1:]
    masked = logits.masked_fill(logits < kth, -torch.inf)
    weights = masked.softmax(1)
    y = (weights[:, :, None] * torch.einsum("nd,edf->nef", x, experts)).sum(1)
    load = (weights > 0).sum(0) / (len(x) * k)
    return y, len(experts) * (load.detach() * logits.softmax(1).mean(0)).sum()

# %% topk-and-loop
# part: 1
"""topk, a loop over the choices, and the weights of each token's experts gathered."""

import torch

def moe(x, router, experts, k):
    probs = torch.softmax(x.mm(router), dim=1)
    values, indices = torch.topk(probs, k, dim=1)
    values = values / values.sum(dim=1, keepdim=True)
    y = 0
    for j in range(k):
        picked = experts[indices[:, j]]
        y = y + values[:, j : j + 1] * torch.bmm(x.unsqueeze(1), picked).squeeze(1)
    counts = torch.zeros(router.shape[1], dtype=x.dtype)
    counts.put_(indices.flatten(), torch.ones(indices.numel(), dtype=x.dtype), accumulate=True)
    return y, router.shape[1] * (counts / counts.sum()).dot(probs.mean(0))
