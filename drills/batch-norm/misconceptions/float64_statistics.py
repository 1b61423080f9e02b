"""The running statistics are float64, and so is what is made with them."""


def _initial(gamma):
    return np.zeros(len(gamma)), np.ones(len(gamma))
