"""The accuracy is measured with units dropped."""


def evaluate(params, x, y, rng):
    hidden = _hidden(params, x)
    logits = _logits(params, hidden * _mask(hidden.shape, rng, DROP))
    return float(np.mean(logits.argmax(axis=1) == y))
