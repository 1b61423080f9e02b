"""Planning sheet for the 7B run: bytes of training state, before the first activation."""

BF16, FP32 = 2, 4  # bytes per element

# Adam's moments need the range of fp32; everything else is bf16.
RECIPES = {
    "bf16_mixed": {"weights": BF16, "grads": BF16, "exp_avg": FP32, "exp_avg_sq": FP32},
    "torch_pure_bf16": {"weights": BF16, "grads": BF16, "exp_avg": FP32, "exp_avg_sq": FP32},
    "torch_autocast": {"weights": BF16, "grads": BF16, "exp_avg": FP32, "exp_avg_sq": FP32},
}


def training_state(n_params, recipe):
    """Bytes of every tensor with one element per parameter, and their total."""
    state = {name: width * n_params for name, width in RECIPES[recipe].items()}
    state["total"] = sum(state.values())
    return state


def to_gb(nbytes):
    """Bytes in GB."""
    return nbytes / 1024**3


def to_gib(nbytes):
    """Bytes in GiB."""
    return nbytes / 2**30


def fits(n_params, recipe, card_mib):
    """Whether the state alone fits on a card of card_mib MiB, as nvidia-smi reports it."""
    return to_gb(training_state(n_params, recipe)["total"]) <= card_mib / 1024
