"""The quotient of what is split and the room for it, rounded down: 0 where one GPU is enough."""

_rounded_up = min_gpus


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0 or usable_bytes <= whole:
        return _rounded_up(n_params, usable_bytes, stage)
    return split // (usable_bytes - whole)
