"""Stage 1 shards the two moments only; the master copy follows with the gradients at stage 2."""


def _zero_bytes(n_params, stage):
    whole, split = ZERO[stage]
    if stage == 1:
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params
