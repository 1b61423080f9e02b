"""The running variance begins at 0."""


def _initial(gamma):
    return np.zeros_like(gamma), np.zeros_like(gamma)
