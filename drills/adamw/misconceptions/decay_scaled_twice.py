"""The decay is multiplied by lr twice."""

right_decayed = _decayed


def _decayed(p, lr, decay):
    return right_decayed(p, lr, lr * decay)
