"""The count is one ahead when the moments are corrected."""


def _correction(beta, steps):
    return 1 - beta ** (steps + 1)
