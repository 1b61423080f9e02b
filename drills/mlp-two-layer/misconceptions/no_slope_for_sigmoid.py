"""The slope of a ReLU for both activations: with a sigmoid, h is positive and the slope 1."""


def _slope(h, act):
    return h > 0
