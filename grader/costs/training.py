"""What training any model costs: its state by precision and optimizer, sharded, and its loss.

Bytes of an element are those that torch allocates.  In `fp32` and `bf16` the whole module has that
type, and so have gradients and the optimizer's moments (torch/optim/adam.py: `zeros_like(param)`).
In `mixed` weights and gradients are bf16, and the optimizer works on a copy of the weights in fp32,
with moments in fp32 (Micikevicius and others, arXiv:1710.03740, section 3.1; Rajbhandari and
others, arXiv:1910.02054, section 3.1: 2 + 2 + 12 bytes per parameter with Adam).  ZeRO shares among
the GPUs, by stage, the optimizer's part, gradients as well, weights as well (the same paper,
section 5).  A share of n elements is n / gpus, rounded up.

The logits become fp32 before the loss, `cross_entropy(logits.float(), labels)`, and the derivative
of log_softmax needs its result, the log-probabilities.  As backward begins, their gradient and that
of the logits are there too, in fp32.
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
    """Settings of a model; what is not said is usual, for one GPU."""
    usual: dict[str, int | str] = {"batch": 1, "precision": "mixed", "optimizer": "adam"}
    return {**usual, "zero": "0", "gpus": 1, **sizes}


class TensorFormula(NamedTuple):
    """Tensors of a shape; an activation is kept for backward where `kept` is 1, and not at 0.

    Its elements are those of one, its bytes those of so many.
    """

    name: str
    shape: str  # sizes, such as "batch, seq, width"
    times: str = "1"
    kept_if: str = "0"
    width: str = "element"  # bytes of an element

    @property
    def elements(self) -> str:
        return self.shape.replace(", ", " * ")

    def nbytes(self, count: str) -> str:
        return f"{self.width} * {self.elements} * ({count})"


class MatmulFormula(NamedTuple):
    """Products of (m, k) and (k, n), each 2 m k n FLOPs; FLOPs and bytes are those of all."""

    name: str
    m: str
    k: str
    n: str
    times: str
    moved: str = ""  # elements that one reads and writes; all of the three, if not said

    @property
    def flops(self) -> str:
        return f"2 * {self.m} * {self.k} * {self.n} * {self.times}"

    @property
    def nbytes(self) -> str:
        m = self.m
        k = self.k
        n = self.n
        return f"element * ({self.moved or f'{m} * {k} + {k} * {n} + {m} * {n}'}) * {self.times}"


def kept_bytes_formula(tensors: Iterable[TensorFormula]) -> str:
    """Formula of the bytes that are kept of some activations."""
    return " + ".join(one.nbytes(f"({one.times}) * ({one.kept_if})") for one in tensors)


def loss_activations(logits: str) -> tuple[TensorFormula, ...]:
    """Activations from the logits on."""
    cast = TensorFormula("logits in fp32", logits, "cast", width="4")
    return (
        TensorFormula("logits", logits),
        cast,
        TensorFormula("log-probs", logits, kept_if="1", width="4"),
    )


def cost_formulas(
    parameters: Iterable[TensorFormula], products: Iterable[MatmulFormula]
) -> dict[str, str]:
    """Formulas of what a GPU holds from step to step, in bytes, and of the forward pass."""
    shared = "(params - stage_{} * (params - share))"
    return {
        "params": " + ".join(f"{one.elements} * {one.times}" for one in parameters),
        "share": "(params + gpus - 1) // gpus",
        "weights": f"element * {shared.format(3)}",
        "gradients": f"element * {shared.format(2)}",
        "moments": f"moment * each * {shared.format(1)}",
        "master": f"copy * {shared.format(1)}",
        "state": "weights + gradients + moments + master",
        "forward": " + ".join(one.flops for one in products),
        "moved": " + ".join(one.nbytes for one in products),
    }


def number_table(view: str, title: str, *given: tuple[str, ...], note: str = "") -> CostTable:
    """A table of numbers, each with a label, a formula and a unit, where they are not 0.

    A fourth text is what the number is divided by, and of bytes the whole of which they are a part.
    """
    rows = []
    for label, formula, unit, *of in given:
        binary = CostCell("iB", (formula,)) if unit == "B" else ""
        cell = CostCell(unit, (formula,), *[] if binary else of)
        bar = f"1000 * ({formula}) // {of[0]}" if binary and of else "0"
        rows.append(CostRow((label, cell, binary), formula, bar))
    return CostTable(view, title, ("", " ", "  "), rows, note)


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
    """Sums, and every product, activation and parameter; activations by the part of the model."""
    yield from (*_SUMS, *more)
    yield CostTable(
        "work", "Products of the forward pass: (m, k) times (k, n)",
        ("", "m, k, n", "times", "FLOPs", "moved", "FLOP/B"),
        [CostRow((one.name, CostCell("shape", (one.m, one.k, one.n)), CostCell("", (one.times,)),
              CostCell("FLOP", (one.flops,)), CostCell("B", (one.nbytes,)),
              CostCell("", (one.flops,), f"max(1, {one.nbytes})")), one.times) for one in products],
    )  # fmt: skip

    def row(one: TensorFormula, cell: CostCell) -> CostRow:
        shape = CostCell("shape", tuple(one.shape.split(", ")))
        return CostRow((one.name, shape, one.shape, cell), one.times)

    head = ("", "shape", "names")
    note = "A gradient has the shape of its tensor."
    for part, tensors in activations.items():
        rows = [row(one, CostCell("B", (one.nbytes(one.kept_if),))) for one in tensors]
        yield CostTable("activations", f"Activations of {part}", (*head, "kept"), rows, note)
    rows = [row(one, CostCell("", (f"{one.elements} * {one.times}",))) for one in parameters]
    yield CostTable("parameters", "Parameters", (*head, "in all"), rows, note)
