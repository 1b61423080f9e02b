"""A layer through several calls. Every `batches` is (S, B, n), a batch for each of S calls."""

import numpy as np


def _load(layer, mean, var):
    """Put the layer into evaluation mode, with running statistics as from a checkpoint."""
    layer.running_mean, layer.running_var = mean, var
    layer.training = False


def _running(layer):
    return np.array(layer.running_mean), np.array(layer.running_var)


def train(_program, layer, batches):
    """Return the outputs in training mode, (S, B, n)."""
    return np.stack([layer.forward(x) for x in batches])


def statistics(_program, layer, batches):
    """Return the running means and variances after each batch in training mode, (S, n) each."""
    after = []
    for x in batches:
        layer.forward(x)
        after.append(_running(layer))
    means, variances = zip(*after, strict=True)
    return np.stack(means), np.stack(variances)


def means(_program, layer, batches):
    """Return the running means alone."""
    return statistics(_program, layer, batches)[0]


def variances(_program, layer, batches):
    """Return the running variances alone."""
    return statistics(_program, layer, batches)[1]


def trained(_program, layer, batches):
    """Return the outputs in training mode, and the running statistics after each batch."""
    outputs, after = [], []
    for x in batches:
        outputs.append(layer.forward(x))
        after.append(_running(layer))
    means, variances = zip(*after, strict=True)
    return np.stack(outputs), np.stack(means), np.stack(variances)


def evaluate(_program, layer, mean, var, batches):
    """Return the outputs in evaluation mode, (S, B, n), with the running statistics given."""
    _load(layer, mean, var)
    return np.stack([layer.forward(x) for x in batches])


def left(_program, layer, mean, var, batches):
    """Return the running statistics after batches in evaluation mode."""
    _load(layer, mean, var)
    for x in batches:
        layer.forward(x)
    return _running(layer)


def in_turn(_program, layer, batches):
    """Return outputs (S, B, n) and running statistics (S, n); every second batch is evaluated."""
    outputs, after = [], []
    for call, x in enumerate(batches):
        layer.training = call % 2 == 0
        outputs.append(layer.forward(x))
        after.append(_running(layer))
    means, variances = zip(*after, strict=True)
    return np.stack(outputs), np.stack(means), np.stack(variances)


def forward(_program, layer, x):
    """Return y of one batch, in the mode that the layer is in."""
    return layer.forward(x)


def forward_loaded(_program, layer, mean, var, x):
    """Return y of one batch in evaluation mode, with the running statistics given."""
    _load(layer, mean, var)
    return layer.forward(x)


def forward_training(_program, layer, x):
    """Return y of one batch in training mode, whatever the mode was before."""
    layer.training = True
    return layer.forward(x)


def backward(_program, layer, grad_y):
    """Return the three gradients of the latest forward."""
    return layer.backward(grad_y)


def switched(_program, layer, x, x_other, grad_y):
    """Return gradients of a batch in training mode, then of one in evaluation mode.

    The mode is switched between each forward and its backward.
    """
    layer.forward(x)
    layer.training = False
    trained = layer.backward(grad_y)
    layer.forward(x_other)
    layer.training = True
    return (*trained, *layer.backward(grad_y))


def running(_program, layer):
    """Return copies of the running statistics."""
    return _running(layer)


def refused(_program, layer, mean, var, x):
    """Return whether a batch in training mode is refused, and the running statistics after it."""
    _load(layer, mean, var)
    layer.training = True
    try:
        layer.forward(x)
    except ValueError:
        return True, *_running(layer)
    return False, *_running(layer)


def two_layers(program, gamma, beta, x, x_other, grad_y):
    """Return running means, variances and gradients of x of two layers that are used in turn."""
    one, other = (program.BatchNorm1d(gamma, beta) for _ in range(2))
    one.forward(x)
    other.forward(x_other)
    found = [layer.backward(grad_y)[0] for layer in (one, other)]
    pairs = zip(_running(one), _running(other), strict=True)
    return (*(np.stack(pair) for pair in pairs), np.stack(found))
