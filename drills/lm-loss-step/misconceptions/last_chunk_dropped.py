"""Wrong idea: whole chunks only; a piece with fewer predictions is one chunk."""

CHUNK = 16


def _sums(E, U, pieces, pad):
    loss, dE, dU, count = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        inputs, targets = _predictions(tokens, pad)
        whole = len(targets) // CHUNK * CHUNK or len(targets)
        for start in range(0, whole, CHUNK):
            chunk = slice(start, start + CHUNK)
            loss += _add_chunk(E, U, inputs[chunk], targets[chunk], dE, dU)
        count += len(targets)
    return loss, dE, dU, count
