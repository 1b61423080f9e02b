"""Wrong idea: each token predicts the one before it; a pair counts when its later token is real."""


def _shifted(tokens):
    return tokens[:, 1:], tokens[:, :-1]


def _predictions(tokens, pad):
    inputs, targets = _shifted(tokens)
    counted = inputs != pad
    return inputs[counted], targets[counted]
