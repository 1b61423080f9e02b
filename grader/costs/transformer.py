"""The costs of a decoder: every shape, the bytes of training, FLOPs and bytes moved.

The decoder is pre-norm: RMSNorm, attention, RMSNorm, MLP; the results of attention and MLP are
added to the stream.  Queries, keys and values are projected without biases, queries and keys are
rotated by their positions.  Several query heads may share a key-value head.  The MLP is gated,
silu(gate) * up, or plain, gelu(up).  A last RMSNorm and a projection to the vocabulary give logits,
and the loss is their cross-entropy in fp32.  Dropout is left out.

Backward needs the tensors in torch's formulas of derivatives (V. Korthikanti and others,
arXiv:2205.05198, section 4.1, counts a GPT block in this way): a projection needs its input, a norm
its input and one fp32 number per token (the fused kernel), softmax its result, silu and gelu their
input, a product of two tensors both, an addition and a rotation no tensor.  Fused attention needs
its result and one fp32 number per query in place of the softmax (T. Dao and others,
arXiv:2205.14135).

Recomputing `attention` is called selective in the first of these papers: backward computes scores
and softmax again, or runs the fused kernel again.  Recomputing a `layer` keeps only its input;
torch.utils.checkpoint stops before the down projection, because backward does not need its result.

Backward has two products for each product of the forward pass.  Pairs that the causal mask hides
are counted, as torch.utils.flop_counter does; fused attention computes its scores once more in
backward.  Ids, labels, masks, tables of sines and scalars are not counted.
"""

from __future__ import annotations

from grader.costs import training
from grader.costs.formulas import CostModel, Setting
from grader.costs.training import MatmulFormula, TensorFormula

_MATRICES = {  # width of the input, width of the output, number of such matrices
    "query": ("width", "width", "layers"),
    "key": ("width", "kv_width", "layers"),
    "value": ("width", "kv_width", "layers"),
    "output": ("width", "width", "layers"),
    "gate": ("width", "ffn", "layers * gated"),
    "up": ("width", "ffn", "layers"),
    "down": ("ffn", "width", "layers"),
}
_PARAMETERS = (
    TensorFormula("embedding", "vocab, width"),
    *(
        TensorFormula(name, f"{outputs}, {inputs}", times)
        for name, (inputs, outputs, times) in _MATRICES.items()
    ),
    TensorFormula("norms", "width", "(2 * layers + 1)"),
    TensorFormula("head", "vocab, width", "own"),
)
_STREAM = "batch, seq, width"
_EACH = "batch, seq, 1"
_WIDE = "batch, seq, ffn"
_PAIRS = "batch, heads, seq, seq"
_KEYS = "batch, kv_heads, seq, head"
_KEPT = "1 - again"
_CORE = "(1 - again) * (1 - core_again)"  # not kept if attention is recomputed
_LAYER = (
    TensorFormula("stream 1", _STREAM, kept_if="1"),
    TensorFormula("1/rms 1", _EACH, kept_if=_KEPT, width="4"),
    TensorFormula("norm 1", _STREAM, kept_if=_KEPT),
    TensorFormula("queries", "batch, heads, seq, head", kept_if=_KEPT),
    TensorFormula("keys", _KEYS, kept_if=_KEPT),
    TensorFormula("values", _KEYS, kept_if=_KEPT),
    TensorFormula("scores", _PAIRS, "1 - fused"),
    TensorFormula("softmax", _PAIRS, "1 - fused", _CORE),
    TensorFormula("logsumexp", "batch, heads, seq", "fused", _CORE, "4"),
    TensorFormula("attention", _STREAM, kept_if=_KEPT),
    TensorFormula("output", _STREAM),
    TensorFormula("stream 2", _STREAM, kept_if=_KEPT),
    TensorFormula("1/rms 2", _EACH, kept_if=_KEPT, width="4"),
    TensorFormula("norm 2", _STREAM, kept_if=_KEPT),
    TensorFormula("gate", _WIDE, "gated", _KEPT),
    TensorFormula("silu(gate)", _WIDE, "gated", _KEPT),
    TensorFormula("up", _WIDE, kept_if=_KEPT),
    TensorFormula("product", _WIDE, "gated", _KEPT),
    TensorFormula("gelu(up)", _WIDE, "1 - gated", _KEPT),
    TensorFormula("down", _STREAM),
)
_HEAD = (
    TensorFormula("last stream", _STREAM, kept_if="1"),
    TensorFormula("1/rms", _EACH, kept_if="1", width="4"),
    TensorFormula("last norm", _STREAM, kept_if="1"),
    *training.loss_activations("batch, seq, vocab"),
)
_REBUILT = [tensor for tensor in _LAYER if tensor.kept_if in {_KEPT, _CORE}]
_REBUILT_BYTES = " + ".join(
    tensor.nbytes(f"({tensor.times}) * (1 - ({tensor.kept_if}))") for tensor in _REBUILT
)
# The queries that share a key-value head are one factor.  A fused kernel does not move scores.
_GROUPS = "layers * batch * kv_heads"
_SHARED = "groups * seq"
_MOVED = "groups * seq * head + seq * head + (1 - fused) * groups * seq * seq"
_SCORES = MatmulFormula("scores", _SHARED, "head", "seq", _GROUPS, _MOVED)
_AVERAGES = MatmulFormula("averages", _SHARED, "seq", "head", _GROUPS, _MOVED)
_PROJECTIONS = {name: MatmulFormula(name, "tokens", *matrix) for name, matrix in _MATRICES.items()}
_LOGITS = MatmulFormula("head", "tokens", "width", "vocab", "1")
_PRODUCTS = (*_PROJECTIONS.values(), _SCORES, _AVERAGES, _LOGITS)
_COSTS = {
    "head": "width // heads",
    "kv_width": "kv_heads * head",
    "groups": "heads // kv_heads",
    "tokens": "batch * seq",
    **training.cost_formulas(_PARAMETERS, _PRODUCTS),
    "layers_kept": f"layers * ({training.kept_bytes_formula(_LAYER)})",
    "head_kept": training.kept_bytes_formula(_HEAD),
    "kept": "layers_kept + head_kept",
    # While backward rebuilds a layer, the activations of the head are already freed.
    "at_loss": "head_kept + 8 * tokens * vocab",
    "rebuilt": _REBUILT_BYTES,
    "most": "layers_kept + max(at_loss, rebuilt)",
    "together": "state + most",
    "pairs": f"{_SCORES.flops} + {_AVERAGES.flops}",
    "backward": f"2 * forward + fused * {_SCORES.flops}",
    "recomputed": f"again * (forward - {_PROJECTIONS['down'].flops} - {_LOGITS.flops})"
    f" + core_again * ({_SCORES.flops} + fused * {_AVERAGES.flops})",
    "step": "forward + backward + recomputed",
    "matrices": " + ".join(" * ".join(matrix) for matrix in _MATRICES.values())
    + " + vocab * width",
    "kv_token": "2 * layers * kv_width * element",
    "cache": "kv_token * tokens",
    "decoded": "batch * (2 * matrices + 4 * layers * width * seq)",
    "read": "element * matrices + cache",
}


def _preset(**sizes: int | str) -> dict[str, int | str]:
    usual = {"mlp": "gated", "output": "own", "attention": "fused", "recompute": "none"}
    return training.preset_settings(**usual | sizes)


MODEL = CostModel(
    "transformer",
    "A decoder: RMSNorm, attention, RMSNorm, MLP, each added to the stream; rotated positions, no"
    " biases, no dropout; cross-entropy of the logits in fp32.",
    (
        Setting("layers", "of attention and MLP"),
        Setting("width", "of the stream", least=2),
        Setting("heads", "of queries", most=10_000),
        Setting("kv_heads", "of keys and values", most=10_000),
        Setting("mlp", "silu(gate) * up, or gelu(up)",
                {"gated": {"gated": 1}, "plain": {"gated": 0}}),
        Setting("ffn", "width inside the MLP"),
        Setting("vocab", "tokens that there are"),
        Setting("output", "matrix to the logits: its own, or that of the embedding",
                {"own": {"own": 1}, "tied": {"own": 0}}),
        Setting("batch", "sequences of each GPU"),
        Setting("seq", "tokens of a sequence"),
        Setting("attention", "one kernel, or product, softmax, product",
                {"fused": {"fused": 1}, "explicit": {"fused": 0}}),
        Setting("recompute", "in backward: nothing, scores and softmax, whole layers",
                {"none": {"again": 0, "core_again": 0}, "attention": {"again": 0, "core_again": 1},
                 "layer": {"again": 1, "core_again": 0}}),
        *training.SETTINGS,
    ),
    {
        "7b": _preset(layers=32, width=4096, heads=32, kv_heads=32, ffn=11008, vocab=32000,
                      seq=4096),
        "8b": _preset(layers=32, width=4096, heads=32, kv_heads=8, ffn=14336, vocab=128256,
                      seq=8192),
        "70b": _preset(layers=80, width=8192, heads=64, kv_heads=8, ffn=28672, vocab=128256,
                       seq=8192),
        "small-124m": _preset(layers=12, width=768, heads=12, kv_heads=12, ffn=3072, vocab=50257,
                              seq=1024, mlp="plain", output="tied"),
    },
    (
        ("width", "width % 2", "width - 1", "rotation needs an even width"),
        ("heads", "width % (2 * heads)", "divisor(width // 2, heads)",
         "heads split a width of {width} into even parts"),
        ("kv_heads", "heads % kv_heads", "divisor(heads, kv_heads)",
         "each serves as many of {heads} heads"),
    ),
    _COSTS,
    [*training.cost_tables(
        _PARAMETERS, _PRODUCTS, {"each layer": _LAYER, "the head": _HEAD},
        training.number_table(
            "serving", "Serving: a step decodes one token of each sequence",
            ("cache, each token", "kv_token", "B"),
            ("cache, all tokens", "cache", "B"),
            ("work of a step", "decoded", "FLOP"),
            ("read: matrices and cache", "read", "B"),
            ("intensity", "decoded", "FLOP/B", "read"),
        ),
    )],
)  # fmt: skip
