"""The quotient is taken whatever room is left: no room raises, too little gives less than 1."""


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    if split == 0:
        return 1 if whole <= gpu_bytes else None
    return -(-split // (gpu_bytes - whole))
