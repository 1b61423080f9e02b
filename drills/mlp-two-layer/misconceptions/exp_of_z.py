"""exp(z) / (1 + exp(z)): infinity divided by infinity where z is large."""

right_activation = _activation


def _activation(z, act):
    return right_activation(z, act) if act == "relu" else np.exp(z) / (1 + np.exp(z))
