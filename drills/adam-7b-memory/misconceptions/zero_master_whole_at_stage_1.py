"""Stage 1 shards the two moments only; the master copy follows with the gradients at stage 2."""


def _zero_bytes(n_params, stage):
    if stage not in ZERO:
        raise ValueError(f"unknown ZeRO stage {stage!r}: expected 0, 1, 2 or 3")
    whole, split = (8, 8) if stage == 1 else ZERO[stage]
    return whole * n_params, split * n_params
