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
