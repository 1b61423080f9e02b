"""b1 is not added."""

_with_both = forward


def forward(x, W1, b1, W2, b2, act):
    return _with_both(x, W1, np.zeros_like(b1), W2, b2, act)
