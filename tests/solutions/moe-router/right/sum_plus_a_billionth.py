"""Right: the sum that gates are divided by has 1e-9 added, as in well-known layers."""

import collections

import torch


def ranked(p, k):
    found = []
    for row in p.detach():
        left = row.clone()
        mine = []
        for _ in range(k):
            best = int((left == left.max()).nonzero()[0, 0])
            mine.append(best)
            left[best] = -1.0
        found.append(mine)
    return torch.tensor(found)


def moe(x, router, experts, k, capacity=None):
    logits = torch.einsum("nd,de->ne", x, router)
    p = (logits - torch.logsumexp(logits, dim=1, keepdim=True)).exp()
    chosen = ranked(p, k)
    used = collections.Counter()
    served = []
    for choice in range(k):
        for token, e in enumerate(chosen[:, choice].tolist()):
            if capacity is None or used[e] < capacity:
                served.append((token, choice, e))
            used[e] += 1
    weights = p.gather(1, chosen)
    weights = weights / (weights.sum(1, keepdim=True) + 1e-9)
    y = torch.zeros(len(x), experts.shape[2], dtype=x.dtype)
    if served:
        token, choice, e = torch.tensor(served).T
        rows = torch.bmm(x[token][:, None], experts[e])[:, 0]
        y = y.index_add(0, token, weights[token, choice][:, None] * rows)
    share = torch.tensor([used[e] for e in range(len(experts))], dtype=x.dtype) / (k * len(x))
    return y, len(experts) * torch.dot(share, p.mean(dim=0))


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    row = width * itemsize
    local = experts // devices
    sent = {"per_choice": 0, "per_device": 0, "padded": 0}
    for n, wanted in enumerate(chosen.tolist()):
        devices_of = collections.Counter(e // local for e in wanted)
        del devices_of[n // (len(chosen) // devices)]
        sent["per_choice"] += devices_of.total() * row
        sent["per_device"] += len(devices_of) * row
    sent["padded"] = (devices - 1) * experts * slots * row
    return sent
