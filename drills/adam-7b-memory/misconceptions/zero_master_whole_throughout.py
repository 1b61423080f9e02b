"""The master copy is left whole on each GPU at every stage from 1 on."""


def _zero_bytes(n_params, stage):
    if stage not in ZERO:
        raise ValueError(f"unknown ZeRO stage {stage!r}: expected 0, 1, 2 or 3")
    whole, split = ZERO[stage]
    if stage:
        whole, split = whole + 4, split - 4
    return whole * n_params, split * n_params
