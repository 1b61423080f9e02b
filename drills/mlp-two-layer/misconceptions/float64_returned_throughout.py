"""Everything is computed in float64, and returned so."""

right_forward, right_backward, right_error = forward, backward, half_squared_error


def forward(x, W1, b1, W2, b2, act):
    return right_forward(*(a.astype(np.float64) for a in (x, W1, b1, W2, b2)), act)
