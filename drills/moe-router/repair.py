"""A layer of experts: each token asks for k of them."""

import torch


# why 2: None stands for as many places as are asked for.
def moe(x, router, experts, k, capacity=None):
    """The outputs, and a loss that is small where experts are used evenly."""
    p = (x @ router).softmax(1)
    # why 2: A stable sort leaves the lower index first among equals; topk promises nothing.
    chosen = p.sort(dim=1, descending=True, stable=True).indices[:, :k]
    # why: The gradient of the output reaches the router through these weights, and by no other path:
    #      a choice of indices has none.
    gates = p.gather(1, chosen)
    gates = gates / gates.sum(1, keepdim=True)
    y = x.new_zeros(len(x), experts.shape[2])
    # why 2: Only requests that find a place are served.
    kept = places(chosen, len(experts), capacity)
    for e, weight in enumerate(experts):
        # why 2: What was dropped is not computed.
        asked = (chosen == e) & kept
        # why: An expert counts by the weight of the choice that asked for it.
        token, choice = asked.nonzero(as_tuple=True)
        rows = gates[token, choice, None] * (x[token] @ weight)
        y = y.index_add(0, token, rows)
    counts = torch.bincount(chosen.flatten(), minlength=len(experts))
    counts = counts.to(x.dtype)
    balance = len(experts) * (counts / chosen.numel() * p.mean(0)).sum()
    # why: The weights add up to 1.
    return y, balance


# why 2: All first choices stand in the queue before all second ones; a request has a place if fewer
#        than `capacity` before it ask for the same expert.
def places(chosen, experts, capacity):
    """Which requests find a place."""
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.T.flatten()
    asked = torch.nn.functional.one_hot(queue, experts)
    before = (asked.cumsum(0) - asked).gather(1, queue[:, None])
    return (before < capacity).reshape(chosen.T.shape).T


# why 3: A request leaves its device, a token does so once for each device that it goes to, and
#        reserved rows travel whether or not they are filled.
def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    """What leaves devices when tokens go to their experts."""
    row = width * itemsize
    home = torch.arange(len(chosen)) // (len(chosen) // devices)
    target = chosen // (experts // devices)
    pairs = {(n, int(d)) for n, some in enumerate(target) for d in some if d != home[n]}
    return {
        "per_choice": int((target != home[:, None]).sum()) * row,
        "per_device": len(pairs) * row,
        "padded": devices * (experts - experts // devices) * slots * row,
    }
