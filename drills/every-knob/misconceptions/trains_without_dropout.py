"""The steps of a run drop nothing, though `step` can."""

right_train, right_step = train, step


def train(seed):
    global step
    step = lambda params, pieces, rng: right_step(params, pieces, rng, 0.0)
    try:
        return right_train(seed)
    finally:
        step = right_step
