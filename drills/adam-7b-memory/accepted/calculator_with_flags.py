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
