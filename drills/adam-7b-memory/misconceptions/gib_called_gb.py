"""A GB is 1024**3 bytes."""


def to_gb(nbytes):
    return nbytes / 1024**3
