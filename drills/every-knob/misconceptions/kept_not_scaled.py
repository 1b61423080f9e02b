"""Nothing makes up for the units that are dropped."""


def _mask(shape, rng, drop):
    return (rng.random(shape) >= drop).astype(float)
