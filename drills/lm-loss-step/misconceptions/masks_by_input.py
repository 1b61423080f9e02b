"""Wrong idea: a prediction counts when its input is not padding."""


def _predictions(tokens, pad):
    inputs, targets = _shifted(tokens)
    counted = inputs != pad
    return inputs[counted], targets[counted]
