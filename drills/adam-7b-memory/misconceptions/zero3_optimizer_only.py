"""ZeRO splits the optimizer state; stages 2 and 3 are about communication, not memory."""


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, 1 if stage in (2, 3) else stage)
    return whole + split / world
