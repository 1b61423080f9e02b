"""The share that goes is the decay, whatever the learning rate."""


def _decayed(p, lr, decay):
    return p * (1 - decay)
