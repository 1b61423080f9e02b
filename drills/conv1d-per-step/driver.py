"""The training loop behind the curve: find a filter from signals and what it made of them."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def identify(program, signal, true_w, true_b, lr, steps):
    """Return the losses of `steps` SGD steps from zero weights, the last one after the last step.

    The loop ends early when the weights change shape: there is nothing sensible left to train.

    Args:
        program: the functions under test; only `train_step` is called.
        signal: (N, Cin, L), the inputs.
        true_w: (Cout, Cin, K), the filter that made the targets (stride 1, no padding).
        true_b: (Cout,), its bias.
        lr: the learning rate, a float.
        steps: the number of steps, an int.

    Returns:
        A list of at most steps + 1 floats.
    """
    windows = sliding_window_view(signal, true_w.shape[2], axis=2)
    target = np.einsum("nctk,ock->not", windows, true_w) + true_b[:, None]
    w, b = np.zeros_like(true_w), np.zeros_like(true_b)
    losses = []
    for _ in range(steps + 1):
        w, b, loss = program.train_step(w, b, signal, target, lr, 1, 0)
        losses.append(float(loss))
        if np.shape(w) != true_w.shape or np.shape(b) != true_b.shape:
            break
    return losses
