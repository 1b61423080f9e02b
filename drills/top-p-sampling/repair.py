"""Token sampling: temperature, top-k, nucleus (top-p), and a draw."""

import numpy as np

# why 2: A divisor for rows without a token.
TINY = np.finfo(np.float64).tiny


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    """Return the distribution, in the order of the vocabulary."""
    # why 3: What is made on the way is as large as its input, so one row at a time is enough.
    rows = [probs_of_row(row[None], temperature, top_k, top_p) for row in logits]
    return np.concatenate(rows)


def probs_of_row(logits, temperature, top_k, top_p):
    # why 2: At temperature 0 the first of the most probable tokens is left, which is top_k = 1.
    if temperature == 0:
        temperature, top_k = 1.0, 1
    z = logits / temperature
    # why 2: With k at V or above nothing is dropped. Of the logits that equal the k-th largest the
    #        first stay, until there are k.
    if 0 < top_k < z.shape[1]:
        kth = np.partition(z, -top_k, axis=1)[:, [-top_k]]
        room = top_k - (z > kth).sum(axis=1, keepdims=True)
        tied = (z == kth) & (np.cumsum(z == kth, axis=1) <= room)
        z = np.where((z > kth) | tied, z, -np.inf)
    # why 2: Where all tokens are banned the maximum is -inf and the sum 0. With 0 taken off, and a
    #        divisor above 0, the probabilities are 0.
    top = z.max(axis=1, keepdims=True)
    e = np.exp(z - np.where(np.isfinite(top), top, 0))
    p = e / np.maximum(e.sum(axis=1, keepdims=True), TINY)
    if top_p < 1:
        # why 3: Only tokens that top_k left can be in the nucleus: those are sorted, and no others.
        left = np.flatnonzero(p[0])
        order = left[np.argsort(-p[0, left], kind="stable")][None]
        total = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
        # why: A token is needed while the total before it is below top_p. Asked of the total with it,
        #      the token that carries it past top_p is lost.
        keep = np.roll(total, 1, axis=1) < top_p
        # why 2: A row without a token has no first one.
        keep[:, :1] = True
        # why 3: order holds fewer tokens than the row now.
        mask = np.zeros(p.shape, bool)
        np.put_along_axis(mask, order, keep, axis=1)
        p = np.where(mask, p, 0)
        # why 2: A row without a token has a sum of 0 here, too.
        p /= np.maximum(p.sum(axis=1, keepdims=True), TINY)
    return p


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    """Return a token for each row, drawn with that row's u."""
    p = probs(logits, temperature, top_k, top_p)
    total = np.cumsum(p, axis=1)
    # why 2: side="right" asks for a total that exceeds u, so a u of 0 draws no banned token. Where
    #        none exceeds it the last token that has a probability is drawn, and -1 where none has.
    last = np.where(p.any(axis=1), p.shape[1] - 1 - np.argmax(p[:, ::-1] > 0, axis=1), -1)
    found = [np.searchsorted(row, x, side="right") for row, x in zip(total, u, strict=True)]
    return np.minimum(found, last)
