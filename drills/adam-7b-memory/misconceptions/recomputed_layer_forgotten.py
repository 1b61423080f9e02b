"""With checkpointing there are the inputs of the layers and the head."""


def _recomputed(model):
    return 0
