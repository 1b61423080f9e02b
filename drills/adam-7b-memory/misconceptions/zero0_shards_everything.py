"""Every ZeRO stage, 0 included, splits the whole state."""


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, stage)
    return (whole + split) / world
