"""Wrong idea: in both gradients of a piece each chunk replaces the one before it."""

CHUNK = 16


def _sums(E, U, pieces, pad):
    loss, dE, dU, count = 0.0, np.zeros_like(E), np.zeros_like(U), 0
    for tokens in pieces:
        inputs, targets = _predictions(tokens, pad)
        piece_dE, piece_dU = np.zeros_like(E), np.zeros_like(U)
        for start in range(0, len(targets), CHUNK):
            chunk = slice(start, start + CHUNK)
            piece_dE, piece_dU = np.zeros_like(E), np.zeros_like(U)
            loss += _add_chunk(E, U, inputs[chunk], targets[chunk], piece_dE, piece_dU)
        dE += piece_dE
        dU += piece_dU
        count += len(targets)
    return loss, dE, dU, count
