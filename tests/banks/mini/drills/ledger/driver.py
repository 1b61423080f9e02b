"""A descent of twelve steps."""


def descend(program, x, rate):
    """Return the losses before each step and after the last."""
    losses = [x * x]
    for _ in range(12):
        x = program.step(x, rate)
        losses.append(x * x)
    return losses
