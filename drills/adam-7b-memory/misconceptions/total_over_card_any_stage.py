"""The number of GPUs is the whole state divided by what one of them holds, at any stage."""


def min_gpus(n_params, usable_bytes, stage=3):
    return max(1, -(-sum(_zero_bytes(n_params, stage)) // usable_bytes))
