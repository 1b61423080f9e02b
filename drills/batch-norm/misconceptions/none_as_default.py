"""momentum=None is taken for 0.1."""


def _share(momentum, batches):
    return 0.1 if momentum is None else momentum
