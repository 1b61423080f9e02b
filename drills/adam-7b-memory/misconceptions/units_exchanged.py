"""A GB is 2**30 bytes and a GiB is 10**9."""


def to_gb(nbytes):
    return nbytes / 2**30


def to_gib(nbytes):
    return nbytes / 10**9
