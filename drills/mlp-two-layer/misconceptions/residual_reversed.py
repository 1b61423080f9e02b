"""The gradient of the loss points from the output to the target."""


def _residual(y, t, rows):
    return np.where(rows[:, None], t - y, 0)
