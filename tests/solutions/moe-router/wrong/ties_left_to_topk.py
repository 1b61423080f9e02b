"""Wrong: which of equal probabilities stay is left to topk."""
# named: ties-left-to-topk

import torch
import torch.nn.functional as F
import numpy as np

def moe(x, router, experts, k, capacity=None):
    N, E = x.shape[0], experts.shape[0]
    p = torch.softmax(x @ router, dim=-1)
    top, idx = p.topk(k, dim=-1)
    top, idx = top[:, :k], idx[:, :k]
    w = top / top.sum(-1, keepdim=True)
    onehot = F.one_hot(idx, E)  # N,k,E
    flat = onehot.transpose(0, 1).reshape(k * N, E)
    pos = (torch.cumsum(flat, 0) - 1)
    pos = (pos * flat).sum(-1).reshape(k, N).T
    keep = torch.ones_like(pos, dtype=torch.bool) if capacity is None else pos < capacity
    y = x.new_zeros(N, experts.shape[2])
    # sort requests by expert, grouped gemm
    fe = idx[keep]; tok = torch.arange(N)[:, None].expand(N, k)[keep]; fw = w[keep]
    order = fe.argsort()
    fe, tok, fw = fe[order], tok[order], fw[order]
    outs = []
    for e, (xs, ws) in enumerate(zip(x[tok].split(torch.bincount(fe, minlength=E).tolist()), fw.split(torch.bincount(fe, minlength=E).tolist()))):
        outs.append((xs @ experts[e]) * ws[:, None])
    y = y.index_add(0, tok, torch.cat(outs))
    f = onehot.to(x.dtype).mean((0, 1))
    balance = E * (f * p.mean(0)).sum()
    return y, balance

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    chosen = chosen.numpy(); N, k = chosen.shape
    row = width * itemsize
    src = np.arange(N) // (N // devices)
    dst = chosen // (experts // devices)
    remote = dst != src[:, None]
    oh = np.zeros((N, devices), bool)
    oh[np.arange(N)[:, None], dst] = True
    oh[np.arange(N), src] = False
    return {"per_choice": int(remote.sum()) * row, "per_device": int(oh.sum()) * row,
            "padded": devices * (experts - experts // devices) * slots * row}
