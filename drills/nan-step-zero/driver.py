"""What the program starts with, the loss and its gradients, and what becomes of the arguments."""

import math

import numpy as np
import torch
import torch.nn.functional as F

SIZES = np.array([[32, 64, 10], [7, 256, 3], [50, 33, 40]])  # d, h, c, and a few more of each


def _params(w1, w2):
    """Parameters of their own, so that no gradient is left from before."""
    return {"w1": w1.detach().clone().requires_grad_(), "w2": w2.detach().clone().requires_grad_()}


def _each(more, seeds):
    """Return d, h, c and the seed of every network that is looked at."""
    sizes = (SIZES + np.asarray(more)).tolist()
    return [(*size, int(seed)) for size in sizes for seed in seeds]


def begun(program, more, seeds):
    """Return w1 and w2 of networks: of each size, with each seed."""
    every = [program.init_params(*one) for one in _each(more, seeds)]
    return [[params["w1"], params["w2"]] for params in every]


def start(begun, more, seeds):
    """Return how far above log(c) the first losses are, on 200 rows of standard normal numbers.

    They come in rising order. A network of another size has NaN, which comes last.
    """
    found = []
    for (d, h, c, seed), given in zip(_each(more, seeds), begun, strict=True):
        w1, w2 = (torch.as_tensor(w).float() for w in given)
        if [*w1.shape, *w2.shape] != [d, h, h, c]:
            found.append(math.nan)
            continue
        rng = torch.Generator().manual_seed(seed + 1)
        x = torch.randn(200, d, generator=rng)
        y = torch.randint(c, (200,), generator=rng)
        hidden = F.layer_norm(x @ w1, (h,)).relu()
        found.append(F.cross_entropy(hidden @ w2, y).item() - math.log(c))
    return sorted(found, key=lambda above: (math.isnan(above), above))


def drawn(program, more, seeds):
    """Return w1 and w2 of a seed, of the same again, of another seed, and of the defaults twice.

    The last result says of the first ones whether they are leaves that require gradients.
    """
    size, seed = [3 + int(n) for n in more[0]], int(seeds[0])
    every = [program.init_params(*size, s) for s in (seed, seed, seed + 1)]
    every += [program.init_params(), program.init_params(32, 64, 10, 0)]
    leaves = [w.requires_grad and w.is_leaf for w in every[0].values()]
    return [[params["w1"], params["w2"]] for params in every], leaves


def weights(every, leaves):
    """Judge weights: their shapes, if they are float32 leaves, and if seeds decide about them."""
    first, again, other, default, spelled = every

    def same(some, others):
        return all(np.array_equal(a, b) for a, b in zip(some, others, strict=True))

    facts = [
        all(leaves) and all(w.dtype == np.float32 for w in first),
        same(first, again),
        same(default, spelled),
        not np.array_equal(first[0], other[0]),
    ]
    return [list(w.shape) for w in first + default], facts


def loss(program, w1, w2, x, y):
    """The loss, a number."""
    return program.loss_fn(_params(w1, w2), x.detach().clone(), y.clone()).item()


def gradients(program, w1, w2, x, y):
    """The gradients of the loss, by backward."""
    params = _params(w1, w2)
    program.loss_fn(params, x.detach().clone(), y.clone()).backward()
    return [w.grad for w in params.values()]


def after(program, w1, w2, x, y):
    """Return x, y, w1 and w2 after a call."""
    params = _params(w1, w2)
    given = [x.detach().clone(), y.clone(), params["w1"], params["w2"]]
    program.loss_fn(params, given[0], given[1])
    return [t.detach().clone() for t in given]


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
