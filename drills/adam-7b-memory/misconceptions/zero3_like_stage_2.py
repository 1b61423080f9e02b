"""Weights are needed in every forward pass, so even stage 3 holds them whole."""


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _zero_bytes(n_params, 2 if stage == 3 else stage)
    return whole + split / world
