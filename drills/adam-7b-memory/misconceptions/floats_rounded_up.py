"""math.ceil of a float quotient is the number of GPUs."""

import math


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    room = gpu_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    return math.ceil(split / room) if room > 0 else None
