"""What the program starts with, the loss and its gradients, and what becomes of the arguments."""

import math

import torch
import torch.nn.functional as F

SIZES = ((32, 64, 10), (7, 256, 3), (50, 33, 40))  # d, h, c


def _params(w1, w2):
    """Parameters of their own, so that no gradient is left from before."""
    return {"w1": w1.detach().clone().requires_grad_(), "w2": w2.detach().clone().requires_grad_()}


def start(program, seeds):
    """How far above log(c) the first loss is, on 200 rows of standard normal numbers.

    For each of three sizes and each seed, in rising order.
    """
    found = []
    for d, h, c in SIZES:
        for seed in map(int, seeds):
            params = program.init_params(d, h, c, seed)
            rng = torch.Generator().manual_seed(seed + 1)
            x = torch.randn(200, d, generator=rng)
            y = torch.randint(c, (200,), generator=rng)
            with torch.no_grad():
                hidden = F.layer_norm(x @ params["w1"], (h,)).relu()
                loss = F.cross_entropy(hidden @ params["w2"], y)
            found.append(loss.item() - math.log(c))
    return sorted(found)


def weights(program, seeds):
    """Shapes; dtypes, and whether they are leaves with gradients; whether seeds decide."""
    seed = int(seeds[0])
    first, again, other = (program.init_params(3, 5, 2, s) for s in (seed, seed, seed + 1))
    default, spelled = program.init_params(), program.init_params(32, 64, 10, 0)
    shapes = [list(p[name].shape) for p in (first, default) for name in ("w1", "w2")]
    facts = [
        all(w.dtype == torch.float32 and w.requires_grad and w.is_leaf for w in first.values()),
        all(torch.equal(first[name], again[name]) for name in ("w1", "w2")),
        all(torch.equal(default[name], spelled[name]) for name in ("w1", "w2")),
        not torch.equal(first["w1"], other["w1"]),
    ]
    return shapes, facts


def loss(program, w1, w2, x, y):
    """The loss, a number."""
    return program.loss_fn(_params(w1, w2), x.detach().clone(), y.clone()).item()


def gradients(program, w1, w2, x, y):
    """The gradients of the loss, by backward."""
    params = _params(w1, w2)
    program.loss_fn(params, x.detach().clone(), y.clone()).backward()
    return [w.grad for w in params.values()]


def changed(program, w1, w2, x, y):
    """Whether a call changed x, y, w1 or w2."""
    params = _params(w1, w2)
    given = [x.detach().clone(), y.clone(), params["w1"], params["w2"]]
    before = [t.detach().clone() for t in given]
    program.loss_fn(params, given[0], given[1])
    return [
        not torch.allclose(t.detach(), old, rtol=0, atol=0, equal_nan=True)
        for t, old in zip(given, before, strict=True)
    ]


def without_labels(program, w1, w2, x):
    """The loss of a batch in which no row has a label, and its gradients."""
    params = _params(w1, w2)
    found = program.loss_fn(params, x.detach().clone(), torch.full((len(x),), -1))
    found.backward()
    return found.item(), *(w.grad for w in params.values())


def shown(program, w1, w2, x, y):
    """Return if the loss is NaN with a NaN in each row of x in turn, in w1, and in w2."""
    found = []
    for spoiled in range(len(x) + 2):
        given = [t.detach().clone() for t in (x, w1, w2)]
        if spoiled < len(x):
            given[0][spoiled, 0] = torch.nan
        else:
            given[spoiled - len(x) + 1][-1, 0] = torch.nan
        found.append(program.loss_fn(_params(*given[1:]), given[0], y.clone()).isnan().item())
    return found
