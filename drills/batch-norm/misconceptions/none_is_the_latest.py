"""With momentum=None the running statistics are those of the latest batch."""


def _share(momentum, batches):
    return 1 if momentum is None else momentum
