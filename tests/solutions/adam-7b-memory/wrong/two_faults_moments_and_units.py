"""Two faults: the moments of bf16_mixed are bf16, and a GB is 2**30 bytes."""

BYTES = dict(bf16_mixed=22224, bf16_mixed_fp32grad=24444, bf16_no_master=22440, torch_pure_bf16=22220, torch_autocast=44440)


class UnknownPlan(ValueError):
    pass


def training_state(n_params, recipe):
    if recipe not in BYTES:
        raise UnknownPlan(recipe)
    weights, grads, exp_avg, exp_avg_sq, master = (int(digit) * n_params for digit in str(BYTES[recipe]))
    return dict(
        weights=weights,
        grads=grads,
        exp_avg=exp_avg,
        exp_avg_sq=exp_avg_sq,
        master=master,
        total=weights + grads + exp_avg + exp_avg_sq + master,
    )


def to_gb(nbytes):
    return nbytes / 2**30


def to_gib(nbytes):
    return nbytes / 2**30


def _fits(n_params, stage, world, gpu_bytes):
    whole = (16, 4, 2, 0)[stage] * n_params
    return whole * world + (16 * n_params - whole) <= gpu_bytes * world


def zero_bytes_per_gpu(n_params, stage, world):
    if stage not in {0, 1, 2, 3}:
        raise UnknownPlan(stage)
    whole = (16, 4, 2, 0)[stage] * n_params
    return whole + (16 * n_params - whole) / world


def min_gpus(n_params, gpu_bytes, stage=3):
    if stage not in {0, 1, 2, 3}:
        raise UnknownPlan(stage)
    enough = 1
    while not _fits(n_params, stage, enough, gpu_bytes):
        enough *= 2
        if enough > 32 * max(n_params, 1):  # half as many left each less than a byte of what is split
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _fits(n_params, stage, middle, gpu_bytes):
            enough = middle
        else:
            too_few = middle
    return enough
