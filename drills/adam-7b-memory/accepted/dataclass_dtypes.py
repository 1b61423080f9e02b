"""A dataclass of dtypes by name; the widths follow from the names."""

from dataclasses import asdict, dataclass

BYTES = {"bf16": 2, "fp32": 4, "none": 0}


@dataclass(frozen=True)
class Recipe:
    weights: str
    grads: str
    exp_avg: str = "fp32"
    exp_avg_sq: str = "fp32"
    master: str = "none"


RECIPES = {
    "bf16_mixed": Recipe("bf16", "bf16", master="fp32"),
    "bf16_mixed_fp32grad": Recipe("bf16", "fp32", master="fp32"),
    "bf16_no_master": Recipe("bf16", "bf16"),
    "torch_pure_bf16": Recipe("bf16", "bf16", "bf16", "bf16"),
    "torch_autocast": Recipe("fp32", "fp32"),
}


class UnknownPlan(ValueError):
    """A recipe or a stage that is not on the sheet."""


def training_state(n_params, recipe):
    try:
        dtypes = asdict(RECIPES[recipe])
    except KeyError:
        raise UnknownPlan(recipe) from None
    plan = {part: BYTES[dtype] * n_params for part, dtype in dtypes.items()}
    return plan | {"total": sum(plan.values())}


def to_gb(nbytes):
    return nbytes * 1e-9


def to_gib(nbytes):
    return nbytes * 2**-30


def parts(n_params, stage):
    if stage not in range(4):
        raise UnknownPlan(stage)
    plan = training_state(n_params, "bf16_mixed")
    sharded_from = {"weights": 3, "grads": 2, "exp_avg": 1, "exp_avg_sq": 1, "master": 1}
    whole = sum(plan[part] for part, first in sharded_from.items() if stage < first)
    return whole, plan["total"] - whole


def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = parts(n_params, stage)
    return whole + split / world


def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = parts(n_params, stage)
    room = usable_bytes - whole
    if split == 0:
        return 1 if room >= 0 else None
    if room <= 0:
        return None
    count, rest = divmod(split, room)
    return count + (rest > 0)


def fits(n_params, recipe, card_mib):
    return not training_state(n_params, recipe)["total"] > card_mib * 2**20


@dataclass(frozen=True)
class Saved:
    """A tensor that is kept: its dtype, and its width per token."""

    dtype: str
    width: int

    @property
    def size(self):
        return BYTES[self.dtype] * self.width


def layer_tensors(model):
    d, f = model["d"], model["f"]
    head_width = d // model["heads"]
    kv = head_width * model["kv_heads"]
    names = {"x": d, "x normed": d, "q": d, "k": kv, "v": kv, "o": d, "h": d, "h normed": d}
    names |= {"g": f, "u": f, "silu(g)": f, "silu(g) u": f}
    tensors = {name: Saved("bf16", width) for name, width in names.items()}
    return tensors | {
        "first scale": Saved("fp32", 1),
        "second scale": Saved("fp32", 1),
        "log-sum-exp": Saved("fp32", model["heads"]),
    }


def head_tensors(model):
    return {
        "x": Saved("bf16", model["d"]),
        "x normed": Saved("bf16", model["d"]),
        "scale": Saved("fp32", 1),
        "log p": Saved("fp32", model["vocab"]),
        "gradient of log p": Saved("fp32", model["vocab"]),
        "gradient of logits": Saved("fp32", model["vocab"]),
    }


def size_of(tensors):
    return sum(tensor.size for tensor in tensors.values())


def activation_bytes(model, tokens, checkpoint):
    layer, head = layer_tensors(model), head_tensors(model)
    kept = {"x": layer["x"]} if checkpoint else layer
    rest = {name: tensor for name, tensor in layer.items() if name not in kept}
    peak = model["layers"] * size_of(kept) + max(size_of(head), size_of(rest))
    return peak * tokens


def fsdp_bytes(model, world):
    shards = asdict(Recipe("fp32", "fp32"))
    del shards["master"]
    plan = {part: BYTES[dtype] * model["params"] / world for part, dtype in shards.items()}
    in_use = ahead = grad = Saved("bf16", model["largest_unit"])
    reduced = Saved("fp32", model["largest_unit"])
    return plan | {"gathered": in_use.size + ahead.size + grad.size + reduced.size}


def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    usable = card_mib * 2**20 * (1 - headroom)
    room = usable - sum(fsdp_bytes(model, world).values())
    if room < 0:
        return 0
    return int(room / activation_bytes(model, 1, checkpoint))
