"""The learning rate is a thousandth."""

right_step = step


def step(params, pieces, rng, drop=DROP, lr=0.00015):
    return right_step(params, pieces, rng, drop, lr)
