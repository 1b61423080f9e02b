"""Wrong: of two equal choices the higher index is served first."""

import torch
from torch import Tensor


def moe(
    x: Tensor, router: Tensor, experts: Tensor, k: int, capacity: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return the weighted sum of each token's experts, and the balancing loss.

    Args:
        x: (N, D), the tokens.
        router: (D, E).
        experts: (E, D, F).
        k: how many experts a token asks for.
        capacity: how many requests an expert takes; None: all.

    Returns:
        y: (N, F).
        balance: 0-d.
    """
    p = _scores(x, router)
    chosen = _chosen(p, k)
    kept = _kept(chosen, p.shape[1], capacity)
    gates = _gates_left(_gates(p, chosen), kept)
    return _combined(x, experts, chosen, kept, gates), _balance(p, chosen, kept)


def dispatch_bytes(
    chosen: Tensor, experts: int, devices: int, width: int, itemsize: int, slots: int
) -> dict[str, int]:
    """Return what leaves devices when tokens go to their experts, in bytes.

    Args:
        chosen: (N, k) int64, the experts of each token.
        experts: how many there are.
        devices: how many there are; it divides N and experts.
        width: features of a token.
        itemsize: bytes of a feature.
        slots: rows that a device reserves for each expert.
    """
    row = width * itemsize
    home = torch.arange(len(chosen)) // (len(chosen) // devices)
    target = chosen // (experts // devices)
    return {
        "per_choice": _rows_by_choice(home, target) * row,
        "per_device": _rows_by_device(home, target, devices) * row,
        "padded": _rows_reserved(experts, devices, slots) * row,
    }


def _scores(x: Tensor, router: Tensor) -> Tensor:
    """Return the probability of every expert, (N, E)."""
    return (x @ router).softmax(1)


def _chosen(p: Tensor, k: int) -> Tensor:
    """Return the experts of each token, (N, k), the most probable first."""
    found = p.sort(dim=1, descending=True, stable=True).indices[:, :k]
    found = found.sort(dim=1, descending=True).values
    order = p.gather(1, found).sort(dim=1, descending=True, stable=True).indices
    return found.gather(1, order)


def _gates(p: Tensor, chosen: Tensor) -> Tensor:
    """Return the weights of each token's experts, (N, k)."""
    picked = p.gather(1, chosen)
    return picked / picked.sum(1, keepdim=True)


def _kept(chosen: Tensor, experts: int, capacity: int | None) -> Tensor:
    """Return which requests find a place, (N, k): first choices are served before second ones."""
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.T.reshape(-1)
    asked = torch.nn.functional.one_hot(queue, experts)
    before = (asked.cumsum(0) - asked).gather(1, queue[:, None])[:, 0]
    return (before < capacity).reshape(chosen.T.shape).T


def _gates_left(gates: Tensor, kept: Tensor) -> Tensor:  # noqa: ARG001
    """Return the weights after some requests were dropped."""
    return gates


def _combined(x: Tensor, experts: Tensor, chosen: Tensor, kept: Tensor, gates: Tensor) -> Tensor:
    """Return the weighted sum over each token's experts, (N, F)."""
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        token, choice = ((chosen == e) & kept).nonzero(as_tuple=True)
        y = y.index_add(0, token, gates[token, choice, None] * (x[token] @ weight))
    return y


def _balance(p: Tensor, chosen: Tensor, kept: Tensor) -> Tensor:
    """Return the balancing loss; 1 where load and probabilities are even."""
    return p.shape[1] * (_load(p, chosen, kept) * _mean(p)).sum()


def _load(p: Tensor, chosen: Tensor, kept: Tensor) -> Tensor:  # noqa: ARG001
    """Return each expert's share of the requests, (E,)."""
    counts = torch.bincount(chosen.reshape(-1), minlength=p.shape[1])
    return counts.to(p.dtype) / chosen.numel()


def _mean(p: Tensor) -> Tensor:
    """Return each expert's mean probability, (E,)."""
    return p.mean(0)


def _rows_by_choice(home: Tensor, target: Tensor) -> int:
    """Return how many requests are for another device."""
    return int((target != home[:, None]).sum())


def _rows_by_device(home: Tensor, target: Tensor, devices: int) -> int:
    """Return how many pairs of a token and another device there are."""
    wanted = torch.nn.functional.one_hot(target, devices).amax(1)
    wanted[torch.arange(len(home)), home] = 0
    return int(wanted.sum())


def _rows_reserved(experts: int, devices: int, slots: int) -> int:
    """Return how many rows all devices send for experts that are elsewhere."""
    return devices * (experts - experts // devices) * slots
