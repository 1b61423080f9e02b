"""The running variance follows the variance that divides by the count."""


def _stored_variance(x, var):
    return var
