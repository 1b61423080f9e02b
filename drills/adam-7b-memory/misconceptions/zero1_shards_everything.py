"""Every ZeRO stage from 1 on splits the whole state."""


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, stage)
    return whole + split if stage == 0 else (whole + split) / world
