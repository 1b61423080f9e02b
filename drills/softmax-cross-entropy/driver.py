"""The descent behind the curve, where the logits themselves are trained; and the answers."""


def descend(program, z, target, rate, steps):
    """Return the losses of `steps` steps of gradient descent, before the first and after each.

    Args:
        program: the functions under test; `cross_entropy` and `cross_entropy_grad` are called.
        z: (B, C), the logits to begin with.
        target: (B,), their classes.
        rate: the learning rate, a float.
        steps: the number of steps, an int.

    Returns:
        A list of steps + 1 floats.
    """
    losses = [float(program.cross_entropy(z, target))]
    for _ in range(steps):
        z = z - rate * program.cross_entropy_grad(z, target)
        losses.append(float(program.cross_entropy(z, target)))
    return losses


def why(program):
    """Return WHY, the letters by question; None where there are no answers."""
    return getattr(program, "WHY", None)
