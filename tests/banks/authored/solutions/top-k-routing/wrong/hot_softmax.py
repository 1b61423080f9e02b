import torch


def chosen(logits, k):
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    return torch.zeros_like(logits).scatter(-1, order[..., :k], 1.0)


def route(logits, k):
    p = torch.softmax(logits / 0.1, dim=-1)
    return chosen(logits.detach(), k) + (p - p.detach())
