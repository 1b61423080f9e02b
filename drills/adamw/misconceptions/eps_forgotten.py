"""Nothing is added to the root."""

right_move = _move


def _move(own, lr, beta1, beta2, eps):
    with np.errstate(all="ignore"):
        return right_move(own, lr, beta1, beta2, 0.0)
