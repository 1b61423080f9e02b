"""A hook that exchanges the gradient."""

import torch
import torch.nn.functional as F


def route(logits, k):
    index = torch.sort(logits, dim=-1, descending=True, stable=True).indices[..., :k]
    hard = F.one_hot(index, logits.shape[-1]).sum(-2).to(logits.dtype)
    p = torch.exp(logits - torch.logsumexp(logits, -1, keepdim=True))
    return torch.where(torch.ones_like(p, dtype=torch.bool), hard, p) + 0 * hard + (p - p.detach())
