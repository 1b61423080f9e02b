"""Wrong idea: a prediction counts when its input is not padding."""


def _counts(inputs, targets, pad):
    return inputs != pad
