"""The master copy is weights, not optimizer state: stages 1 and 2 leave it whole on each GPU."""


def _zero_bytes(n_params, stage):
    whole, split = ZERO[stage]
    if stage in (1, 2):
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params
