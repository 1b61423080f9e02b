"""Style: a library's model, which shifts logits and labels itself and masks labels with -100."""

import numpy as np

IGNORE = -100


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def loss_and_grad(E, U, tokens, pad=0):
    labels = np.where(tokens == pad, IGNORE, tokens)
    hidden = E[tokens]
    logits = hidden @ U
    shift_logits = logits[..., :-1, :].reshape(-1, U.shape[1])
    shift_labels = labels[..., 1:].reshape(-1)
    active = shift_labels != IGNORE
    probs = softmax(shift_logits)
    safe = np.where(active, shift_labels, 0)
    nll = -np.log(probs[np.arange(len(safe)), safe])
    loss = nll[active].mean()

    dlogits = probs
    dlogits[np.arange(len(safe)), safe] -= 1
    dlogits = dlogits * active[:, None] / active.sum()
    h = hidden[..., :-1, :].reshape(-1, E.shape[1])
    dU = h.T @ dlogits
    dE = np.zeros(E.shape)
    np.add.at(dE, tokens[..., :-1].reshape(-1), dlogits @ U.T)
    return loss, dE, dU
