"""Bytes of training state of an Adam run, by recipe, and how ZeRO spreads them over GPUs.

Everything is counted in bytes per parameter: a tensor with one element per parameter costs its
itemsize, and the state is the list of those tensors.  Amounts of bytes stay Python integers, which
are exact at any size; only units and even shares are floats.
"""

from __future__ import annotations

PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")

# Bytes a parameter, in the order of PARTS; bf16 has 2 and fp32 has 4.
# Sources: Micikevicius et al., arXiv:1710.03740, section 3.1 (the fp32 master copy);
# Rajbhandari et al., arXiv:1910.02054, section 3.1 (16 bytes per parameter for mixed precision);
# torch/optim/adam.py, Adam._init_group (the moments are zeros_like(param)).
RECIPES = {
    "bf16_mixed": (2, 2, 4, 4, 4),
    "bf16_mixed_fp32grad": (2, 4, 4, 4, 4),
    "bf16_no_master": (2, 2, 4, 4, 0),
    "torch_pure_bf16": (2, 2, 2, 2, 0),
    "torch_autocast": (4, 4, 4, 4, 0),
}

GB = 10**9
GIB = 2**30

# Bytes a parameter of bf16_mixed as (whole on every GPU, split over all of them), by ZeRO stage.
# With the paper's 2 + 2 + K and K = 12: each stage moves one term from the left to the right.
# Source: Rajbhandari et al., arXiv:1910.02054, figure 1 and section 5.
ZERO = {0: (16, 0), 1: (4, 12), 2: (2, 14), 3: (0, 16)}


def training_state(n_params: int, recipe: str) -> dict[str, int]:
    """Return the bytes of each part of the training state, and their total.

    Args:
        n_params: number of parameters, at least 0.
        recipe: a key of RECIPES.

    Returns:
        A new dict with the keys of PARTS and "total", in bytes.

    Raises:
        ValueError: the recipe is unknown.
    """
    if recipe not in RECIPES:
        raise ValueError(f"unknown recipe {recipe!r}: expected one of {', '.join(RECIPES)}")
    state = {part: width * n_params for part, width in zip(PARTS, RECIPES[recipe], strict=True)}
    state["total"] = sum(state.values())
    return state


def to_gb(nbytes: float) -> float:
    """Return bytes in GB, the decimal unit: 10**9 bytes."""
    return nbytes / GB


def to_gib(nbytes: float) -> float:
    """Return bytes in GiB, the binary unit: 2**30 bytes."""
    return nbytes / GIB


def zero_bytes_per_gpu(n_params: int, stage: int, world: int) -> float:
    """Return the bytes of bf16_mixed state on each GPU under ZeRO.

    Args:
        n_params: number of parameters, at least 0.
        stage: 0 (plain data parallel) to 3 (everything sharded, as in FSDP).
        world: number of GPUs, at least 1.

    Returns:
        Bytes a GPU; a fraction where the split is not even to the byte.

    Raises:
        ValueError: the stage is not 0, 1, 2 or 3.
    """
    whole, split = _zero_bytes(n_params, stage)
    return whole + split / world


def min_gpus(n_params: int, gpu_bytes: int, stage: int = 3) -> int | None:
    """Return the smallest number of GPUs on which the bf16_mixed state fits.

    It fits on `world` GPUs when whole + split / world <= gpu_bytes, that is when
    split <= world * room with room = gpu_bytes - whole: integers only, so that an exact fit is
    one and a missing byte is none.

    Args:
        n_params: number of parameters, at least 0.
        gpu_bytes: bytes that a GPU can hold, at least 1.
        stage: ZeRO stage, 0 to 3.

    Returns:
        The number of GPUs, or None when no number is enough.

    Raises:
        ValueError: the stage is not 0, 1, 2 or 3.
    """
    whole, split = _zero_bytes(n_params, stage)
    room = gpu_bytes - whole
    if room < 0:
        return None
    if split == 0:
        return 1
    if room == 0:
        return None
    return -(-split // room)


def _zero_bytes(n_params: int, stage: int) -> tuple[int, int]:
    """Return the bytes that every GPU holds whole and the bytes that all GPUs share."""
    if stage not in ZERO:
        raise ValueError(f"unknown ZeRO stage {stage!r}: expected 0, 1, 2 or 3")
    whole, split = ZERO[stage]
    return whole * n_params, split * n_params
