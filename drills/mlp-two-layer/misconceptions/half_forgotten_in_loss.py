"""The squares are not halved in the loss; its gradient is that of half the squares."""


def _half_of_squares(residual):
    return float((residual * residual).sum())
