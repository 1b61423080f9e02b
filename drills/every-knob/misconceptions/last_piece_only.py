"""The gradients of every piece but the last of a batch are lost."""


def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses, gradients = zip(*[_sums(params, x, y, rng, drop) for x, y in pieces], strict=True)
    rows = sum(len(y) for _, y in pieces)
    new = {name: p - lr * gradients[-1][name] / rows for name, p in params.items()}
    return new, sum(losses) / rows
