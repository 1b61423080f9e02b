"""The quotient is taken whatever room is left: no room raises, too little gives 1."""


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0:
        return 1 if whole <= usable_bytes else None
    return max(1, -(-split // (usable_bytes - whole)))
