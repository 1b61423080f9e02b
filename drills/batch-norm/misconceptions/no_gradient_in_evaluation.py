"""In evaluation no gradient reaches x."""


def _gradient_in_evaluation(g, _xhat, _rstd):
    return 0 * g
