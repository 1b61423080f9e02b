"""What a training run with Adam holds: the state by recipe, ZeRO's and FSDP2's shares, activations.

Everything is counted in bytes.  A tensor with one element per parameter costs its itemsize per
parameter, and the state is the list of those tensors.
"""

from __future__ import annotations

BF16, FP32 = 2, 4  # bytes per element

PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")

# Bytes per parameter, in the order of PARTS.
# Sources: Micikevicius et al., arXiv:1710.03740, section 3.1 (the fp32 master copy);
# Rajbhandari et al., arXiv:1910.02054, section 3.1 (16 bytes per parameter for mixed precision);
# torch/optim/adam.py, Adam._init_group (the moments are zeros_like(param)).
RECIPES = {
    "bf16_mixed": (2, 2, 4, 4, 4),
    "torch_pure_bf16": (2, 2, 2, 2, 0),
    "torch_autocast": (4, 4, 4, 4, 0),
    "bf16_mixed_fp32grad": (2, 4, 4, 4, 4),
    "bf16_no_master": (2, 2, 4, 4, 0),
}

GB = 10**9
GIB = 2**30
MIB = 2**20

# Bytes per parameter of bf16_mixed as (whole on every GPU, split over all of them), by ZeRO stage.
# With the paper's 2 + 2 + K and K = 12: each stage moves one term from the left to the right.
# Source: Rajbhandari et al., arXiv:1910.02054, figure 1 and section 5.
ZERO = {0: (16, 0), 1: (4, 12), 2: (2, 14), 3: (0, 16)}

# FSDP2, by parts: the sharded weights are fp32, so no other copy of them is needed.
SHARDED = {"weights": FP32, "grads": FP32, "exp_avg": FP32, "exp_avg_sq": FP32}

# Bytes per parameter of a unit while it is whole: two units in bf16, one gradient in both dtypes.
GATHERED = 2 * BF16 + BF16 + FP32


def training_state(n_params: int, recipe: str) -> dict[str, int]:
    """Return the bytes of each part of the training state, and their total.

    Args:
        n_params: number of parameters.
        recipe: a key of RECIPES.

    Returns:
        A dict with the keys of PARTS and "total", in bytes.
    """
    state = {part: width * n_params for part, width in zip(PARTS, RECIPES[recipe], strict=True)}
    state["total"] = sum(state.values())
    return state


def to_gb(nbytes: float) -> float:
    """Return bytes in GB, the decimal unit: 10**9 bytes."""
    return nbytes / GB


def to_gib(nbytes: float) -> float:
    """Return bytes in GiB, the binary unit: 2**30 bytes."""
    return nbytes / GIB


def fits(n_params: int, recipe: str, card_mib: int) -> bool:
    """Return whether the state is at most what a card of card_mib MiB has."""
    return training_state(n_params, recipe)["total"] <= card_mib * MIB


def zero_bytes_per_gpu(n_params: int, stage: int, world: int) -> float:
    """Return the bytes of bf16_mixed state on each GPU under ZeRO.

    Args:
        n_params: number of parameters.
        stage: 0 (plain data parallel) to 3 (everything sharded).
        world: number of GPUs.

    Returns:
        Bytes per GPU; a fraction where the split is not even to the byte.
    """
    whole, split = _zero_bytes(n_params, stage)
    return whole + split / world


def min_gpus(n_params: int, usable_bytes: int, stage: int = 3) -> int | None:
    """Return the smallest number of GPUs whose share of the bf16_mixed state is within a limit.

    whole + split / world <= usable, that is split <= world * room with room = usable - whole.

    Args:
        n_params: number of parameters.
        usable_bytes: bytes of each GPU that may be filled.
        stage: ZeRO stage, 0 to 3.

    Returns:
        The number of GPUs, or None when no number is enough.
    """
    whole, split = _zero_bytes(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    if room <= 0:
        return None
    return -(-split // room)


def _zero_bytes(n_params: int, stage: int) -> tuple[int, int]:
    """Return the bytes that every GPU holds whole and the bytes that all GPUs share."""
    whole, split = ZERO[stage]
    return whole * n_params, split * n_params


def fsdp_bytes(model: dict[str, int], world: int) -> dict[str, float]:
    """Return what each GPU holds of an fp32 module under fully_shard with bf16 parameters.

    Args:
        model: its sizes; `params` and `largest_unit` are used.
        world: number of GPUs.

    Returns:
        Bytes per GPU of the sharded tensors, and under "gathered" of what is whole for a moment.
    """
    parts = {part: width * model["params"] / world for part, width in SHARDED.items()}
    return {**parts, "gathered": GATHERED * model["largest_unit"]}


def activation_bytes(model: dict[str, int], tokens: int, checkpoint: bool) -> int:
    """Return the most bytes of activations that are alive at once.

    Args:
        model: its sizes.
        tokens: tokens on this GPU.
        checkpoint: whether layers keep their inputs only and are recomputed.

    Returns:
        Bytes; proportional to `tokens`.
    """
    return tokens * _per_token(model, checkpoint)


def max_tokens(
    model: dict[str, int], world: int, card_mib: int, checkpoint: bool, headroom: float = 0.1
) -> int:
    """Return the most tokens per GPU for which everything stays within a share of the card.

    Args:
        model: its sizes.
        world: number of GPUs.
        card_mib: memory of a card in MiB.
        checkpoint: whether layers keep their inputs only and are recomputed.
        headroom: share of the card that is kept free.

    Returns:
        Whole tokens, 0 where there is no room.
    """
    room = _usable(card_mib, headroom) - sum(fsdp_bytes(model, world).values())
    return max(0, int(room // _per_token(model, checkpoint)))


def _usable(card_mib: int, headroom: float) -> float:
    """Return the bytes of a card that may be filled."""
    return (1 - headroom) * card_mib * MIB


def _per_token(model: dict[str, int], checkpoint: bool) -> int:
    """Return the most bytes of activations that are alive at once, for each token."""
    kept = model["layers"] * (_kept(model) if checkpoint else _layer(model))
    return kept + max(_head(model), _recomputed(model) if checkpoint else 0)


def _layer(model: dict[str, int]) -> int:
    """Return the bytes per token that one layer keeps when nothing is recomputed."""
    d, heads, f = model["d"], model["heads"], model["f"]
    wide = 2 * 2 + 1 + 1  # input and output of both norms, q, the attention's output
    return BF16 * (wide * d + 2 * _key_width(model) + 4 * f) + FP32 * (2 + heads)


def _key_width(model: dict[str, int]) -> int:
    """Return the width of k, which is that of v."""
    return model["d"] * model["kv_heads"] // model["heads"]


def _kept(model: dict[str, int]) -> int:
    """Return the bytes per token that a layer keeps when it is recomputed: its input."""
    return BF16 * model["d"]


def _recomputed(model: dict[str, int]) -> int:
    """Return the bytes per token that come back while one layer is recomputed."""
    return _layer(model) - _kept(model)


def _head(model: dict[str, int]) -> int:
    """Return the bytes per token of the last norm and of the loss as its backward begins.

    Then log-probabilities, their gradient and that of the logits are alive, each in fp32.
    """
    return 2 * BF16 * model["d"] + FP32 + 3 * FP32 * model["vocab"]
