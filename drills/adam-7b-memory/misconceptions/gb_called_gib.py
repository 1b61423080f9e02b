"""A GiB is 10**9 bytes."""


def to_gib(nbytes):
    return nbytes / 10**9
