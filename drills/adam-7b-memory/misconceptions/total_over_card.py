"""The number of GPUs is the whole state divided by what one of them holds; stage 0 has only one."""


def min_gpus(n_params, usable_bytes, stage=3):
    total = sum(_zero_bytes(n_params, stage))
    if stage == 0:
        return 1 if total <= usable_bytes else None
    return max(1, -(-total // usable_bytes))
