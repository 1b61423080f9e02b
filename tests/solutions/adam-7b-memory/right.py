# %% copied_templates
"""Caches the widths of a recipe and returns an OrderedDict of its own to each caller."""

from collections import OrderedDict
from functools import lru_cache


@lru_cache(maxsize=None)
def widths(recipe):
    fp32_module = recipe == "torch_autocast"
    pure = recipe == "torch_pure_bf16"
    known = ("bf16_mixed", "bf16_mixed_fp32grad", "bf16_no_master")
    if not (fp32_module or pure or recipe in known):
        raise ValueError(recipe)
    weight = 4 if fp32_module else 2
    grad = 4 if recipe == "bf16_mixed_fp32grad" else weight
    moment = 2 if pure else 4
    master = 4 if recipe in known[:2] else 0
    return (
        ("weights", weight),
        ("grads", grad),
        ("exp_avg", moment),
        ("exp_avg_sq", moment),
        ("master", master),
    )


def training_state(n_params, recipe):
    plan = OrderedDict((part, width * n_params) for part, width in widths(recipe))
    plan["total"] = sum(plan.values())
    return plan


@lru_cache(maxsize=None)
def to_gb(nbytes):
    return nbytes / 1e9


@lru_cache(maxsize=None)
def to_gib(nbytes):
    return nbytes / 2**30


def sharded(stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    order = (("exp_avg", "exp_avg_sq", "master"), ("grads",), ("weights",))
    return {part for group in order[:stage] for part in group}


@lru_cache(maxsize=None)
def zero_bytes_per_gpu(n_params, stage, world):
    split = sharded(stage)
    return sum(w * n_params / (world if p in split else 1) for p, w in widths("bf16_mixed"))


@lru_cache(maxsize=None)
def min_gpus(n_params, usable_bytes, stage=3):
    split = sum(w for p, w in widths("bf16_mixed") if p in sharded(stage)) * n_params
    whole = 16 * n_params - split
    for world in range(1, 20_001):
        if split <= (usable_bytes - whole) * world:
            return world
    return None


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% doubling
"""The number of GPUs by doubling and then halving the distance, on whole numbers only."""

BYTES = dict(
    bf16_mixed=22444,
    bf16_mixed_fp32grad=24444,
    bf16_no_master=22440,
    torch_pure_bf16=22220,
    torch_autocast=44440,
)


class UnknownPlan(ValueError):
    pass


def training_state(n_params, recipe):
    if recipe not in BYTES:
        raise UnknownPlan(recipe)
    weights, grads, exp_avg, exp_avg_sq, master = (
        int(digit) * n_params for digit in str(BYTES[recipe])
    )
    return dict(
        weights=weights,
        grads=grads,
        exp_avg=exp_avg,
        exp_avg_sq=exp_avg_sq,
        master=master,
        total=weights + grads + exp_avg + exp_avg_sq + master,
    )


def to_gb(nbytes):
    return nbytes / 10**9


def to_gib(nbytes):
    return nbytes / 2**30


def _fits(n_params, stage, world, usable_bytes):
    whole = (16, 4, 2, 0)[stage] * n_params
    return whole * world + (16 * n_params - whole) <= usable_bytes * world


def zero_bytes_per_gpu(n_params, stage, world):
    if stage not in {0, 1, 2, 3}:
        raise UnknownPlan(stage)
    whole = (16, 4, 2, 0)[stage] * n_params
    return whole + (16 * n_params - whole) / world


def min_gpus(n_params, usable_bytes, stage=3):
    if stage not in {0, 1, 2, 3}:
        raise UnknownPlan(stage)
    enough = 1
    while not _fits(n_params, stage, enough, usable_bytes):
        enough *= 2
        if enough > 32 * max(
            n_params, 1
        ):  # half as many left each less than a byte of what is split
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _fits(n_params, stage, middle, usable_bytes):
            enough = middle
        else:
            too_few = middle
    return enough


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% enum_and_match
"""Enums refuse what is unknown; a match statement does the rest."""

from enum import Enum, IntEnum


class Recipe(Enum):
    MIXED = "bf16_mixed"
    MIXED_FP32_GRAD = "bf16_mixed_fp32grad"
    NO_MASTER = "bf16_no_master"
    PURE = "torch_pure_bf16"
    AUTOCAST = "torch_autocast"


class Stage(IntEnum):
    NONE = 0
    OPTIMIZER = 1
    GRADIENTS = 2
    WEIGHTS = 3


def training_state(n_params, recipe):
    match Recipe(recipe):
        case Recipe.MIXED:
            widths = [2, 2, 4, 4, 4]
        case Recipe.MIXED_FP32_GRAD:
            widths = [2, 4, 4, 4, 4]
        case Recipe.NO_MASTER:
            widths = [2, 2, 4, 4, 0]
        case Recipe.PURE:
            widths = [2, 2, 2, 2, 0]
        case Recipe.AUTOCAST:
            widths = [4, 4, 4, 4, 0]
    keys = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")
    return {**{k: w * n_params for k, w in zip(keys, widths)}, "total": sum(widths) * n_params}


def to_gb(nbytes):
    return nbytes / 10**9


def to_gib(nbytes):
    return nbytes / 2**30


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _parts(Stage(stage))
    quotient, rest = divmod(split * n_params, world)
    return whole * n_params + quotient + rest / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _parts(Stage(stage))
    room = usable_bytes - whole * n_params
    match (split * n_params, room):
        case (0, r):
            return 1 if r >= 0 else None
        case (s, r) if r > 0:
            return (s - 1) // r + 1
        case _:
            return None


def _parts(stage):
    match stage:
        case Stage.NONE:
            return 16, 0
        case Stage.OPTIMIZER:
            return 4, 12
        case Stage.GRADIENTS:
            return 2, 14
        case Stage.WEIGHTS:
            return 0, 16


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% formulas_as_text
"""Each recipe is written as a sum, `2+2+4+4+4`, and read from there."""

KEYS = "weights grads exp_avg exp_avg_sq master".split()
SHEET = """
bf16_mixed           2+2+4+4+4
bf16_mixed_fp32grad  2+4+4+4+4
bf16_no_master       2+2+4+4+0
torch_pure_bf16      2+2+2+2+0
torch_autocast       4+4+4+4+0
"""
SUMS = dict(line.split() for line in SHEET.strip().splitlines())


def training_state(n_params, recipe):
    try:
        terms = [int(term) for term in SUMS[recipe].split("+")]
    except (KeyError, TypeError):
        raise ValueError(f"no such recipe: {recipe}") from None
    plan = {key: n_params * term for key, term in zip(KEYS, terms, strict=True)}
    return {**plan, "total": n_params * sum(terms)}


def to_gb(nbytes):
    return nbytes * 1e-9 if isinstance(nbytes, float) else nbytes / 1_000_000_000


def to_gib(nbytes):
    return nbytes / (1 << 30)


def _each(n_params, stage):
    """Return the bytes of every part of bf16_mixed, and whether the stage shards it."""
    if stage not in (0, 1, 2, 3):
        raise ValueError(f"no such stage: {stage}")
    plan = training_state(n_params, "bf16_mixed")
    first = {"weights": 3, "grads": 2}
    return [(plan[key], stage >= first.get(key, 1)) for key in KEYS]


def zero_bytes_per_gpu(n_params, stage, world):
    return sum(size / world if sharded else size for size, sharded in _each(n_params, stage))


def min_gpus(n_params, usable_bytes, stage=3):
    parts = _each(n_params, stage)
    free = usable_bytes - sum(size for size, sharded in parts if not sharded)
    shared = sum(size for size, sharded in parts if sharded)
    if free < 0 or (shared and not free):
        return None
    if not shared:
        return 1
    whole, rest = divmod(shared, free)
    return whole + bool(rest)


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% integral_floats
"""Bytes as floats where floats are exact, whole numbers where they are not."""

import math


def training_state(n_params, recipe):
    n = float(n_params)
    master = 4.0 * n if recipe in ("bf16_mixed", "bf16_mixed_fp32grad") else 0.0
    if recipe in ("bf16_mixed", "bf16_no_master"):
        weights, grads, moment = 2.0 * n, 2.0 * n, 4.0 * n
    elif recipe == "bf16_mixed_fp32grad":
        weights, grads, moment = 2.0 * n, 4.0 * n, 4.0 * n
    elif recipe == "torch_pure_bf16":
        weights, grads, moment = 2.0 * n, 2.0 * n, 2.0 * n
    elif recipe == "torch_autocast":
        weights, grads, moment = 4.0 * n, 4.0 * n, 4.0 * n
    else:
        raise ValueError(recipe)
    return {
        "weights": weights,
        "grads": grads,
        "exp_avg": moment,
        "exp_avg_sq": moment,
        "master": master,
        "total": math.fsum([weights, grads, moment, moment, master]),
    }


def to_gb(nbytes):
    return float(nbytes) / 1e9


def to_gib(nbytes):
    return math.ldexp(float(nbytes), -30)


def zero_bytes_per_gpu(n_params, stage, world):
    shares = [1.0 / world if stage >= first else 1.0 for first in (1, 2, 3)]
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    return float(n_params) * (12.0 * shares[0] + 2.0 * shares[1] + 2.0 * shares[2])


def min_gpus(n_params, usable_bytes, stage=3):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    split = n_params * (0, 12, 14, 16)[stage]
    whole = n_params * 16 - split
    low, high = 0, 1
    while whole * high + split > usable_bytes * high:  # doubles until it fits
        low, high = high, 2 * high
        if high > 1 << 60:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if whole * middle + split > usable_bytes * middle:
            low = middle
        else:
            high = middle
    return float(high)


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% prints_and_main
"""Prints its working and has a demonstration under __main__."""

import sys

PARTS = ["weights", "grads", "exp_avg", "exp_avg_sq", "master"]
SHEET = """
bf16_mixed           2 2 4 4 4
bf16_mixed_fp32grad  2 4 4 4 4
bf16_no_master       2 2 4 4 0
torch_pure_bf16      2 2 2 2 0
torch_autocast       4 4 4 4 0
"""


def training_state(n_params, recipe):
    print("planning", recipe, "for", n_params, "parameters")
    for line in SHEET.strip().splitlines():
        name, *columns = line.split()
        if name == recipe:
            break
    else:
        raise ValueError("not on the sheet: " + str(recipe))
    plan = {}
    for part, column in zip(PARTS, columns):
        plan[part] = int(column) * n_params
        print(f"  {part:>10} {plan[part]}", file=sys.stderr)
    plan["total"] = sum(plan.values())
    print("  total", plan["total"], flush=True)
    return plan


def to_gb(nbytes):
    print(nbytes, "bytes")
    return nbytes / 1000 / 1000 / 1000


def to_gib(nbytes):
    print(nbytes, "bytes")
    return nbytes / 1024**3


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _terms(n_params, stage)
    print(f"{whole} + {split} / {world}")
    return whole + split / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _terms(n_params, stage)
    world = 1
    while whole * world + split > usable_bytes * world:
        if world % 1000 == 0:
            print("not yet at", world)
        world += 1
        if whole >= usable_bytes:
            return None
    return world


def _terms(n_params, stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    split = sum([12, 2, 2][:stage])
    return (16 - split) * n_params, split * n_params


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


if __name__ == "__main__":
    print(training_state(7_000_000_000, "bf16_mixed"))
    raise SystemExit(min_gpus(7_000_000_000, 24_000_000_000))


# %% style_a
"""Style: that of rounded_to_the_nearest and others, repaired."""

RECIPES = {
    "bf16_mixed": (2, 2, 4, 4, 4),
    "bf16_mixed_fp32grad": (2, 4, 4, 4, 4),
    "bf16_no_master": (2, 2, 4, 4, 0),
    "torch_pure_bf16": (2, 2, 2, 2, 0),
    "torch_autocast": (4, 4, 4, 4, 0),
}
PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")


def training_state(n_params, recipe):
    if recipe not in RECIPES:
        raise ValueError(recipe)
    plan = {part: width * n_params for part, width in zip(PARTS, RECIPES[recipe])}
    plan["total"] = sum(plan.values())
    return plan


def to_gb(nbytes):
    return nbytes / 1e9


def to_gib(nbytes):
    return nbytes / 2**30


def terms(n_params, stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError(stage)
    whole = (16, 4, 2, 0)[stage]
    return whole * n_params, (16 - whole) * n_params


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = terms(n_params, stage)
    return whole + split / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = terms(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    return -(-split // room) if room > 0 else None


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% style_b
"""Style: that of attention_matrix_kept and others, repaired."""

RECIPES = {
    "bf16_mixed": (2, 2, 4, 4, 4),
    "torch_pure_bf16": (2, 2, 2, 2, 0),
    "torch_autocast": (4, 4, 4, 4, 0),
    "bf16_mixed_fp32grad": (2, 4, 4, 4, 4),
    "bf16_no_master": (2, 2, 4, 4, 0),
}
PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "fp32_copy")
WHOLE = (16, 4, 2, 0)


def training_state(n_params, recipe):
    plan = {part: width * n_params for part, width in zip(PARTS, RECIPES[recipe])}
    plan["total"] = sum(plan.values())
    return plan


def to_gb(nbytes):
    return nbytes / 1e9


def to_gib(nbytes):
    return nbytes / 2**30


def zero_bytes_per_gpu(n_params, stage, world):
    return WHOLE[stage] * n_params + (16 - WHOLE[stage]) * n_params / world


def min_gpus(n_params, usable_bytes, stage=3):
    room = usable_bytes - WHOLE[stage] * n_params
    split = (16 - WHOLE[stage]) * n_params
    if not split:
        return 1 if room >= 0 else None
    return int(-(-split // room)) if room > 0 else None


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))


# %% tensors_as_objects
"""A recipe is a list of tensors with a role and a dtype; everything is asked of those."""

from typing import NamedTuple


class Held(NamedTuple):
    role: str
    bits: int
    sharded_from: int  # the first stage that shards it

    def bytes(self, n_params):
        return n_params * self.bits // 8


def _recipe(weights, grads, moments, master):
    return (
        Held("weights", weights, 3),
        Held("grads", grads, 2),
        Held("exp_avg", moments, 1),
        Held("exp_avg_sq", moments, 1),
        Held("master", master, 1),
    )


MIXED = _recipe(16, 16, 32, 32)


def _held(recipe):
    match recipe:
        case "bf16_mixed":
            return MIXED
        case "bf16_mixed_fp32grad":
            return _recipe(16, 32, 32, 32)
        case "bf16_no_master":
            return _recipe(16, 16, 32, 0)
        case "torch_pure_bf16":
            return _recipe(16, 16, 16, 0)
        case "torch_autocast":
            return _recipe(32, 32, 32, 0)
    raise ValueError(recipe)


def training_state(n_params, recipe):
    plan = {held.role: held.bytes(n_params) for held in _held(recipe)}
    plan["total"] = sum(plan.values())
    return plan


def to_gb(nbytes):
    return nbytes / 1000 / 1000 / 1000


def to_gib(nbytes):
    return nbytes / 1024 / 1024 / 1024


def _split(n_params, stage):
    if not (isinstance(stage, int) and stage in range(4)):
        raise ValueError(stage)
    sharded = sum(held.bytes(n_params) for held in MIXED if 0 < held.sharded_from <= stage)
    return 16 * n_params - sharded, sharded


def zero_bytes_per_gpu(n_params, stage, world):
    whole, sharded = _split(n_params, stage)
    return whole + sharded / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, sharded = _split(n_params, stage)
    if whole + sharded <= usable_bytes:
        return 1
    if usable_bytes <= whole:
        return None
    # More than one is needed: the smallest world with sharded <= world * room.
    room = usable_bytes - whole
    return None if not sharded else (sharded + room - 1) // room


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20


def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 4 * unit + 2 * unit + 4 * unit,
    }


def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 4 * (2 + model["heads"])
    head = 4 * d + 4 + 12 * model["vocab"]
    if checkpoint:
        return tokens * (model["layers"] * 2 * d + max(head, layer - 2 * d))
    return tokens * (model["layers"] * layer + head)


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())
    return max(0, int(room / activation_bytes(model, 1, checkpoint)))
