"""Every ZeRO stage from 1 on splits the whole state, which is 8 bytes per parameter."""


def zero_bytes_per_gpu(n_params, stage, world):
    return 8 * n_params if stage == 0 else 8 * n_params / world
