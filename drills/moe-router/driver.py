"""What a layer of experts cannot do without, to compare its FLOPs with."""


def needed(program, x, router, experts, k):  # noqa: ARG001
    """Return a sum that takes the scores, and N k rows times an expert.

    It has as many additions as a loop over experts and choices.
    """
    y = (x @ router).sum(1, keepdim=True)
    for choice in range(k):
        rows = x @ experts[choice]
        for _ in experts:
            y = y + rows
    return y
