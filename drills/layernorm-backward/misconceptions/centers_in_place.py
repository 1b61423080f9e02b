def _centered(x):
    x -= _mean(x)
    return x
