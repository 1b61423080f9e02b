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
