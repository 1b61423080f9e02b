"""Where questions of the bank ask for the same numbers, their references give what is shown here.

A reference has to stand alone, because it runs in a worker: so equality is a test.
"""

from __future__ import annotations

from typing import Any

from grader import bank
from grader.costs.formulas import CostCell, Values, evaluate_formula
from grader.costs.transformer import MODEL
from tests.harness import ROOT, Program, each, load_text

LLAMA_2 = dict(MODEL.presets["7b"])
LLAMA_3 = dict(MODEL.presets["8b"])
SEVENTY = dict(MODEL.presets["70b"])


def reference(question: str) -> Program:
    return load_text(bank.load([ROOT], question).reference)


def values(given: dict[str, int | str], **changed: int | str) -> Values:
    return MODEL.formula_values({**given, **changed})


def product(name: str, known: Values) -> tuple[int, int]:
    """FLOPs and bytes of all products of a name."""
    (row,) = [row for one in MODEL.tables if one.title.startswith("Products")
              for row in one.rows if row.cells[0] == name]  # fmt: skip
    flops, moved = (row.cells[at] for at in (3, 4))
    assert isinstance(flops, CostCell)
    assert isinstance(moved, CostCell)
    return evaluate_formula(flops.formulas[0], known), evaluate_formula(moved.formulas[0], known)


@each(
    ("recipe", "precision"),
    [("bf16_mixed", "mixed"), ("torch_pure_bf16", "bf16"), ("torch_autocast", "fp32")],
)
def test_state_is_that_of_the_planning_sheet(recipe: str, precision: str) -> None:
    known = values(LLAMA_2, precision=precision)
    plan = reference("adam-7b-memory").training_state(known["params"], recipe)
    assert known["weights"] == plan["weights"]
    assert known["gradients"] == plan["grads"]
    assert known["moments"] == plan["exp_avg"] + plan["exp_avg_sq"]
    assert known["master"] == plan["master"]
    assert known["state"] == plan["total"]


@each("stage", range(4))
@each("gpus", [1, 64, 5])
def test_a_stage_of_zero_leaves_the_same_share(stage: int, gpus: int) -> None:
    known = values(LLAMA_2, zero=str(stage), gpus=gpus)
    share = reference("adam-7b-memory").zero_bytes_per_gpu(known["params"], stage, gpus)
    over = known["state"] - share
    assert 0 <= over <= 16  # a share of elements is rounded up
    assert not over or known["params"] % gpus


@each("given", [LLAMA_2, LLAMA_3])
@each("recompute", ["none", "layer"])
def test_most_activations_at_once_are_those_of_the_plan(
    given: dict[str, int | str], recompute: str
) -> None:
    known = values(given, recompute=recompute)
    sizes = {
        "layers": known["layers"], "d": known["width"], "heads": known["heads"],
        "kv_heads": known["kv_heads"], "f": known["ffn"], "vocab": known["vocab"],
    }  # fmt: skip
    plan = reference("adam-7b-memory").activation_bytes(
        sizes, known["tokens"], recompute == "layer"
    )
    assert known["most"] == plan


def test_the_ledger_of_a_block_is_that_of_seventy_billion() -> None:
    ledger, known = reference("roofline-and-ledger"), values(SEVENTY)
    sizes = [known[name] for name in ("width", "heads", "kv_heads", "head", "ffn")]
    asked = ledger.ledger(known["layers"], *sizes, known["tokens"])
    # The question leaves out what is fp32: a number per norm, and one per head.
    fp32 = 4 * (2 + known["heads"]) * known["tokens"] * known["layers"]
    assert known["layers_kept"] - fp32 == asked["saved"]
    assert values(SEVENTY, recompute="layer")["layers_kept"] == asked["residual"]
    explicit = values(SEVENTY, attention="explicit")["layers_kept"]
    numbers = 4 * known["heads"] * known["tokens"] * known["layers"]
    assert explicit - (known["layers_kept"] - numbers) == asked["stored"]
    assert known["state"] == ledger.per_parameter() * known["params"]
    block = known["params"] - 2 * known["vocab"] * known["width"]
    norms = (2 * known["layers"] + 1) * known["width"]
    assert block - norms == known["layers"] * ledger.block(known["width"])


def test_a_product_has_the_work_and_traffic_of_the_roofline() -> None:
    ledger, known = reference("roofline-and-ledger"), values(SEVENTY)
    sizes = known["tokens"], known["width"], known["ffn"]
    flops, moved = (one // known["layers"] for one in product("gate", known))
    assert (flops, moved) == (ledger.work(*sizes), ledger.traffic(*sizes))


def test_serving_costs_what_the_question_about_decoding_says() -> None:
    program: Any = reference("decode-on-paper")
    assert program.KV == 1  # its cache is in fp8
    program = load_text(bank.load([ROOT], "decode-on-paper").reference, "KV = 2")
    known = values(LLAMA_3, width=5120, layers=48, heads=40, seq=12000, batch=24)
    sizes = [known[name] for name in ("layers", "heads", "kv_heads", "head", "seq", "batch")]
    assert program.cache(*sizes) == {"kv_token": known["kv_token"], "kv_total": known["cache"]}
    asked = program.decode(*sizes, known["matrices"])
    assert known["decoded"] / known["read"] == asked["decode_intensity"]
    assert known["read"] == program.traffic(known["cache"], known["matrices"], known["batch"])
    layers, heads, _, head, seq, _ = sizes
    each_prompt = known["pairs"] // known["batch"]  # hidden pairs counted
    assert each_prompt == program.attention(layers, heads, head, seq * seq)
