"""The costs of training any model: its state by precision and optimizer, sharded, and its loss.

The bytes of an element are counted as torch allocates them.  In `fp32` and `bf16` the whole module
has that type, and so have gradients and the optimizer's moments (torch/optim/adam.py:
`zeros_like(param)`). In `mixed` weights and gradients are bf16, and the optimizer works on a copy
of the weights in fp32, with moments in fp32 (Micikevicius and others, arXiv:1710.03740, section
3.1; Rajbhandari and others, arXiv:1910.02054, section 3.1: 2 + 2 + 12 bytes per parameter with
Adam).  The stages of ZeRO shard the optimizer's state over the GPUs (1), the gradients too (2), and
the weights too (3) (the same paper, section 5).  A shard of n elements has n / gpus elements,
rounded up.

The logits become fp32 before the loss, `cross_entropy(logits.float(), labels)`, and the derivative
of log_softmax needs its result, the log-probabilities.  When backward starts, the gradients of both
exist too, in fp32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grader.costs.formulas import CostCell, CostRow, CostTable, Setting

SETTINGS = (
    Setting("precision", "of weights and activations; mixed: bf16, and the weights in fp32 besides",
            {"fp32": {"element": 4, "moment": 4, "copy": 0, "cast": 0},
             "bf16": {"element": 2, "moment": 2, "copy": 0, "cast": 1},
             "mixed": {"element": 2, "moment": 4, "copy": 4, "cast": 1}}),
    Setting("optimizer", "keeps for each parameter nothing, a momentum, or two moments",
            {"sgd": {"each": 0}, "momentum": {"each": 1}, "adam": {"each": 2}}),
    Setting("zero", "stage of ZeRO: what the GPUs share of the state",
            {f"{stage}": {f"stage_{n}": int(stage >= n) for n in (1, 2, 3)} for stage in range(4)}),
    Setting("gpus", "that share it, each with a batch of its own"),
)  # fmt: skip


def preset_settings(**sizes: int | str) -> dict[str, int | str]:
    """Return the settings of a preset: those given, and defaults for the settings of training.

    The defaults are batch 1, mixed precision, Adam, no ZeRO and one GPU.
    """
    usual: dict[str, int | str] = {"batch": 1, "precision": "mixed", "optimizer": "adam"}
    return {**usual, "zero": "0", "gpus": 1, **sizes}


class TensorFormula(NamedTuple):
    """Tensors of one shape, in formulas; `kept_if` gives 1 if backward needs them, else 0."""

    name: str
    shape: str  # sizes, such as "batch, seq, width"
    times: str = "1"  # number of tensors
    kept_if: str = "0"
    width: str = "element"  # bytes of an element

    @property
    def elements(self) -> str:
        """Formula for the number of elements of one tensor."""
        return self.shape.replace(", ", " * ")

    def nbytes(self, count: str) -> str:
        return f"{self.width} * {self.elements} * ({count})"


class MatmulFormula(NamedTuple):
    """Products of matrices (m, k) and (k, n), in formulas: `times` of them.

    `flops` is the formula for the FLOPs of all products together, 2 m k n for each.  `nbytes` is
    the formula for the bytes that all of them read and write.
    """

    name: str
    m: str
    k: str
    n: str
    times: str
    moved: str = ""  # elements that one product reads and writes (default: of all three matrices)

    @property
    def flops(self) -> str:
        return f"2 * {self.m} * {self.k} * {self.n} * {self.times}"

    @property
    def nbytes(self) -> str:
        m = self.m
        k = self.k
        n = self.n
        moved = self.moved or f"{m} * {k} + {k} * {n} + {m} * {n}"
        return f"element * ({moved}) * {self.times}"


def kept_bytes_formula(tensors: Iterable[TensorFormula]) -> str:
    """Return the formula for the bytes of the activations that are kept for backward."""
    return " + ".join(tensor.nbytes(f"({tensor.times}) * ({tensor.kept_if})") for tensor in tensors)


def loss_activations(logits: str) -> tuple[TensorFormula, ...]:
    """Return the activations from logits of a shape, such as "batch, outputs", to the loss."""
    return (
        TensorFormula("logits", logits),
        TensorFormula("logits in fp32", logits, "cast", width="4"),
        TensorFormula("log-probs", logits, kept_if="1", width="4"),
    )


def cost_formulas(
    parameters: Iterable[TensorFormula], products: Iterable[MatmulFormula]
) -> dict[str, str]:
    """Return formulas, by name, for the state of a GPU and for the forward pass.

    The state is in bytes: weights, gradients, moments of the optimizer, fp32 copy of the weights.
    The forward pass has FLOPs (`forward`) and the bytes that its products read and write (`moved`).
    """
    sharded = "(params - stage_{} * (params - share))"  # from this stage of ZeRO on
    return {
        "params": " + ".join(f"{tensor.elements} * {tensor.times}" for tensor in parameters),
        "share": "(params + gpus - 1) // gpus",
        "weights": f"element * {sharded.format(3)}",
        "gradients": f"element * {sharded.format(2)}",
        "moments": f"moment * each * {sharded.format(1)}",
        "master": f"copy * {sharded.format(1)}",
        "state": "weights + gradients + moments + master",
        "forward": " + ".join(product.flops for product in products),
        "moved": " + ".join(product.nbytes for product in products),
    }


def number_table(view: str, title: str, *rows: tuple[str, ...], note: str = "") -> CostTable:
    """Return a table of numbers; each row is a label, a formula, a unit and maybe a divisor.

    The divisor of a number of bytes is the total that its bar is a part of.  A row is hidden if its
    number is 0.
    """
    return CostTable(view, title, ("", " ", "  "), [_number_row(*row) for row in rows], note)


def _number_row(label: str, formula: str, unit: str, divisor: str = "") -> CostRow:
    if unit != "B":
        return CostRow((label, CostCell(unit, (formula,), divisor or "1"), ""), formula)
    bar = f"1000 * ({formula}) // {divisor}" if divisor else "0"
    cells = (label, CostCell("B", (formula,)), CostCell("iB", (formula,)))
    return CostRow(cells, formula, bar)


_SUMS = (
    number_table(
        "", "In short",
        ("parameters", "params", ""),
        ("memory of each GPU", "together", "B"),
        ("work of a step", "step", "FLOP"),
        ("activations equal the state at a batch of", "batch * state", "", "kept"),
    ),
    number_table(
        "memory", "Memory of each GPU",
        ("weights", "weights", "B", "together"),
        ("gradients", "gradients", "B", "together"),
        ("moments of the optimizer", "moments", "B", "together"),
        ("fp32 copy of the weights", "master", "B", "together"),
        ("activations, layers", "layers_kept", "B", "together"),
        ("activations, head and loss", "head_kept", "B", "together"),
        ("besides, at the peak", "most - kept", "B", "together"),
        ("together", "together", "B"),
        note="The peak is at the loss, with two gradients of the logits in fp32, or where a layer"
        " is rebuilt. Other gradients of activations, a few at a time, are left out, as is what an"
        " allocator and ZeRO's gathering take. All is added up, as a plan does: gradients of"
        " weights come as activations go. 1 GB is 10^9 bytes, 1 GiB 2^30.",
    ),
    number_table(
        "memory", "Activations against state",
        ("state, the first four", "state", "B"),
        ("activations that are kept", "kept", "B"),
        ("equal at a batch of", "batch * state", "", "kept"),
        ("equal at tokens", "tokens * state", "", "kept"),
    ),
    number_table(
        "work", "Work of a step",
        ("forward", "forward", "FLOP"),
        ("of it attention, all pairs", "pairs", "FLOP"),
        ("backward", "backward", "FLOP"),
        ("recomputed in backward", "recomputed", "FLOP"),
        ("step", "step", "FLOP"),
        ("step, in forward passes", "step", "", "forward"),
        ("forward products move", "moved", "B"),
        ("intensity", "forward", "FLOP/B", "moved"),
        note="A multiplication with its addition is 2 FLOP. Products read their factors and write"
        " their results once. A card of 989 TFLOP/s and 3.35 TB/s does 295 FLOP in the time of a"
        " byte.",
    ),
)  # fmt: skip


def cost_tables(
    parameters: Iterable[TensorFormula],
    products: Iterable[MatmulFormula],
    activations: Mapping[str, Iterable[TensorFormula]],
    *more: CostTable,
) -> Iterator[CostTable]:
    """Yield all tables of a model, also those in `more`.

    They show sums, products of matrices, activations by part of the model, and parameters.
    """
    yield from (*_SUMS, *more)
    yield CostTable(
        view="work",
        title="Products of the forward pass: (m, k) times (k, n)",
        head=("", "m, k, n", "times", "FLOPs", "moved", "FLOP/B"),
        rows=[_product_row(product) for product in products],
    )
    note = "A gradient has the shape of its tensor."
    for part, tensors in activations.items():
        yield CostTable(
            view="activations",
            title=f"Activations of {part}",
            head=("", "shape", "names", "kept"),
            rows=[_tensor_row(t, CostCell("B", (t.nbytes(t.kept_if),))) for t in tensors],
            note=note,
        )
    yield CostTable(
        view="parameters",
        title="Parameters",
        head=("", "shape", "names", "in all"),
        rows=[_tensor_row(t, CostCell("", (f"{t.elements} * {t.times}",))) for t in parameters],
        note=note,
    )


def _product_row(product: MatmulFormula) -> CostRow:
    cells = (
        product.name,
        CostCell("shape", (product.m, product.k, product.n)),
        CostCell("", (product.times,)),
        CostCell("FLOP", (product.flops,)),
        CostCell("B", (product.nbytes,)),
        CostCell("", (product.flops,), f"max(1, {product.nbytes})"),
    )
    return CostRow(cells, product.times)


def _tensor_row(tensor: TensorFormula, cell: CostCell) -> CostRow:
    shape = CostCell("shape", tuple(tensor.shape.split(", ")))
    return CostRow((tensor.name, shape, tensor.shape, cell), tensor.times)
