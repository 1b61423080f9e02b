"""Planning sheet for the 7B run: bytes of state before the first activation."""

BF16, FP32 = 2, 4  # bytes per element


def to_gib(nbytes):
    """Bytes in GiB."""
    return nbytes / 2**30


# why: Small updates vanish in bf16's 8 significant bits, so the mixed recipe
#      adds them up in a fifth tensor, an fp32 copy of the weights.
TENSORS = "weights", "grads", "exp_avg", "exp_avg_sq", "master"

RECIPES = {
    # why: torch.optim.AdamW makes its moments with zeros_like(param), in the
    #      dtype of the parameter, and autocast leaves parameters, gradients
    #      and moments in fp32; neither keeps a copy.
    "bf16_mixed": (BF16, BF16, FP32, FP32, FP32),
    "torch_pure_bf16": (BF16, BF16, BF16, BF16, 0),
    "torch_autocast": (FP32, FP32, FP32, FP32, 0),
    # why 2: One relative holds fp32 gradients instead of bf16 ones, the other
    #      leaves the fp32 copy out; nothing else changes.
    "bf16_mixed_fp32grad": (BF16, FP32, FP32, FP32, FP32),
    "bf16_no_master": (BF16, BF16, FP32, FP32, 0),
}


def training_state(n_params, recipe):
    """Bytes of every tensor with one element per parameter, and their total."""
    widths = zip(TENSORS, RECIPES[recipe])
    state = {name: width * n_params for name, width in widths}
    state["total"] = sum(state.values())
    return state


def to_gb(nbytes):
    """Bytes in GB."""
    # why: The 1024**3 bytes are a GiB, 7.4 % more than the GB of 10**9.
    return nbytes / 10**9


def fits(n_params, recipe, card_mib):
    """Whether the state alone fits on a card of card_mib MiB."""
    total = training_state(n_params, recipe)["total"]
    # why: A card of card_mib / 1024 is in GiB, so the state has to be as
    #      well.
    return to_gib(total) <= card_mib / 1024


# why 2: The stages shard the optimizer's 12 bytes first, then the gradients'
#      2, then the weights' 2; what a stage does not shard stays whole.
WHOLE = 16, 4, 2, 0


def zero_bytes_per_gpu(n_params, stage, world):
    """Bytes of bf16_mixed state on each GPU."""
    return (WHOLE[stage] + (16 - WHOLE[stage]) / world) * n_params


def min_gpus(n_params, usable_bytes, stage=3):
    """Fewest GPUs on which the state is at most usable_bytes each, or None."""
    whole = WHOLE[stage] * n_params
    split = 16 * n_params - whole
    if whole + split <= usable_bytes:
        return 1
    if stage == 0 or whole >= usable_bytes:
        return None
    return int(-(-split // (usable_bytes - whole)))


# why 3: The module is fp32 and so are its shards, their gradients and
#      moments; bf16 exists while a unit is whole: two units, and the gradient
#      of one in both dtypes, 2 + 2 + 2 + 4 bytes.
def fsdp_bytes(model, world):
    """Bytes on each GPU of an fp32 module that is sharded and used in bf16."""
    shard = FP32 * model["params"] / world
    plan = {name: shard for name in TENSORS[:4]}
    plan["gathered"] = 10 * model["largest_unit"]
    return plan


def activation_bytes(model, tokens, checkpoint):
    """Most bytes of activations that are alive at once."""
    d, heads = model["d"], model["heads"]
    kv = d * model["kv_heads"] // heads
    layer = BF16 * (6 * d + 2 * kv + 4 * model["f"]) + FP32 * (2 + heads)
    # Log-probabilities, their gradient and that of the logits, in fp32.
    head = BF16 * 2 * d + FP32 * (1 + 3 * model["vocab"])
    if not checkpoint:
        return tokens * (model["layers"] * layer + head)
    entry = BF16 * d
    return tokens * (model["layers"] * entry + max(head, layer - entry))


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    """Most tokens per GPU within (1 - headroom) of the card."""
    room = (1 - headroom) * card_mib * 2**20
    room -= sum(fsdp_bytes(model, world).values())
    return max(0, room // activation_bytes(model, 1, checkpoint))
