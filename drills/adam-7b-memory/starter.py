"""Planning sheet for the 7B run: what the cards hold before the first activation.

Conclusion on the slide: 56 GB of state, so the model trains on one 80 GB card.
"""

BF16, FP32 = 2, 4  # bytes per element

WIDTH = {
    "bf16_mixed": BF16,
    "bf16_mixed_fp32grad": BF16,
    "bf16_no_master": BF16,
    "torch_pure_bf16": BF16,
    "torch_autocast": FP32,
}


def training_state(n_params, recipe):
    """Bytes of weights, gradients, both Adam moments and the master copy, and their total."""
    if recipe not in WIDTH:
        raise ValueError(f"unknown recipe: {recipe!r}")
    width = WIDTH[recipe]
    state = {
        "weights": width * n_params,
        "grads": width * n_params,
        "exp_avg": width * n_params,
        "exp_avg_sq": width * n_params,
        "master": 0,
    }
    if recipe == "bf16_mixed_fp32grad":
        state["grads"] = FP32 * n_params
    state["total"] = sum(state.values())
    return state


def to_gb(nbytes):
    """Bytes in GB."""
    return nbytes / 1024**3


def to_gib(nbytes):
    """Bytes in GiB."""
    return nbytes / 2**30


def zero_bytes_per_gpu(n_params, stage, world):
    """Bytes of bf16_mixed state on each of `world` GPUs under ZeRO stage 0 to 3."""
    if stage not in (0, 1, 2, 3):
        raise ValueError(f"unknown ZeRO stage: {stage!r}")
    total = training_state(n_params, "bf16_mixed")["total"]
    return total if stage == 0 else total / world


def min_gpus(n_params, gpu_bytes, stage=3):
    """Smallest number of GPUs on which the bf16_mixed state fits, None if there is none."""
    if stage not in (0, 1, 2, 3):
        raise ValueError(f"unknown ZeRO stage: {stage!r}")
    total = training_state(n_params, "bf16_mixed")["total"]
    if stage == 0:
        return 1 if total <= gpu_bytes else None
    return max(1, -(-total // gpu_bytes))  # rounds up
