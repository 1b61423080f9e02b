"""Stage 3 holds what stage 1 holds: only the optimizer state is split."""


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, 1 if stage == 3 else stage)
    return whole + split / world
