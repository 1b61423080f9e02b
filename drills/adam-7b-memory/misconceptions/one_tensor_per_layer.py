"""A layer keeps one tensor of tokens by d, its output."""


def _layer(model):
    return BF16 * model["d"]
