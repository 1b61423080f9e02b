"""FSDP2 holds what the paper's mixed precision holds: bf16 weights and gradients, an fp32 copy."""


def fsdp_bytes(model, world):
    widths = {"weights": 2, "grads": 2, "exp_avg": 4, "exp_avg_sq": 4, "master": 4}
    parts = {part: width * model["params"] / world for part, width in widths.items()}
    return {**parts, "gathered": GATHERED * model["largest_unit"]}
