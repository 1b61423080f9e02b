"""With momentum=None the initial 0 and 1 count as a batch."""


def _share(momentum, batches):
    return 1 / (batches + 1) if momentum is None else momentum
