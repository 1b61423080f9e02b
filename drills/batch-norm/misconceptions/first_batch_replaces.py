"""The first batch takes the place of the initial statistics."""


def _share(momentum, batches):
    return 1 if batches == 1 else momentum
