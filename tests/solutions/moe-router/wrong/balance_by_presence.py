"""Wrong: an expert counts if it is asked at all."""
# named: asked-at-all

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
        return hot.amax(dim=(0, 1))

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
