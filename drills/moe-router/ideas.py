# %% equal-weights
# killed_by: output
"""You average the chosen experts. The router then decides who is asked and not how much each counts,
and a choice of indices has no gradient: the output tells the router nothing, and only the balancing
loss moves it. Weigh each expert by its probability, divided by the sum over the chosen ones."""
def _gates(p, chosen):
    return torch.full_like(chosen, 1 / chosen.shape[1], dtype=p.dtype)

# %% experts-added
# killed_by: output
"""You add up the chosen experts, without weights. The output grows with k, and tells the router
nothing: a choice of indices has no gradient."""
def _gates(p, chosen):
    return torch.ones_like(chosen, dtype=p.dtype)

# %% probabilities-as-weights
# killed_by: output
"""Your weights are the probabilities among all experts. Those of the chosen ones add up to less than
1, so the output shrinks where the router hesitates. Divide them by their sum."""
def _gates(p, chosen):
    return p.gather(1, chosen)

# %% softmax-of-probabilities
# killed_by: output
"""You apply a softmax to probabilities. They lie within 1 of each other, so your weights are nearly
equal. Divide the probabilities by their sum; a softmax over the chosen logits gives the same."""
def _gates(p, chosen):
    return p.gather(1, chosen).softmax(1)

# %% sigmoid-scores
# killed_by: output
"""Your scores are sigmoids, each expert by itself. The choice is the same and the weights are not.
Asked for is a softmax over all experts."""
def _scores(x, router):
    return (x @ router).sigmoid()

# %% weights-reversed
# killed_by: output
"""Each token's weights stand in the wrong order: its best expert gets the smallest. Take them from
the places that the experts were taken from."""
def _gates(p, chosen):
    picked = p.gather(1, chosen)
    return (picked / picked.sum(1, keepdim=True)).flip(1)

# %% rows-in-the-order-of-experts
# killed_by: output
"""Your rows come in the order in which experts worked, all tokens of expert 0 first. Every result has
to go back into the row of its token: index_add, or sort back."""
def _combined(x, experts, chosen, kept, gates):
    found = []
    for e, weight in enumerate(experts):
        token, choice = ((chosen == e) & kept).nonzero(as_tuple=True)
        found.append(gates[token, choice, None] * (x[token] @ weight))
    rows = torch.cat(found)
    rows = torch.cat([rows, rows.new_zeros(chosen.numel() - len(rows), rows.shape[1])])
    return rows.reshape(len(x), chosen.shape[1], -1).sum(1)

# %% last-expert-wins
# killed_by: output
"""Each expert's result takes the place of the one before it in the row of a token. They are to be
added: a plain assignment to y[token] keeps the last one."""
def _combined(x, experts, chosen, kept, gates):
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        token, choice = ((chosen == e) & kept).nonzero(as_tuple=True)
        y = y.index_put((token,), gates[token, choice, None] * (x[token] @ weight))
    return y

# %% weights-detached
# killed_by: gradients
"""Your weights are cut from the graph, and the output is right. It tells the router nothing, as if all
experts had the same weight: only the balancing loss moves the router."""
def _gates(p, chosen):
    picked = p.gather(1, chosen)
    return (picked / picked.sum(1, keepdim=True)).detach()

# %% sum-detached
# killed_by: gradients
"""The sum that your weights are divided by is cut from the graph; the output is right. So the gradient
raises all chosen probabilities at once, where only their proportions count."""
def _gates(p, chosen):
    picked = p.gather(1, chosen)
    return picked / picked.sum(1, keepdim=True).detach()

# %% tokens-detached-from-the-router
# killed_by: gradients
"""Your router sees a copy of the tokens that is cut from the graph; the output is right. What comes back
through the weights never reaches x: layers below do not learn how they are routed."""
def _scores(x, router):
    return (x.detach() @ router).softmax(1)

# %% balance-unscaled
# killed_by: balance
"""Your balancing loss lacks the factor E. Where all is even it is 1 / E in place of 1, and its
coefficient means something else for each number of experts."""
def _balance(p, chosen, kept):
    return (_load(p, chosen, kept) * _mean(p)).sum()

# %% first-choices-alone
# killed_by: balance
"""Your shares count first choices only. Of k requests that a token makes you see one, and a load of
second choices has no price. Count all N k requests."""
def _load(p, chosen, kept):
    return torch.bincount(chosen[:, 0], minlength=p.shape[1]).to(p.dtype) / len(chosen)

# %% load-per-token
# killed_by: balance
"""You divide the counts by N. There are N k requests, of which each expert has a share; yours add up
to k, and the loss is k times too large."""
def _load(p, chosen, kept):
    return torch.bincount(chosen.reshape(-1), minlength=p.shape[1]).to(p.dtype) / len(chosen)

# %% probabilities-alone
# killed_by: balance
"""Both of your factors are mean probabilities. They may be even while every token goes to the same
experts: one factor has to be what was sent, which is counted."""
def _load(p, chosen, kept):
    return _mean(p).detach()

# %% probabilities-alone / with-gradient
def _load(p, chosen, kept):
    return _mean(p)

# %% counts-alone
# killed_by: balance
"""Both of your factors are counts. They say how uneven the load is, and no gradient goes through a
count: the loss is printed and moves nothing, and a backward pass raises an exception. The second
factor is the mean probability."""
def _balance(p, chosen, kept):
    return p.shape[1] * (_load(p, chosen, kept) ** 2).sum()

# %% balance-detached
# killed_by: balance-gradient
"""Your balancing loss has the right value, and the mean probability in it is cut from the graph. It
moves nothing: a backward pass raises an exception."""
def _mean(p):
    return p.mean(0).detach()

# %% last-index-first
# killed_by: ties
"""Among experts of equal probability you take those with higher indices. The lower index comes
first."""
def _chosen(p, k):
    last = p.shape[1] - 1
    return last - p.flip(1).sort(dim=1, descending=True, stable=True).indices[:, :k]

# %% token-by-token
# killed_by: capacity
"""You serve all choices of a token before the next token. So an early token's second choice takes the
place of a later one's first. Give out places choice by choice: first choices of all tokens, then
second ones."""
def _kept(chosen, experts, capacity):
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.reshape(-1)
    asked = torch.nn.functional.one_hot(queue, experts)
    before = (asked.cumsum(0) - asked).gather(1, queue[:, None])[:, 0]
    return (before < capacity).reshape(chosen.shape)

# %% places-for-each-choice
# killed_by: capacity
"""You count first choices and second choices apart, so an expert takes up to k times its capacity.
Second choices go on counting where first ones ended."""
def _kept(chosen, experts, capacity):
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    asked = torch.nn.functional.one_hot(chosen, experts)
    before = (asked.cumsum(0) - asked).gather(2, chosen[:, :, None])[:, :, 0]
    return before < capacity

# %% one-place-less
# killed_by: capacity
"""Each of your experts takes one request less than its capacity: a request has its place if fewer
than `capacity` came before it, and the first one has none before it."""
def _kept(chosen, experts, capacity):
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.T.reshape(-1)
    asked = torch.nn.functional.one_hot(queue, experts)
    place = asked.cumsum(0).gather(1, queue[:, None])[:, 0]
    return (place < capacity).reshape(chosen.T.shape).T

# %% latest-requests-stay
# killed_by: capacity
"""Where an expert is full you keep the latest requests. The earliest ones keep their places."""
def _kept(chosen, experts, capacity):
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.T.reshape(-1)
    asked = torch.nn.functional.one_hot(queue, experts)
    after = (asked.sum(0) - asked.cumsum(0)).gather(1, queue[:, None])[:, 0]
    return (after < capacity).reshape(chosen.T.shape).T

# %% served-by-probability
# killed_by: capacity
"""You give places to the most probable tokens first. That is a method of its own; here first choices
are served in the order of tokens, and then second ones."""
def _combined(x, experts, chosen, kept, gates):
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        most = int(((chosen == e) & kept).sum())
        token, choice = (chosen == e).nonzero(as_tuple=True)
        best = gates[token, choice].argsort(descending=True, stable=True)[:most]
        token, choice = token[best], choice[best]
        y = y.index_add(0, token, gates[token, choice, None] * (x[token] @ weight))
    return y

# %% nothing-dropped
# killed_by: capacity
"""You drop no request, whatever the capacity is."""
def _kept(chosen, experts, capacity):
    return torch.ones_like(chosen, dtype=torch.bool)

# %% weights-divided-again
# killed_by: capacity
"""You divide by the weights that are left after drops. What was dropped is lost: the other weights stay
as they were, and the residual connection around the layer carries the rest."""
def _gates_left(gates, kept):
    left = (gates * kept).sum(1, keepdim=True)
    return gates / torch.where(left > 0, left, 1)

# %% token-passes-through
# killed_by: capacity
"""A dropped request of yours adds the token itself. It adds 0; the residual connection is outside of
this layer."""
def _combined(x, experts, chosen, kept, gates):
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        token, choice = ((chosen == e) & kept).nonzero(as_tuple=True)
        y = y.index_add(0, token, gates[token, choice, None] * (x[token] @ weight))
    if experts.shape[1] != experts.shape[2]:
        return y
    return y + (gates * ~kept).sum(1, keepdim=True) * x

# %% token-lost-with-one-request
# killed_by: capacity
"""A token of which one request was dropped gets nothing from its other experts either. Only that
request adds 0."""
def _gates_left(gates, kept):
    return gates * kept.all(1, keepdim=True)

# %% no-places-is-no-limit
# killed_by: no-places
"""You take a capacity of 0 for none given, and drop nothing. Python's 0 is as false as None: compare
with None."""
_counted_kept = _kept

def _kept(chosen, experts, capacity):
    return _counted_kept(chosen, experts, capacity or None)

# %% load-after-drops
# killed_by: balance-before-drops
"""You count what is left after drops. A full expert then looks no fuller than its capacity, and the
loss is smallest where it should be largest. Count requests before any is dropped."""
def _load(p, chosen, kept):
    return torch.bincount(chosen[kept], minlength=p.shape[1]).to(p.dtype) / chosen.numel()

# %% load-after-drops / of-those-left
def _load(p, chosen, kept):
    return torch.bincount(chosen[kept], minlength=p.shape[1]).to(p.dtype) / kept.sum().clamp(min=1)

# %% every-expert-every-token
# killed_by: flops
"""You multiply every token by every expert and throw most of it away: E / k times the work. Gather
the tokens of an expert first."""
def _combined(x, experts, chosen, kept, gates):
    share = torch.zeros(len(x), len(experts), dtype=x.dtype).scatter_add(1, chosen, gates * kept)
    return torch.einsum("ne,nef->nf", share, torch.einsum("nd,edf->nef", x, experts))

# %% own-device-counted
# killed_by: bytes
"""You count every request, also those for an expert on the token's own device. These rows do not leave
it."""
def _rows_by_choice(home, target):
    return target.numel()

def _rows_by_device(home, target, devices):
    return int(torch.nn.functional.one_hot(target, devices).amax(1).sum())

def _rows_reserved(experts, devices, slots):
    return devices * experts * slots

# %% there-and-back
# killed_by: bytes
"""You count the way back as well. Results do travel back, as wide as they are; asked for is the way
there."""
_there = dispatch_bytes

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    there = _there(chosen, experts, devices, width, itemsize, slots)
    return {name: 2 * count for name, count in there.items()}

# %% a-row-for-each-expert
# killed_by: bytes
"""Your per_device counts a row for each request. A token with two experts on one device goes there
once."""
def _rows_by_device(home, target, devices):
    return _rows_by_choice(home, target)

# %% one-device-pads
# killed_by: bytes
"""Your padded is what one device sends. All of them do."""
def _rows_reserved(experts, devices, slots):
    return (experts - experts // devices) * slots

# %% devices-in-turn
# killed_by: bytes
"""You deal tokens and experts out to the devices in turn. Each device holds a run of them: the first
ones are on the first device."""
def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    home, target = torch.arange(len(chosen)) % devices, chosen % devices
    return {
        "per_choice": _rows_by_choice(home, target) * width * itemsize,
        "per_device": _rows_by_device(home, target, devices) * width * itemsize,
        "padded": _rows_reserved(experts, devices, slots) * width * itemsize,
    }

# %% itemsize-forgotten
# killed_by: bytes
"""You count features, and not bytes. A row has width features of itemsize bytes each."""
_in_bytes = dispatch_bytes

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    return _in_bytes(chosen, experts, devices, width, 1, slots)

# %% own-buffers-sent
# killed_by: bytes
"""Your padded has buffers for all experts. Those for the experts of a device itself are not sent; what
you count of requests is right."""
def _rows_reserved(experts, devices, slots):
    return devices * experts * slots

# %% slots-per-device
# killed_by: bytes
"""Your padded has one buffer of slots rows for each other device. It is one for each expert there."""
def _rows_reserved(experts, devices, slots):
    return devices * (devices - 1) * slots

# %% tokens-that-leave
# killed_by: bytes
"""Your per_device counts each token once that leaves its device at all. It sends a row to each device
that has any of its experts."""
def _rows_by_device(home, target, devices):
    return int((target != home[:, None]).any(1).sum())

# %% ties-left-to-topk
# killed_by: ties
"""Among experts of equal probability you do not take the ones with the lower index. Usually this is
p.topk(k), which promises no order among equals: another device, or another version, may take other
experts. A descending sort with stable=True keeps the lower index first."""
def _chosen(p, k):
    return p.topk(k).indices

# %% constant-balance
# killed_by: balance
"""Your balancing loss is the same number wherever the router sends its tokens, and its gradient is
0. Usually the probabilities are averaged over experts, and that mean is 1 / E for every token. P is
the mean over tokens, one number for each expert."""
def _mean(p):
    return p.mean().expand(p.shape[1])

# %% constant-balance / times-k
def _mean(p):
    return p.mean().expand(p.shape[1])

def _load(p, chosen, kept):
    return torch.bincount(chosen.reshape(-1), minlength=p.shape[1]).to(p.dtype) / len(chosen)

# %% asked-at-all
# killed_by: balance
"""Your balancing loss sees whether an expert is asked at all, and not how often: an expert with one
request counts as much as one with a thousand. Usually this is a maximum over one-hot rows. Count
the requests, which is a sum over them."""
def _load(p, chosen, kept):
    return (torch.bincount(chosen.reshape(-1), minlength=p.shape[1]) > 0).to(p.dtype)
