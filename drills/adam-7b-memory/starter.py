"""Planning sheet for the 7B run: bytes of state before the first activation."""

BF16, FP32 = 2, 4  # bytes per element


def to_gib(nbytes):
    """Bytes in GiB."""
    return nbytes / 2**30


TENSORS = "weights", "grads", "exp_avg", "exp_avg_sq"

RECIPES = {
    "bf16_mixed": (BF16, BF16, FP32, FP32),
    "torch_pure_bf16": (BF16, BF16, FP32, FP32),
    "torch_autocast": (BF16, BF16, FP32, FP32),
}


def training_state(n_params, recipe):
    """Bytes of every tensor with one element per parameter, and their total."""
    widths = zip(TENSORS, RECIPES[recipe])
    state = {name: width * n_params for name, width in widths}
    state["total"] = sum(state.values())
    return state


def to_gb(nbytes):
    """Bytes in GB."""
    return nbytes / 1024**3


def fits(n_params, recipe, card_mib):
    """Whether the state alone fits on a card of card_mib MiB."""
    total = training_state(n_params, recipe)["total"]
    return to_gb(total) <= card_mib / 1024
