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


def min_gpus(n_params, gpu_bytes, stage=3):
    whole, split = _terms(n_params, stage)
    if whole + split <= gpu_bytes:
        return 1
    if whole >= gpu_bytes or stage == 0:
        return None
    quotient = EXACT.divide(split, gpu_bytes - whole)
    return int(quotient.to_integral_value(rounding=ROUND_CEILING))
