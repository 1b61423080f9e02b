"""The master copy is left whole on each GPU at every stage from 1 on."""


def _zero_bytes(n_params, stage):
    whole, split = ZERO[stage]
    if stage:
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params
