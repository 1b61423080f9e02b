"""State fits only when it leaves some memory free."""


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    room = gpu_bytes - whole
    if room <= 0:
        return None
    return 1 if split == 0 else split // room + 1
