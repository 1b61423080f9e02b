"""The references of questions give the same numbers as `grader.costs`.

A reference runs in a worker and cannot import the formulas, so a test compares them.
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
    return load_text(bank.load_question([ROOT], question).reference)


def values(settings: dict[str, int | str], **changed: int | str) -> Values:
    return MODEL.formula_values({**settings, **changed})


def product(name: str, costs: Values) -> tuple[int, int]:
    """Return FLOPs and bytes of all products of this name."""
    (row,) = [row for table in MODEL.tables if table.title.startswith("Products")
              for row in table.rows if row.cells[0] == name]  # fmt: skip
    flops, moved = (row.cells[column] for column in (3, 4))
    assert isinstance(flops, CostCell)
    assert isinstance(moved, CostCell)
    return evaluate_formula(flops.formulas[0], costs), evaluate_formula(moved.formulas[0], costs)


@each(
    ("recipe", "precision"),
    [("bf16_mixed", "mixed"), ("torch_pure_bf16", "bf16"), ("torch_autocast", "fp32")],
)
def test_the_state_equals_that_of_the_planning_sheet(recipe: str, precision: str) -> None:
    costs = values(LLAMA_2, precision=precision)
    plan = reference("adam-7b-memory").training_state(costs["params"], recipe)
    assert costs["weights"] == plan["weights"]
    assert costs["gradients"] == plan["grads"]
    assert costs["moments"] == plan["exp_avg"] + plan["exp_avg_sq"]
    assert costs["master"] == plan["master"]
    assert costs["state"] == plan["total"]


@each("stage", range(4))
@each("gpus", [1, 64, 5])
def test_a_stage_of_zero_leaves_the_same_share(stage: int, gpus: int) -> None:
    costs = values(LLAMA_2, zero=str(stage), gpus=gpus)
    share = reference("adam-7b-memory").zero_bytes_per_gpu(costs["params"], stage, gpus)
    excess = costs["state"] - share
    assert 0 <= excess <= 16  # a share of elements is rounded up
    assert not excess or costs["params"] % gpus


@each("settings", [LLAMA_2, LLAMA_3])
@each("recompute", ["none", "layer"])
def test_the_peak_of_activations_equals_that_of_the_plan(
    settings: dict[str, int | str], recompute: str
) -> None:
    costs = values(settings, recompute=recompute)
    sizes = {
        "layers": costs["layers"], "d": costs["width"], "heads": costs["heads"],
        "kv_heads": costs["kv_heads"], "f": costs["ffn"], "vocab": costs["vocab"],
    }  # fmt: skip
    plan = reference("adam-7b-memory").activation_bytes(
        sizes, costs["tokens"], recompute == "layer"
    )
    assert costs["most"] == plan


def test_the_ledger_of_a_block_equals_that_of_seventy_billion() -> None:
    ledger, costs = reference("roofline-and-ledger"), values(SEVENTY)
    sizes = [costs[name] for name in ("width", "heads", "kv_heads", "head", "ffn")]
    expected = ledger.ledger(costs["layers"], *sizes, costs["tokens"])
    # The question leaves out what is fp32: a number per norm, and one per head.
    fp32 = 4 * (2 + costs["heads"]) * costs["tokens"] * costs["layers"]
    assert costs["layers_kept"] - fp32 == expected["saved"]
    assert values(SEVENTY, recompute="layer")["layers_kept"] == expected["residual"]
    explicit = values(SEVENTY, attention="explicit")["layers_kept"]
    numbers = 4 * costs["heads"] * costs["tokens"] * costs["layers"]
    assert explicit - (costs["layers_kept"] - numbers) == expected["stored"]
    assert costs["state"] == ledger.per_parameter() * costs["params"]
    block = costs["params"] - 2 * costs["vocab"] * costs["width"]
    norms = (2 * costs["layers"] + 1) * costs["width"]
    assert block - norms == costs["layers"] * ledger.block(costs["width"])


def test_a_product_has_the_work_and_traffic_of_the_roofline() -> None:
    ledger, costs = reference("roofline-and-ledger"), values(SEVENTY)
    sizes = costs["tokens"], costs["width"], costs["ffn"]
    flops, moved = (amount // costs["layers"] for amount in product("gate", costs))
    assert (flops, moved) == (ledger.work(*sizes), ledger.traffic(*sizes))


def test_serving_costs_what_the_question_about_decoding_says() -> None:
    program: Any = reference("decode-on-paper")
    assert program.KV == 1  # its cache is in fp8
    program = load_text(bank.load_question([ROOT], "decode-on-paper").reference, "KV = 2")
    costs = values(LLAMA_3, width=5120, layers=48, heads=40, seq=12000, batch=24)
    sizes = [costs[name] for name in ("layers", "heads", "kv_heads", "head", "seq", "batch")]
    assert program.cache(*sizes) == {"kv_token": costs["kv_token"], "kv_total": costs["cache"]}
    expected = program.decode(*sizes, costs["matrices"])
    assert costs["decoded"] / costs["read"] == expected["decode_intensity"]
    assert costs["read"] == program.traffic(costs["cache"], costs["matrices"], costs["batch"])
    layers, heads, _, head, seq, _ = sizes
    each_prompt = costs["pairs"] // costs["batch"]  # hidden pairs counted
    assert each_prompt == program.attention(layers, heads, head, seq * seq)
