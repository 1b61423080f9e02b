"""Cards that would be full to the byte are not enough."""


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _zero_bytes(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room > 0 else None
    return split // room + 1 if room > 0 else None
