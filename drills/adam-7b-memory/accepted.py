# %% binary-search
"""Binary search over the number of GPUs with bisect."""

import bisect

OPT = {"exp_avg": 4, "exp_avg_sq": 4}

def training_state(n_params, recipe):
    base = {"weights": 2, "grads": 2, **OPT, "master": 0}
    changes = {
        "bf16_mixed": {"master": 4},
        "bf16_mixed_fp32grad": {"master": 4, "grads": 4},
        "bf16_no_master": {},
        "torch_pure_bf16": {"exp_avg": 2, "exp_avg_sq": 2},
        "torch_autocast": {"weights": 4, "grads": 4},
    }
    if recipe not in changes:
        raise ValueError("recipe must be one of " + ", ".join(sorted(changes)))
    base.update(changes[recipe])
    out = {k: n_params * b for k, b in base.items()}
    out["total"] = n_params * sum(base.values())
    return out

def to_gb(nbytes):
    return nbytes / 1_000_000_000

def to_gib(nbytes):
    return nbytes / (1 << 30)

def zero_bytes_per_gpu(n_params, stage, world):
    w, g, o = _split(stage)
    return n_params * (
        (2 / world if w else 2) + (2 / world if g else 2) + (12 / world if o else 12)
    )

def min_gpus(n_params, usable_bytes, stage=3):
    w, g, o = _split(stage)
    split = n_params * (2 * w + 2 * g + 12 * o)
    whole = 16 * n_params - split

    def fits(world):
        return whole * world + split <= usable_bytes * world

    worlds = range(1, 2**60)
    at = bisect.bisect_left(worlds, True, key=fits)
    return worlds[at] if at < len(worlds) else None

def _split(stage):
    if stage not in (0, 1, 2, 3):
        raise ValueError("stage must be 0, 1, 2 or 3")
    return stage >= 3, stage >= 2, stage >= 1

def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 2**20

def fsdp_bytes(model, world):
    shard = 4 * model["params"] / world
    unit = model["largest_unit"]
    out = dict.fromkeys(("weights", "grads", "exp_avg", "exp_avg_sq"), shard)
    out["gathered"] = 2 * (2 * unit) + 2 * unit + 4 * unit
    return out

def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d * model["kv_heads"] // model["heads"]
    layer = 2 * (6 * d + 2 * kv + 4 * model["f"]) + 8 + 4 * model["heads"]
    head = 4 * d + 4 + 12 * model["vocab"]
    if not checkpoint:
        return tokens * (model["layers"] * layer + head)
    inputs = model["layers"] * 2 * d
    return tokens * max(inputs + head, inputs + layer - 2 * d)

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    room = (1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values())

    def too_many(tokens):
        return activation_bytes(model, tokens, checkpoint) > room

    return max(0, bisect.bisect_left(range(2**40), True, key=too_many) - 1)

# %% callable-objects
"""Instances with __call__ in the place of functions."""

class Planner:
    def __init__(self, **recipes):
        self.recipes = recipes

    def __call__(self, n_params, recipe):
        if recipe not in self.recipes:
            raise ValueError(recipe)
        plan = {}
        total = 0
        for part, width in self.recipes[recipe].items():
            plan[part] = n_params * width
            total += plan[part]
        plan["total"] = total
        return plan

class Unit:
    def __init__(self, size):
        self.size = size

    def __call__(self, nbytes):
        return nbytes / self.size

class Zero:
    WHOLE = [16, 4, 2, 0]

    def split(self, n_params, stage):
        if not (isinstance(stage, int) and 0 <= stage <= 3):
            raise ValueError(f"stage {stage}")
        return self.WHOLE[stage] * n_params, (16 - self.WHOLE[stage]) * n_params

class Share(Zero):
    def __call__(self, n_params, stage, world):
        whole, split = self.split(n_params, stage)
        return (whole * world + split) / world

class Count(Zero):
    def __call__(self, n_params, usable_bytes, stage=3):
        whole, split = self.split(n_params, stage)
        if whole + split <= usable_bytes:
            return 1
        if whole >= usable_bytes or not split:
            return None
        return (split + usable_bytes - whole - 1) // (usable_bytes - whole)

def _recipe(w, g, m, v, c):
    return {"weights": w, "grads": g, "exp_avg": m, "exp_avg_sq": v, "master": c}

training_state = Planner(
    bf16_mixed=_recipe(2, 2, 4, 4, 4),
    bf16_mixed_fp32grad=_recipe(2, 4, 4, 4, 4),
    bf16_no_master=_recipe(2, 2, 4, 4, 0),
    torch_pure_bf16=_recipe(2, 2, 2, 2, 0),
    torch_autocast=_recipe(4, 4, 4, 4, 0),
)
to_gb = Unit(1e9)
to_gib = Unit(2**30)
zero_bytes_per_gpu = Share()
min_gpus = Count()

class Fits:
    def __call__(self, n_params, recipe, card_mib):
        return card_mib * 1024 * 1024 >= training_state(n_params, recipe)["total"]

class Shards:
    def __call__(self, model, world):
        elements = model["params"] / world
        plan = {part: 4 * elements for part in ("weights", "grads", "exp_avg", "exp_avg_sq")}
        plan["gathered"] = 10 * model["largest_unit"]
        return plan

class Activations:
    """Each of the moments at which something is alive, and the worst of them."""

    def __call__(self, model, tokens, checkpoint):
        return tokens * max(self.moments(model, checkpoint))

    def moments(self, model, checkpoint):
        entry = 2 * model["d"]
        layer = self.layer(model)
        head = 4 * model["d"] + 4 + 4 * model["vocab"]
        kept = entry if checkpoint else layer
        yield model["layers"] * kept + head  # the forward pass is over
        yield model["layers"] * kept + head + 8 * model["vocab"]  # the backward pass begins
        for below in range(model["layers"]):
            yield below * kept + layer  # this layer's backward pass

    def layer(self, model):
        key = model["d"] / model["heads"] * model["kv_heads"]
        bf16 = 6 * model["d"] + 2 * key + 4 * model["f"]
        return 2 * bf16 + 4 * (2 + model["heads"])

class Tokens:
    def __call__(self, model, world, card_mib, checkpoint, headroom=0.1):
        card = card_mib * 2**20
        left = card - headroom * card - sum(fsdp_bytes(model, world).values())
        return max(left, 0) / activation_bytes(model, 1, checkpoint)

fits = Fits()
fsdp_bytes = Shards()
activation_bytes = Activations()
max_tokens = Tokens()

# %% dataclass-dtypes
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

# %% decimals
"""decimal arithmetic with fifty digits."""

from decimal import ROUND_CEILING, Context, Decimal

EXACT = Context(prec=50)

def training_state(n_params, recipe):
    bits = {
        "bf16_mixed": (16, 16, 32, 32, 32),
        "bf16_mixed_fp32grad": (16, 32, 32, 32, 32),
        "bf16_no_master": (16, 16, 32, 32, 0),
        "torch_pure_bf16": (16, 16, 16, 16, 0),
        "torch_autocast": (32, 32, 32, 32, 0),
    }
    if recipe not in bits:
        raise ValueError(recipe)
    w, g, m, v, c = (b * n_params // 8 for b in bits[recipe])
    return {
        "total": w + g + m + v + c,
        "master": c,
        "exp_avg_sq": v,
        "exp_avg": m,
        "grads": g,
        "weights": w,
    }

def to_gb(nbytes):
    return float(EXACT.divide(Decimal(nbytes), Decimal(10) ** 9))

def to_gib(nbytes):
    return float(EXACT.divide(Decimal(nbytes), Decimal(2) ** 30))

def _terms(n_params, stage):
    if stage == 0:
        return Decimal(16 * n_params), Decimal(0)
    if stage == 1:
        return Decimal(4 * n_params), Decimal(12 * n_params)
    if stage == 2:
        return Decimal(2 * n_params), Decimal(14 * n_params)
    if stage == 3:
        return Decimal(0), Decimal(16 * n_params)
    raise ValueError(f"stage {stage}")

def zero_bytes_per_gpu(n_params, stage, world):
    whole, split = _terms(n_params, stage)
    return float(whole + EXACT.divide(split, Decimal(world)))

def min_gpus(n_params, usable_bytes, stage=3):
    whole, split = _terms(n_params, stage)
    if whole + split <= usable_bytes:
        return 1
    if whole >= usable_bytes or stage == 0:
        return None
    quotient = EXACT.divide(split, usable_bytes - whole)
    return int(quotient.to_integral_value(rounding=ROUND_CEILING))

def fits(n_params, recipe, card_mib):
    return Decimal(training_state(n_params, recipe)["total"]) / 2**20 <= Decimal(card_mib)

def _fsdp(model, world):
    shard = EXACT.divide(Decimal(4 * model["params"]), Decimal(world))
    shares = dict.fromkeys(("weights", "grads", "exp_avg", "exp_avg_sq"), shard)
    return {**shares, "gathered": Decimal(10 * model["largest_unit"])}

def fsdp_bytes(model, world):
    return {part: float(size) for part, size in _fsdp(model, world).items()}

def activation_bytes(model, tokens, checkpoint):
    layers, d, f, vocab = (model[key] for key in ("layers", "d", "f", "vocab"))
    kv = d * model["kv_heads"] // model["heads"]
    bits = 16 * (6 * d + 2 * kv + 4 * f) + 32 * (2 + model["heads"])
    head = 16 * 2 * d + 32 + 3 * 32 * vocab
    if checkpoint:
        peak = layers * 16 * d + max(head, bits - 16 * d)
    else:
        peak = layers * bits + head
    return peak // 8 * tokens

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    card = Decimal(card_mib) * 2**20
    room = card * (1 - Decimal(str(headroom))) - sum(_fsdp(model, world).values())
    each = Decimal(activation_bytes(model, 1, checkpoint))
    return max(0, int(EXACT.divide(room, each)))

# %% fractions-search
"""Exact fractions, and a search over the number of GPUs."""

from fractions import Fraction
from itertools import count, takewhile

W = {
    "bf16_mixed": "22444",
    "bf16_mixed_fp32grad": "24444",
    "bf16_no_master": "22440",
    "torch_pure_bf16": "22220",
    "torch_autocast": "44440",
}

def training_state(n_params, recipe):
    if recipe not in W:
        raise ValueError(f"no such recipe: {recipe}")
    names = "weights grads exp_avg exp_avg_sq master".split()
    d = {}
    for name, width in zip(names, W[recipe]):
        d[name] = int(width) * n_params
    d["total"] = sum(d[name] for name in names)
    return d

def to_gb(nbytes):
    return float(Fraction(nbytes) / 10**9)

def to_gib(nbytes):
    return float(Fraction(nbytes) / 2**30)

def share(n_params, stage, world):
    if stage not in {0, 1, 2, 3}:
        raise ValueError(f"no such stage: {stage}")
    divisor = {"optimizer": 1, "grads": 1, "weights": 1}
    for tensor in list(divisor)[:stage]:
        divisor[tensor] = world
    return sum(
        Fraction(width * n_params, divisor[tensor])
        for tensor, width in (("optimizer", 12), ("grads", 2), ("weights", 2))
    )

def zero_bytes_per_gpu(n_params, stage, world):
    return float(share(n_params, stage, world))

def min_gpus(n_params, usable_bytes, stage=3):
    floor = {0: 16, 1: 4, 2: 2, 3: 0}.get(stage, 0) * n_params
    if share(n_params, stage, 1) > usable_bytes and floor >= usable_bytes or stage == 0:
        return 1 if share(n_params, stage, 1) <= usable_bytes else None
    too_few = takewhile(lambda w: share(n_params, stage, w) > usable_bytes, count(1))
    return sum(1 for _ in too_few) + 1

def fits(n_params, recipe, card_mib):
    return Fraction(training_state(n_params, recipe)["total"], card_mib << 20) <= 1

def fsdp_bytes(model, world):
    shard = float(Fraction(4 * model["params"], world))
    names = "weights grads exp_avg exp_avg_sq".split()
    return {**{name: shard for name in names}, "gathered": sum([2, 2, 2, 4]) * model["largest_unit"]}

def activation_bytes(model, tokens, checkpoint):
    width = {"d": model["d"], "f": model["f"]}
    width["kv"] = int(Fraction(model["kv_heads"], model["heads"]) * model["d"])
    layer = 2 * sum(width[name] for name in "d d d d d d kv kv f f f f".split())
    layer += 4 * (1 + 1 + model["heads"])
    at_the_turn = 2 * (width["d"] + width["d"]) + 4 * (1 + 3 * model["vocab"])
    if checkpoint:
        kept = 2 * width["d"] * model["layers"]
        return tokens * (kept + max(at_the_turn, layer - 2 * width["d"]))
    return tokens * (layer * model["layers"] + at_the_turn)

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    usable = (1 - Fraction(headroom)) * card_mib * 2**20
    state = Fraction(16 * model["params"], world) + 10 * model["largest_unit"]
    return max(0, (usable - state) // activation_bytes(model, 1, checkpoint))

# %% numpy-matrix
"""numpy: the recipes are rows of an int64 matrix; bytes come back as numpy integers."""

import numpy as np

NAMES = ["bf16_mixed", "bf16_mixed_fp32grad", "bf16_no_master", "torch_pure_bf16", "torch_autocast"]
WIDTHS = np.array(
    [[2, 2, 4, 4, 4], [2, 4, 4, 4, 4], [2, 2, 4, 4, 0], [2, 2, 2, 2, 0], [4, 4, 4, 4, 0]],
    dtype=np.int64,
)
KEYS = ["weights", "grads", "exp_avg", "exp_avg_sq", "master", "total"]

def training_state(n_params, recipe):
    row = WIDTHS[NAMES.index(recipe)] * np.int64(n_params)  # list.index raises ValueError
    return dict(zip(KEYS, [*row, row.sum()]))

def to_gb(nbytes):
    return np.float64(nbytes) / np.float64(10**9)

def to_gib(nbytes):
    return np.ldexp(np.float64(nbytes), -30)

def zero_bytes_per_gpu(n_params, stage, world):
    sharded = np.arange(3) < _checked(stage)
    tensors = np.array([12, 2, 2], dtype=np.float64) * n_params
    return np.where(sharded, tensors / world, tensors).sum()

def min_gpus(n_params, usable_bytes, stage=3):
    sharded = np.arange(3) < _checked(stage)
    tensors = np.array([12, 2, 2], dtype=np.int64) * n_params
    whole, split = tensors[~sharded].sum(), tensors[sharded].sum()
    worlds = np.arange(1, 20_001, dtype=np.int64)
    # room, not usable_bytes * worlds: the product would overflow int64
    room = np.int64(usable_bytes) - whole
    if room < 0:
        return None
    enough = worlds >= -(-split // room) if room else np.full(worlds.shape, split == 0)
    return worlds[enough][0] if enough.any() else None

def _checked(stage):
    return [0, 1, 2, 3].index(stage)

def fits(n_params, recipe, card_mib):
    return np.less_equal(training_state(n_params, recipe)["total"], np.int64(card_mib) << 20)

def fsdp_bytes(model, world):
    shards = np.full(4, 4 * model["params"] / world)
    gathered = np.array([2, 2, 2, 4]) @ np.full(4, model["largest_unit"])
    return dict(zip([*KEYS[:4], "gathered"], [*shards, gathered]))

def _per_token(model):
    """The bytes of a layer, of its input, and of the head."""
    kv = model["d"] * model["kv_heads"] // model["heads"]
    widths = np.array([model["d"], kv, model["f"], 1, model["heads"], model["vocab"]])
    counts = np.array([
        [6, 2, 4, 0, 0, 0], [0, 0, 0, 2, 1, 0],  # a layer, in bf16 and in fp32
        [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],  # its input
        [2, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 3],  # the head
    ])  # fmt: skip
    return (counts @ widths).reshape(3, 2) @ np.array([2, 4])

def activation_bytes(model, tokens, checkpoint):
    layer, entry, head = _per_token(model)
    kept, again = (entry, layer - entry) if checkpoint else (layer, 0)
    return tokens * (model["layers"] * kept + np.maximum(head, again))

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    usable = np.float64(card_mib) * 2.0**20 * (1 - headroom)
    room = usable - np.sum(list(fsdp_bytes(model, world).values()))
    return np.clip(room / activation_bytes(model, 1, checkpoint), 0, None)

# %% partials-and-lambdas
"""functools.partial, lambdas and closures."""

from functools import partial
from operator import truediv

def _refuse(what):
    raise ValueError(what)

def _divided_by(size):
    return lambda nbytes: truediv(nbytes, size)

def _plan(table, n_params, recipe):
    widths = table.get(recipe) or _refuse(recipe)
    return dict(
        weights=widths[0] * n_params,
        grads=widths[1] * n_params,
        exp_avg=widths[2] * n_params,
        exp_avg_sq=widths[2] * n_params,
        master=widths[3] * n_params,
        total=(widths[0] + widths[1] + 2 * widths[2] + widths[3]) * n_params,
    )

_FLOOR = {0: 16, 1: 4, 2: 2, 3: 0}
_floor = lambda stage: _FLOOR[stage] if stage in _FLOOR else _refuse(stage)  # noqa: E731
_ceil = lambda a, b: (a + b - 1) // b  # noqa: E731

training_state = partial(
    _plan,
    {
        "bf16_mixed": (2, 2, 4, 4),
        "bf16_mixed_fp32grad": (2, 4, 4, 4),
        "bf16_no_master": (2, 2, 4, 0),
        "torch_pure_bf16": (2, 2, 2, 0),
        "torch_autocast": (4, 4, 4, 0),
    },
)
to_gb = _divided_by(1e9)
to_gib = _divided_by(2.0**30)
zero_bytes_per_gpu = lambda n, stage, world: _floor(stage) * n + (16 - _floor(stage)) * n / world  # noqa: E731
min_gpus = lambda n, card, stage=3: (  # noqa: E731
    (1 if 16 * n <= card else None)
    if stage == 0
    else max(1, _ceil((16 - _floor(stage)) * n, card - _floor(stage) * n))
    if card > _floor(stage) * n
    else None
)

fits = lambda n, recipe, mib: training_state(n, recipe)["total"] / 1024 / 1024 <= mib  # noqa: E731

fsdp_bytes = lambda model, world: dict(  # noqa: E731
    {key: 4 * model["params"] / world for key in ("weights", "grads", "exp_avg", "exp_avg_sq")},
    gathered=10 * model["largest_unit"],
)

def _sizes(layers, d, heads, kv_heads, f, vocab, **others):
    layer = 12 * d + 4 * (d // heads * kv_heads) + 8 * f + 8 + 4 * heads
    return layers, layer, 2 * d, 4 * d + 4 + 12 * vocab

def activation_bytes(model, tokens, checkpoint):
    layers, layer, entry, head = _sizes(**model)
    moments = {
        False: lambda: layers * layer + head,
        True: lambda: max(layers * entry + head, (layers - 1) * entry + layer),
    }
    return tokens * moments[checkpoint]()

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    return max(
        0.0,
        ((1 - headroom) * card_mib * 2**20 - sum(fsdp_bytes(model, world).values()))
        // activation_bytes(model, 1, checkpoint),
    )

# %% plain-ifs
"""Plain ifs; GPUs are counted one by one, in whole numbers."""

def training_state(n_params, recipe):
    if recipe == "bf16_mixed":
        w, g, m, v, c = 2, 2, 4, 4, 4
    elif recipe == "bf16_mixed_fp32grad":
        w, g, m, v, c = 2, 4, 4, 4, 4
    elif recipe == "bf16_no_master":
        w, g, m, v, c = 2, 2, 4, 4, 0
    elif recipe == "torch_pure_bf16":
        w, g, m, v, c = 2, 2, 2, 2, 0
    elif recipe == "torch_autocast":
        w, g, m, v, c = 4, 4, 4, 4, 0
    else:
        raise ValueError(recipe)
    return {
        "weights": w * n_params,
        "grads": g * n_params,
        "exp_avg": m * n_params,
        "exp_avg_sq": v * n_params,
        "master": c * n_params,
        "total": (w + g + m + v + c) * n_params,
    }

def to_gb(nbytes):
    return nbytes / 1e9

def to_gib(nbytes):
    return nbytes / 1024 / 1024 / 1024

def zero_bytes_per_gpu(n_params, stage, world):
    if stage == 0:
        return 16 * n_params
    if stage == 1:
        return 4 * n_params + 12 * n_params / world
    if stage == 2:
        return 2 * n_params + 14 * n_params / world
    if stage == 3:
        return 16 * n_params / world
    raise ValueError(stage)

def min_gpus(n_params, usable_bytes, stage=3):
    if stage == 0:
        whole, split = 16, 0
    elif stage == 1:
        whole, split = 4, 12
    elif stage == 2:
        whole, split = 2, 14
    elif stage == 3:
        whole, split = 0, 16
    else:
        raise ValueError(stage)
    world = 1
    while world <= 20000:
        if whole * n_params * world + split * n_params <= usable_bytes * world:
            return world
        world += 1
    return None

def fits(n_params, recipe, card_mib):
    if training_state(n_params, recipe)["total"] > card_mib * 1024 * 1024:
        return False
    return True

def fsdp_bytes(model, world):
    shard = model["params"] * 4 // world  # whole bytes
    return {
        "weights": shard,
        "grads": shard,
        "exp_avg": shard,
        "exp_avg_sq": shard,
        "gathered": 2 * 2 * model["largest_unit"] + (2 + 4) * model["largest_unit"],
    }

def activation_bytes(model, tokens, checkpoint):
    d = model["d"]
    kv = d // model["heads"] * model["kv_heads"]
    layer = 2 * d + 2 * d + 2 * d + 2 * kv + 2 * kv + 2 * d + 2 * d + 2 * d
    layer += 4 * 2 * model["f"]
    layer += 4 + 4 + 4 * model["heads"]
    head = 2 * d + 2 * d + 4 + 3 * 4 * model["vocab"]
    if checkpoint:
        total = model["layers"] * 2 * d
        if head > layer - 2 * d:
            total += head
        else:
            total += layer - 2 * d
    else:
        total = model["layers"] * layer + head
    return tokens * total

def max_tokens(model, world, card_mib, checkpoint, headroom=0.1):
    card = card_mib * 1024 * 1024
    used = sum(fsdp_bytes(model, world).values())
    room = card - card * headroom - used
    if room <= 0:
        return 0
    return room // activation_bytes(model, 1, checkpoint)

# %% calculator-with-flags
# part: 1
"""As memory calculators on the web are written: bytes per parameter chosen by flags."""

DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}

def calc_training_mem(params, low_prec_bytes=2, high_prec_bytes=4, master=True, pure=False):
    optim = low_prec_bytes if pure else high_prec_bytes
    mem = {
        "weights": params * low_prec_bytes,
        "grads": params * low_prec_bytes,
        "exp_avg": params * optim,
        "exp_avg_sq": params * optim,
    }
    if master:
        mem["fp32_params"] = params * high_prec_bytes
    mem["total"] = sum(mem.values())
    return mem

def training_state(n_params, recipe):
    bf16, fp32 = DTYPE_BYTES["bfloat16"], DTYPE_BYTES["float32"]
    if recipe == "bf16_mixed":
        return calc_training_mem(n_params, bf16, fp32)
    if recipe == "torch_pure_bf16":
        return calc_training_mem(n_params, bf16, fp32, master=False, pure=True)
    assert recipe == "torch_autocast", f"unknown recipe {recipe}"
    return calc_training_mem(n_params, fp32, fp32, master=False)

def to_gb(nbytes):
    return nbytes / 1000**3

def to_gib(nbytes):
    return nbytes / 1024**3

def fits(n_params, recipe, card_mib):
    total_gib = to_gib(training_state(n_params, recipe)["total"])
    return total_gib <= card_mib / 1024

# %% from-real-tensors
# part: 1
"""Counts the tensors of a layer instead of knowing the numbers, dtype by dtype, in floats."""

import numpy as np

DTYPES = {"bf16": np.uint16, "fp32": np.float32}  # numpy has no bfloat16; the size is what counts

class Tensor:
    def __init__(self, numel, dtype):
        self.numel, self.dtype = numel, np.dtype(DTYPES[dtype])

    @property
    def nbytes(self):
        return float(self.numel) * self.dtype.itemsize

class AdamW:
    def __init__(self, param, master_weights=False):
        self.state = {"exp_avg": param, "exp_avg_sq": param}
        if master_weights:
            fp32 = Tensor(param.numel, "fp32")
            self.state = {"exp_avg": fp32, "exp_avg_sq": fp32, "fp32_from_bf16": fp32}

def training_state(n_params, recipe):
    param = Tensor(n_params, "fp32" if recipe == "torch_autocast" else "bf16")
    optimizer = AdamW(param, master_weights=recipe == "bf16_mixed")
    tensors = {"weights": param, "grads": param, **optimizer.state}
    sheet = {name: tensor.nbytes for name, tensor in tensors.items()}
    return {**sheet, "total": sum(sheet.values())}

def to_gb(nbytes):
    return nbytes * 1e-9

def to_gib(nbytes):
    return nbytes / 2.0**30

def fits(n_params, recipe, card_mib):
    return bool(training_state(n_params, recipe)["total"] <= card_mib * 1024.0**2)
