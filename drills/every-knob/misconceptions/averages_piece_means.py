"""The step takes the mean of the pieces' mean gradients, so that 4 rows weigh as much as 20."""


def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses, means = [], []
    for x, y in pieces:
        loss, gradients = _sums(params, x, y, rng, drop)
        losses.append(loss / len(y))
        means.append({name: g / len(y) for name, g in gradients.items()})
    new = {
        name: p - lr * sum(mean[name] for mean in means) / len(pieces)
        for name, p in params.items()
    }
    return new, sum(losses) / len(pieces)
