"""The state keeps the last move too."""

right_move = _move


def _move(own, lr, beta1, beta2, eps):
    own["move"] = right_move(own, lr, beta1, beta2, eps)
    return own["move"]
