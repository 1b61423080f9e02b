"""A step is made for every piece."""

right_step = step


def step(params, pieces, rng, drop=DROP, lr=RATE):
    losses = []
    for piece in pieces:
        params, loss = right_step(params, [piece], rng, drop, lr)
        losses.append(loss * len(piece[1]))
    return params, sum(losses) / sum(len(y) for _, y in pieces)
